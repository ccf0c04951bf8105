"""Drawn conversations are valid: without that the other properties would prove nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memctx

from . import oracle, strategies, transcripts
from .rendering import Rendering
from .script import SHAPES

if TYPE_CHECKING:
    from pathlib import Path

    from .script import Script, Shape


@settings(max_examples=50)
@given(script=strategies.scripts())
def test_drawn_conversations_are_valid(script: Script) -> None:
    """In every shape, by our rules and by their reference."""
    for shape in SHAPES:
        messages = Rendering(script, shape).whole()
        assert messages
        json.dumps(messages)
        assert oracle.fault(messages, shape) is None
        assert memctx.validate(messages, shape) == []


@settings(max_examples=100)
@given(
    script=strategies.scripts(most=3),
    places=st.lists(st.integers(0, 99), min_size=1, max_size=3),
    shape=st.sampled_from(SHAPES),
)
def test_rules_and_reference_agree_on_broken_messages(
    script: Script, places: list[int], shape: Shape
) -> None:
    """Messages are taken out at random, which breaks most conversations."""
    messages = Rendering(script, shape).whole()
    for place in places:
        if len(messages) > 1:
            del messages[place % len(messages)]
    assert bool(memctx.validate(messages, shape)) == (oracle.fault(messages, shape) is not None)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", transcripts.NAMES)
def test_sessions_are_valid_at_every_call(data: Path, name: str, shape: Shape) -> None:
    for messages in Rendering(transcripts.load(data, name), shape).turns(stride=60):
        assert oracle.fault(messages, shape) is None
        assert memctx.validate(messages, shape) == []

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
from .script import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from .script import FormatName, Script


@settings(max_examples=50)
@given(script=strategies.scripts())
@pytest.mark.slow
def test_drawn_conversations_are_valid(script: Script) -> None:
    """In every format, by our rules and by their reference."""
    for message_format in FORMATS:
        messages = Rendering(script, message_format).whole()
        assert messages
        json.dumps(messages)
        assert oracle.fault(messages, message_format) is None
        assert memctx.validate(messages, message_format) == []


@settings(max_examples=100)
@given(
    script=strategies.scripts(most=3),
    places=st.lists(st.integers(0, 99), min_size=1, max_size=3),
    format=st.sampled_from(FORMATS),
)
@pytest.mark.slow
def test_rules_and_reference_agree_on_broken_messages(
    script: Script, places: list[int], format: FormatName
) -> None:
    """Messages are taken out at random, which breaks most conversations."""
    messages = Rendering(script, format).whole()
    for place in places:
        if len(messages) > 1:
            del messages[place % len(messages)]
    assert bool(memctx.validate(messages, format)) == (oracle.fault(messages, format) is not None)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", transcripts.NAMES)
def test_sessions_are_valid_at_every_call(data: Path, name: str, format: FormatName) -> None:
    for messages in Rendering(transcripts.load(data, name), format).turns(stride=60):
        assert oracle.fault(messages, format) is None
        assert memctx.validate(messages, format) == []

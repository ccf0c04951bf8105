"""What is drawn is what the providers take: without that the other properties would prove nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

import memctx

from . import strategies, transcripts
from .rendering import Rendering
from .script import SHAPES

if TYPE_CHECKING:
    from .script import Script, Shape


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40)
@given(script=strategies.scripts())
def test_drawn_conversations_are_valid(shape: Shape, script: Script) -> None:
    messages = Rendering(script, shape).whole()
    assert messages
    json.dumps(messages)
    assert memctx.validate(messages, shape) == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", transcripts.NAMES)
def test_real_sessions_are_valid_at_every_call(name: str, shape: Shape) -> None:
    if reason := transcripts.missing(name):
        pytest.skip(reason)
    for messages in Rendering(transcripts.load(name), shape).turns(stride=25):
        assert memctx.validate(messages, shape) == []

"""Sessions lose nothing on the way into a format, and keep the order that providers ask for."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from . import transcripts
from .rendering import Rendering
from .script import FORMATS, Assistant, Results, Shell, Summary, User

if TYPE_CHECKING:
    from pathlib import Path

    from .script import FormatName


@pytest.mark.parametrize("name", transcripts.NAMES)
def test_every_call_is_answered_at_once(data: Path, name: str) -> None:
    script = transcripts.load(data, name)
    assert len(script) > 20
    for step, following in zip(script, [*script[1:], None], strict=True):
        if isinstance(step, Assistant) and step.calls and not step.is_aborted:
            assert isinstance(following, Results)
            assert {call.id for call in step.calls} == {result.id for result in following.results}
        if isinstance(following, Results):
            assert isinstance(step, Assistant)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["pi:large-session", f"swe:{transcripts.SWE[0]}"])
def test_a_rendering_holds_everything_that_was_said(
    data: Path, name: str, format: FormatName
) -> None:
    script = transcripts.load(data, name)
    whole = json.dumps(Rendering(script, format).whole(), ensure_ascii=False)
    for step in script:
        said: tuple[str, ...] = ()
        if isinstance(step, User | Assistant):
            said = step.texts
        elif isinstance(step, Results):
            said = tuple(result.text for result in step.results)
        elif isinstance(step, Shell):
            said = (step.output.rstrip(),)
        elif isinstance(step, Summary) or format in {"openai", "responses"}:
            said = (step.text,)  # of a system prompt, which other formats keep elsewhere
        for text in said:
            assert not text.strip() or json.dumps(text, ensure_ascii=False)[1:-1] in whole


@pytest.mark.parametrize("format", FORMATS)
def test_turns_grow_and_share_their_messages(data: Path, format: FormatName) -> None:
    rendering = Rendering(transcripts.load(data, "pi:large-session"), format)
    turns = list(rendering.turns(stride=10))
    assert len(turns) > 30
    before: list[dict[str, object]] = []
    for messages in turns:
        assert messages[0]["role"] == "user"
        last = messages[-1]
        assert last.get("role", "tool") in {"user", "tool", "toolResult", "bashExecution"}
        shared = sum(a is b for a, b in zip(before, messages, strict=False))
        assert shared >= len(before) - 1  # only the newest may have been joined with what came next
        before = messages


@pytest.mark.parametrize("format", ["bedrock", "gemini"])
def test_roles_alternate_where_they_must(data: Path, format: FormatName) -> None:
    script = transcripts.load(data, "pi:before-compaction")
    for messages in Rendering(script, format).turns(stride=40):
        roles = [message["role"] for message in messages]
        assert roles[0] == "user"
        assert all(a != b for a, b in pairwise(roles))


def test_a_compacted_session_starts_with_its_summary(data: Path) -> None:
    first, *later = transcripts.compacted(data, "before-compaction")
    assert not any(isinstance(step, Summary) for step in first)
    assert len(later) == 2
    assert all(isinstance(script[0], Summary) for script in later)


def test_every_needle_lies_in_its_session(data: Path) -> None:
    for session in transcripts.PI:
        script = transcripts.load(data, f"needles:{session}")
        whole = json.dumps(Rendering(script, "anthropic").whole(), ensure_ascii=False)
        found = transcripts.needles(data, session)
        assert len({needle.id for needle in found}) == 40
        for needle in found:
            assert json.dumps(needle.fact, ensure_ascii=False)[1:-1] in whole, needle

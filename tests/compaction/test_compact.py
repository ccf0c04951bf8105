"""Compaction in every format."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest

import memctx
from compaction.summary.models import Scripted
from context.rendering import Rendering
from context.script import FORMATS, User
from memctx import _core
from memctx.hosts.pi.context import format_summary

from .talks import ASK, PORT, compacted, opened, talk

if TYPE_CHECKING:
    from pathlib import Path

    from context.script import FormatName


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("system", [False, True])
def test_a_summary_replaces_all_but_the_newest_messages(
    tmp_path: Path, format: FormatName, *, system: bool
) -> None:
    messages = talk(format, system=system)
    before = copy.deepcopy(messages)
    with opened(tmp_path) as memory:
        result = compacted(memory, messages, format=format)
        assert result.did_compact, result.skipped
        assert messages == before, "the caller's messages were changed"
        assert memctx.validate(result.messages, format) == []
        kept = messages[result.first_kept :]
        assert [id(each) for each in result.messages[-len(kept) :]] == [id(each) for each in kept]
        assert result.tokens_after is not None
        assert result.tokens_after < result.tokens_before
        assert "<chunk>" in json.dumps(result.messages[result.summary_index or 0])
        assert result.fallback_level == "full"
        assert result.files.read[:1] == ("src/file0.py",)
        assert result.files.modified[:1] == ("src/file1.py",)
        assert [failure.tool for failure in result.failures][:1] == ["read"]


@pytest.mark.parametrize("format", FORMATS)
def test_compacted_messages_are_recalled_on_the_next_turn(
    tmp_path: Path, format: FormatName
) -> None:
    messages = talk(format)
    with opened(tmp_path, recall={"min_score": 0.0}, context_window=8_000) as memory:
        result = compacted(memory, messages, format=format)
        assert PORT not in json.dumps(result.messages)
        hits = memory.search("which port has the payment webhook?", limit=1)
        assert PORT in hits[0].segment.content
        question = Rendering(
            (User(("Which port does the payment webhook listen on?",)),), format
        ).whole()
        turn = memory.prepare([*result.messages[:-1], *question], format=format)
        assert not turn.report.errors
        assert memctx.validate(turn.messages, format) == []
        assert PORT in json.dumps(turn.messages), "what left is not recalled"


@pytest.mark.parametrize("format", FORMATS)
def test_a_second_compaction_in_a_row_is_skipped(tmp_path: Path, format: FormatName) -> None:
    model = Scripted()
    with opened(tmp_path, model) as memory:
        first = compacted(memory, talk(format), format=format)
        asked = len(model.requests)
        for reason in ("manual", "threshold"):
            again = compacted(memory, first.messages, format=format, reason=reason)
            assert again.skipped is not None
            assert "nothing but the last summary" in again.skipped or "are recent" in again.skipped
            assert [id(each) for each in again.messages] == [id(each) for each in first.messages]
        assert len(model.requests) == asked
        assert memory.counters.compaction_count == 1
        # One that is urgent keeps less and less, until there is nothing more to give.
        urgent = first
        for _ in range(10):
            urgent = compacted(memory, urgent.messages, format=format, reason="overflow")
            if not urgent.did_compact:
                break
        assert urgent.skipped is not None


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("system", [False, True])
def test_the_previous_summary_is_updated(
    tmp_path: Path, format: FormatName, *, system: bool
) -> None:
    model = Scripted()
    with opened(tmp_path, model) as memory:
        first = compacted(memory, talk(format, system=system), format=format)
        grown = [
            *first.messages,
            *talk(format, turns=5)[1 if format in {"gemini", "bedrock"} else 0 :],
        ]
        model.requests.clear()
        second = compacted(memory, grown, format=format)
        assert second.did_compact, second.skipped
        assert memctx.validate(second.messages, format) == []
        assert model.requests[0].previous_summary == "<chunk>"
        assert "<chunk>" not in model.requests[0].conversation_text
        assert "[memctx]" not in model.requests[0].conversation_text
        assert not memory.search(
            "Turn Context compacted summary",
            filter=_core.SearchFilter(roles=["user"]),
            min_score=0.9,
        )
        indices = _core.MessageReader().read(second.messages, format).summaries
        if system and format in {"openai", "responses", "pi"}:
            assert indices == [second.summary_index], "the turn does not know the summary"
        assert second.files.modified == first.files.modified or "src/file1.py" in second.summary


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("system", [False, True])
def test_the_summary_outlasts_the_trims_of_later_turns(
    tmp_path: Path, format: FormatName, *, system: bool
) -> None:
    with opened(tmp_path, trim={"protected_recent": 2, "reply_reserve_tokens": 500}) as memory:
        result = compacted(memory, talk(format, system=system), format=format)
        more = talk(format, turns=14)[1 if format in {"gemini", "bedrock"} else 0 :]
        turn = memory.prepare([*result.messages, *more], format=format)
        assert not turn.report.errors
        assert turn.report.trimmed, "there was room for all"
        said = json.dumps(turn.messages)
        words = result.summary if format == "pi" else format_summary(result.summary)
        assert json.dumps(words)[1:-1] in said


def test_the_latest_ask_is_preserved_verbatim(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        kept = compacted(memory, talk())
        assert "<latest-ask>" not in kept.summary, "it stands in the messages that stay"
        assert ASK in json.dumps(kept.messages)

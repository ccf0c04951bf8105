"""The test doubles that users get, against the memory they are for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import memctx
from memctx.compaction import run_with_recovery_sync
from memctx.errors import ExtractionError, SummaryError
from memctx.protocols import CandidateFact, Request, SummaryRequest
from memctx.testing import (
    FakeModel,
    RequestRefusedError,
    ScriptedExtractor,
    ScriptedSummarizer,
    assistant,
    tool_exchange,
    user,
)

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.messages import FormatName

FORMATS: list[FormatName] = ["openai", "responses", "anthropic", "gemini", "bedrock", "pi"]


@pytest.mark.parametrize("format", FORMATS)
def test_built_messages_are_valid_and_detected(format: FormatName) -> None:
    messages = [
        user("Which port?", format),
        *tool_exchange("read", {"path": "web.toml"}, "port = 8443", format=format),
        assistant("8443", format),
        user("Thanks.", format),
    ]
    assert memctx.validate(messages, format) == []
    assert FakeModel("Welcome.", format=format)(messages) == "Welcome."


@pytest.mark.parametrize("format", FORMATS)
def test_fake_model_refuses_a_result_without_its_call(format: FormatName) -> None:
    _, result = tool_exchange("read", {}, "port = 8443", format=format)
    model = FakeModel("8443", format=format)
    with pytest.raises(RequestRefusedError, match="orphan-result"):
        model([user("Which port?", format), result])
    assert len(model.requests) == 1


def test_unknown_formats_are_named() -> None:
    with pytest.raises(memctx.ConfigError, match="format is 'smoke'; expected 'openai'"):
        user("Hello", "smoke")  # type: ignore[arg-type]


def test_fake_model_overflow_is_recovered_by_a_compaction(tmp_path: Path) -> None:
    messages = [
        message
        for number in range(8)
        for message in (user(f"Question {number} " * 100), assistant(f"Answer {number} " * 100))
    ]
    model = FakeModel("done", window=2_000)
    summarizer = ScriptedSummarizer("Eight questions were answered.")
    with memctx.open(
        tmp_path, session_id="s1", context_window=2_000, summarizer=summarizer
    ) as memory:
        recovered = run_with_recovery_sync(model, messages, memory)
    assert recovered.answer == "done"
    assert len(model.requests) == 2
    assert summarizer.requests


def test_scripted_facts_reach_the_memory(tmp_path: Path) -> None:
    extractor = ScriptedExtractor([CandidateFact("config", "The webhook listens on port 8443")])
    with memctx.open(tmp_path, session_id="s1", extractor=extractor) as memory:
        memory.archive([user(f"The webhook listens on port 8443, remark {n}") for n in range(6)])
        assert memory.wait_for_facts().result(timeout=30).is_complete
        found = [hit.fact.content for hit in memory.facts.search("webhook port")]
    assert found == ["The webhook listens on port 8443"]
    assert extractor.requests


def test_scripted_errors_are_raised_in_their_order() -> None:
    extractor = ScriptedExtractor(ExtractionError("busy"), [])
    with pytest.raises(ExtractionError, match="busy"):
        asyncio.run(extractor.extract(Request(())))
    assert asyncio.run(extractor.extract(Request(()))).candidates == ()
    summarizer = ScriptedSummarizer(SummaryError("busy"), "short")
    with pytest.raises(SummaryError, match="busy"):
        asyncio.run(summarizer.summarize(SummaryRequest("text")))
    pieces: list[str] = []
    assert (
        asyncio.run(summarizer.summarize(SummaryRequest("text"), on_text=pieces.append)) == "short"
    )
    assert pieces == ["short"]

"""A memory that is switched off passes messages through, and one that lacks an extractor says so."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import _session

if TYPE_CHECKING:
    from pathlib import Path

SAID: list[dict[str, Any]] = [
    {"role": role, "content": f"{role} {number}: the webhook listens on port 8443. " * 60}
    for number in range(12)
    for role in ("user", "assistant")
]


def opened(tmp_path: Path, **settings: Any) -> memctx.Memory:
    return memctx.open(tmp_path / "store", session_id="s1", context_window=4_000, **settings)


def test_a_disabled_memory_sends_the_messages_as_they_came(tmp_path: Path) -> None:
    with opened(tmp_path, enabled=False) as memory:
        memory.on("context", lambda _: [])
        turn = memory.prepare(SAID)
        assert turn.messages is SAID
        assert "disabled" in turn.report.degraded[0]
        assert "disabled" in turn.report.to_json()
        assert "memory is disabled" in str(turn.report)
        assert (turn.report.errors, turn.report.trimmed, turn.report.recalled) == ((), (), ())
        assert asyncio.run(memory.aprepare(tuple(SAID))).messages == SAID
        memory.observe(100)


def test_a_disabled_memory_does_not_look_at_messages(tmp_path: Path) -> None:
    """Neither an unknown kind nor a torn tool loop is refused or repaired."""
    odd = [{"type": "mystery"}, {"role": "tool", "tool_call_id": "x", "content": "orphan"}]
    with opened(tmp_path, enabled=False) as memory:
        assert memory.prepare(odd).messages == odd


def test_a_disabled_memory_stores_and_extracts_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, enabled=False, knowledge_extraction="rules") as memory:
        archived = memory.archive(SAID)
        assert (archived.added, archived.skipped, archived.ids) == (0, len(SAID), ())
        memory.prepare(SAID)
        assert memory.wait_for_facts().result(timeout=10).is_complete
        assert memory.search("webhook port") == []
        assert memory.extraction is None
        assert memory.stats()["segments"] == 0
        compacted = memory.compact_sync(SAID, instructions="Keep the port")
        assert compacted.did_compact, "a compaction that is asked for is made"
        assert memory.stats()["segments"] == 0


def test_a_disabled_memory_finds_but_does_not_recall_stored_messages(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.archive([{"role": "user", "content": "The cache is Valkey on port 6390."}])
    with opened(tmp_path, enabled=False) as memory:
        asked = [{"role": "user", "content": "Which port has the Valkey cache?"}]
        assert memory.search("Valkey port")[0].segment.content.startswith("The cache")
        assert memory.prepare(asked).messages == asked
    with opened(tmp_path, recall={"min_score": 0.1}) as memory:
        assert memory.prepare(asked).report.recalled


@pytest.mark.parametrize(
    "text",
    [
        "{agents: {defaults: {memoryContext: {enabled: false}}}}",
        "{plugins: {entries: {'memory-context': {enabled: false, config: {}}}}}",
    ],
)
def test_the_switch_of_an_openclaw_file_disables(tmp_path: Path, text: str) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text(text)
    config = memctx.Config.load(file=file, environ={})
    with memctx.open(tmp_path / "store", session_id="s1", config=config) as memory:
        assert memory.prepare(SAID).messages is SAID


def test_a_missing_extractor_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_session, "_logged", set())
    note = ""
    with caplog.at_level(logging.DEBUG, "memctx.memory"):
        for number in range(3):
            with memctx.open(
                tmp_path / str(number), session_id="s1", knowledge_extraction=True
            ) as memory:
                note = memory.health()["extraction"]["note"]
    (record,) = [each for each in caplog.records if "extractor is not set" in each.getMessage()]
    assert record.levelno == logging.WARNING
    for remedy in ("'anthropic'", "'openai:<model>'", "'rules'", "False"):
        assert remedy in record.getMessage()
    assert note == record.getMessage()


def test_a_default_extraction_without_extractor_is_no_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_session, "_logged", set())
    with caplog.at_level(logging.INFO, "memctx.memory"), opened(tmp_path) as memory:
        assert "extractor is not set" in memory.health()["extraction"]["note"]
    assert [record.levelname for record in caplog.records] == ["INFO"]


@pytest.mark.parametrize("settings", [{"knowledge_extraction": False}, {"extractor": repr}])
def test_health_has_no_note_if_extraction_is_configured(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with opened(tmp_path, **settings) as memory:
        assert "note" not in (memory.health()["extraction"] or {})


def test_the_reserves_of_a_turn_and_of_a_compaction_have_names_of_their_own() -> None:
    config = memctx.Config(
        trim={"reply_reserve_tokens": 1_000}, compaction={"reserveTokens": 2_000}
    )
    assert (config.trim.reply_reserve_tokens, config.compaction.reserve_tokens) == (1_000, 2_000)
    assert "reserve_tokens" not in memctx.Config.fields

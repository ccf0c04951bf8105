"""Notes before a compaction, and when either is due."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memctx import Config

from .talks import compacted, opened, talk

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from memctx import Memory


def test_a_compaction_is_due_where_the_context_reaches_into_the_reserve(tmp_path: Path) -> None:
    """Of a window of 4,000 tokens half is kept free."""
    messages = talk(turns=2)
    with opened(tmp_path) as memory:
        assert not memory.should_compact(messages, usage=1_900)
        assert memory.should_compact(messages, usage=2_001)
        assert memory.should_compact(talk(turns=40))
        assert not memory.should_compact([])
    with opened(tmp_path / "off", compaction={"enabled": False}) as memory:
        assert not memory.should_compact(talk(turns=40))
        assert compacted(memory, talk()).did_compact, "one that is asked for is made"
    early = {"reserve_tokens": 0, "reserve_tokens_floor": 0, "compact_at": 0.5}
    with opened(tmp_path / "early", compaction=early, context_window=40_000) as memory:
        assert memory.should_compact(messages, usage=20_001)
        assert not memory.should_compact(messages, usage=19_000)


def test_notes_are_written_once_before_each_compaction(tmp_path: Path) -> None:
    prompts: list[str] = []

    async def model(system: str, prompt: str) -> str:
        prompts.append(f"{system}\n{prompt}")
        return "- The webhook listens on port 8443."

    workspace = tmp_path / "workspace"
    settings = {"memoryFlush": {"softThresholdTokens": 500, "systemPrompt": "Save it all."}}
    messages = talk()

    def run(memory: Memory, usage: int) -> str:
        return asyncio.run(memory.write_notes(model, messages, usage=usage)).outcome

    with opened(tmp_path, compaction=settings, workspace=workspace) as memory:
        assert not memory.should_write_notes(messages, usage=1_000)
        assert run(memory, 1_000) == "not_due"
        assert memory.should_write_notes(messages, usage=1_600)
        assert not memory.should_compact([], usage=1_600), "earlier than the compaction"
        assert run(memory, 1_600) == "written"
        assert run(memory, 1_700) == "not_due"
    with opened(tmp_path, compaction=settings, workspace=workspace) as memory:
        assert run(memory, 1_800) == "not_due", "another process knows too"
        assert compacted(memory, messages).did_compact
        assert run(memory, 1_600) == "written"
        assert memory.counters.compaction_count == 1
        assert memory.counters.notes_written_count == 1
    (note,) = (workspace / "memory").glob("*.md")
    assert note.read_text("utf-8").count("port 8443") == 2
    assert prompts[0].startswith("Save it all.")


def test_no_notes_are_written_without_a_workspace(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        assert not memory.should_write_notes(talk(), usage=3_000)
        written = asyncio.run(memory.write_notes(lambda *_: "note", talk(), usage=3_000))
        assert (written.outcome, written.reason) == ("skipped", "no workspace is set")


def test_the_threshold_may_be_a_share_of_the_window(tmp_path: Path) -> None:
    settings = {"memoryFlush": {"softThreshold": 0.4}}
    with opened(tmp_path, compaction=settings, workspace=tmp_path) as memory:
        assert memory.should_write_notes(talk(), usage=1_600)
        assert not memory.should_write_notes(talk(), usage=1_500)


def test_openclaw_settings_configure_the_notes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The block of an openclaw.json, whole, beside that of memory."""
    path = tmp_path / "openclaw.json"
    path.write_text(
        """{"agents": {"defaults": {
            "workspace": "~/clawd",
            "memoryContext": {"maxSegments": 500},
            "compaction": {
                "mode": "default", "reserveTokensFloor": 24000, "maxHistoryShare": 0.4,
                "keepRecentTokens": 8000, "reserveTokens": 30000, "timeoutSeconds": 90,
                "identifierPolicy": "strict", "qualityGuard": {"enabled": true, "maxRetries": 2},
                "memoryFlush": {"enabled": false, "softThresholdTokens": 6000, "prompt": "p", "systemPrompt": "s"}
            }}}}""",
        "utf-8",
    )
    config = Config.load(file=path, environ={})
    found = config.compaction
    assert (str(config.workspace), config.disk.max_segments) == ("~/clawd", 500)
    assert (found.mode, found.reserve_tokens_floor, found.max_history_share) == (
        "default",
        24_000,
        0.4,
    )
    assert (found.keep_recent_tokens, found.reserve_tokens) == (8_000, 30_000)
    assert (found.timeout_seconds, found.quality_retries) == (90, 2)
    assert (found.memory_flush, found.soft_threshold) == (False, 6_000)
    assert (found.flush_prompt, found.flush_system_prompt) == ("p", "s")
    assert (
        "no effect here: compaction.identifierPolicy, compaction.qualityGuard.enabled"
        in caplog.text
    )

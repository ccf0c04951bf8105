"""Compatibility with OpenClaw's compaction settings and notes."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import ConfigError
from memctx.config import Config
from memctx.hosts.openclaw import Workspace

if TYPE_CHECKING:
    from pathlib import Path

# The reference of paths in OpenClaw Compaction & Memory Internals, with values that are not the defaults.
SEED_003 = {
    "compaction": {
        "mode": "default",
        "reserveTokensFloor": 24_000,
        "memoryFlush": {
            "enabled": False,
            "softThresholdTokens": 8_000,
            "systemPrompt": "Save.",
            "prompt": "Save now.",
        },
    },
    "contextPruning": {
        "mode": "adaptive",
        "ttl": "10m",
        "keepLastAssistants": 5,
        "softTrimRatio": 0.25,
        "hardClearRatio": 0.45,
        "minPrunableToolChars": 30_000,
        "softTrim": {"maxChars": 6_000, "headChars": 2_500, "tailChars": 2_400},
        "hardClear": {"enabled": False, "placeholder": "[cleared]"},
        "tools": {"allow": ["exec", "read"], "deny": ["*image*"]},
    },
    "contextTokens": 128_000,
}


def loaded(folder: Path, defaults: dict[str, Any]) -> Config:
    file = folder / "openclaw.json"
    file.write_text(json.dumps({"agents": {"defaults": defaults}}))
    return Config.load(file=file, environ={})


@pytest.mark.parametrize(
    "settings",
    [
        {"maxHistoryShare": 0.05},
        {"maxHistoryShare": 0.95},
        {"reserveTokensFloor": -1},
        {"mode": "careful"},
        {"memoryFlush": {"softThresholdTokens": -1}},
    ],
)
def test_compaction_settings_out_of_range_are_refused(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="compaction"):
        loaded(tmp_path, {"compaction": settings})


def test_every_openclaw_compaction_path_is_read_or_reported(tmp_path: Path) -> None:
    config = loaded(tmp_path, SEED_003)
    compaction, pruning = config.compaction, config.pruning
    assert (compaction.mode, compaction.reserve_tokens_floor) == ("default", 24_000)
    assert (compaction.memory_flush, compaction.soft_threshold) == (False, 8_000)
    assert (compaction.flush_system_prompt, compaction.flush_prompt) == ("Save.", "Save now.")
    assert (pruning.mode, pruning.keep_last_assistants, config.trim.cache_ttl) == (
        "adaptive",
        5,
        600,
    )
    assert (pruning.soft_trim_ratio, pruning.hard_clear_ratio) == (0.25, 0.45)
    assert pruning.min_prunable_tool_chars == 30_000
    assert (pruning.soft_trim_max_chars, pruning.soft_trim_head_chars) == (6_000, 2_500)
    assert (pruning.soft_trim_tail_chars, pruning.hard_clear) == (2_400, False)
    assert (pruning.placeholder, pruning.allow, pruning.deny) == (
        "[cleared]",
        ("exec", "read"),
        ("*image*",),
    )
    assert config.context_window == 128_000
    with pytest.raises(
        ConfigError, match=r"softTrimmRatio is no setting; did you mean pruning\.soft_trim"
    ):
        loaded(tmp_path, {"contextPruning": {"softTrimmRatio": 0.3}})
    with pytest.raises(ConfigError, match="cache_ttl"):
        loaded(tmp_path, {"contextPruning": {"ttl": "soon"}})


@pytest.mark.parametrize(
    ("ttl", "seconds"), [("5m", 300), ("90s", 90), ("1h", 3_600), ("250ms", 0.25), (5, 300)]
)
def test_durations_are_read_as_openclaw_reads_them(
    ttl: str | int, seconds: float, tmp_path: Path
) -> None:
    assert loaded(tmp_path, {"contextPruning": {"ttl": ttl}}).trim.cache_ttl == seconds


def test_settings_for_memory_win_over_those_of_the_host(tmp_path: Path) -> None:
    own = {"memoryContext": {"contextWindow": 64_000}}
    assert loaded(tmp_path, {**SEED_003, **own}).context_window == 64_000


async def flushed_and_compacted(folder: Path) -> str:
    """Return the system prompt after notes were written and the conversation was compacted."""
    said = [
        {"role": role, "content": f"{role} {number}: the webhook waits. " * 40}
        for number in range(8)
        for role in ("user", "assistant")
    ]
    settings = {"keep_recent_tokens": 500, "mode": "default"}
    with memctx.open(
        folder / "memory",
        session_id="s1",
        context_window=12_000,
        workspace=folder / "workspace",
        compaction=settings,
        summarizer=lambda _: "They waited.",
    ) as memory:
        written = await memory.write_notes(lambda *_: "- The webhook waits.", said)
        compacted = await memory.compact(said)
        assert (written.outcome, compacted.did_compact) == ("written", True)
        again = await memory.write_notes(lambda *_: "- More.", said)
        assert again.outcome == "written", "after a compaction notes are due again"
    return Workspace(folder / "workspace").system_prompt()


@pytest.mark.usefixtures("alone")
def test_written_notes_are_in_the_next_system_prompt(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "AGENTS.md").write_text("Work with care.")
    prompt = asyncio.run(flushed_and_compacted(tmp_path))
    assert "- The webhook waits." in prompt
    assert "- More." in prompt
    assert "Work with care." in prompt

"""The configuration examples of the five documents load as they stand there: comments, bare names, trailing commas."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memctx import Config, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parent / "examples"

# Every complete file, and what it says of settings.
FILES: dict[str, dict[str, Any]] = {
    "memory-enhanced-compaction.json": {
        "enabled": True,
        "recall.hard_cap_tokens": 4_000,
        "embedding_model": "hash",
        "redaction": "mask",
        "knowledge_extraction": True,
        "recall.min_score": 0.7,
        "disk.max_segments": 20_000,
    },
    "memory-context-plugin.json": {},
    "openclaw-compaction-system.json": {
        "compaction.mode": "safeguard",
        "compaction.reserve_tokens_floor": 24_000,
        "compaction.max_history_share": 0.5,
        "compaction.memory_flush": True,
        "compaction.soft_threshold": 6_000,
        "compaction.flush_system_prompt": "Session nearing compaction. Store durable memories now.",
        "compaction.flush_prompt": "Write any lasting notes to memory/YYYY-MM-DD.md; reply with NO_REPLY if "
        "nothing to store.",
    },
    "openclaw-compaction-and-memory-internals.json": {
        "compaction.mode": "safeguard",
        "compaction.reserve_tokens_floor": 24_000,
        "compaction.soft_threshold": 8_000,
        "pruning.mode": "adaptive",
        "pruning.keep_last_assistants": 5,
        "pruning.soft_trim_ratio": 0.25,
        "pruning.hard_clear_ratio": 0.45,
        "pruning.min_prunable_tool_chars": 30_000,
        "pruning.soft_trim_max_chars": 6_000,
        "pruning.soft_trim_head_chars": 2_500,
        "pruning.soft_trim_tail_chars": 2_500,
        "pruning.hard_clear": True,
        "pruning.placeholder": "[Older tool output cleared — re-read file if needed]",
        "context_window": 200_000,
    },
    "clawdbot-memory-flush.json": {
        "compaction.memory_flush": True,
        "compaction.soft_threshold": 0.7,
        "compaction.flush_system_prompt": "Save important notes before compaction...",
    },
    "clawdbot-context-pruning.json": {"pruning.mode": "adaptive"},
}

# Excerpts of the third document, each with what is set and what is named as without effect.
FRAGMENTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "safeguard": ({"compaction.mode": "safeguard"}, []),
    "memory-flush": ({"compaction.memory_flush": True, "compaction.soft_threshold": 4_000}, []),
    "memory-flush-prompts": ({"compaction.soft_threshold": 8_000}, []),
    "memory-flush-tuned": (
        {"compaction.reserve_tokens_floor": 24_000, "compaction.soft_threshold": 8_000},
        [],
    ),
    "context-pruning": (
        {
            "trim.cache_ttl": 300,
            "pruning.mode": "cache-ttl",
            "pruning.allow": ("exec", "read"),
            "pruning.deny": ("*image*",),
        },
        [],
    ),
    "context-pruning-adaptive": ({"pruning.deny": ("browser", "canvas")}, []),
    "context-tokens": ({"context_window": 200_000}, []),
    "session-memory": ({"workspace_search.sources": ("memory", "sessions")}, []),
    "hybrid-search": (
        {
            "workspace_search.vector_weight": 0.7,
            "workspace_search.text_weight": 0.3,
            "workspace_search.candidate_multiplier": 4,
        },
        [],
    ),
    "plugin-slots": (
        {},
        [
            "plugins.entries.memory-lancedb.config.autoCapture",
            "plugins.entries.memory-lancedb.config.autoRecall",
            "plugins.entries.memory-lancedb.config.embedding.apiKey",
            "plugins.entries.memory-lancedb.config.embedding.model",
            "plugins.entries.memory-lancedb.enabled",
            "plugins.slots.memory",
        ],
    ),
    "session-reset": (
        {},
        ["session.reset.atHour", "session.reset.idleMinutes", "session.reset.mode"],
    ),
}
# Where an excerpt belongs whose name is not its whole path.
UNDER = {
    "compaction": "agents.defaults.compaction",
    "contextPruning": "agents.defaults.contextPruning",
    "memoryFlush": "agents.defaults.compaction.memoryFlush",
}


def in_its_place(fragment: str) -> str:
    """Return an excerpt as a whole file: its text, inside of the blocks that its name says."""
    found = re.fullmatch(r'"?([\w.]+)"?: *(.*)', fragment.strip(), re.DOTALL)
    assert found
    path = UNDER.get(found[1], found[1]).split(".")
    opened = "".join(f"{{ {name}: " for name in path)
    return f"{opened}{found[2]}\n{'}' * len(path)}"


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Config]:
    def load(text: str) -> Config:
        file = tmp_path / "openclaw.json"
        file.write_text(text, "utf-8")
        return Config.load(file=file, environ={})

    return load


def test_every_example_is_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.json")} == FILES.keys()
    assert {path.stem for path in EXAMPLES.glob("fragments/*")} == FRAGMENTS.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_complete_example_loads_from_its_literal_text(
    name: str, load: Callable[[str], Config]
) -> None:
    found = load((EXAMPLES / name).read_text("utf-8")).given()
    assert {setting: found[setting] for setting in FILES[name]} == FILES[name]


@pytest.mark.parametrize("name", FRAGMENTS)
def test_an_excerpt_loads_in_its_place(
    name: str, load: Callable[[str], Config], caplog: pytest.LogCaptureFixture
) -> None:
    settings, without_effect = FRAGMENTS[name]
    text = in_its_place((EXAMPLES / "fragments" / f"{name}.json5").read_text("utf-8"))
    with caplog.at_level(logging.WARNING, "memctx.config"):
        found = load(text).given()
    assert {setting: found[setting] for setting in settings} == settings
    named = [name for record in caplog.records for name in _named(record.getMessage())]
    assert named == without_effect


def _named(message: str) -> list[str]:
    return message.partition("no effect here: ")[2].split(", ")


JSON5 = [
    "{maxSegments: 7}",
    "{'maxSegments': 7,}",
    '{"maxSegments": 7} // that many',
    "/* settings */ {maxSegments: +7,}",
    "{maxSegments: 0x7}",
    "\ufeff{maxSegments: 7}",
]


@pytest.mark.parametrize("text", JSON5)
def test_json5_is_read_under_either_ending(text: str, tmp_path: Path) -> None:
    for name in ("memctx.json", "memctx.json5"):
        (tmp_path / name).write_text(text, "utf-8")
        assert Config.load(file=tmp_path / name, environ={}).disk.max_segments == 7


@pytest.mark.parametrize(
    ("text", "where"),
    [("{\n  maxSegments: 7\n  crossSession: true\n}", "line 3"), ("{a: }", "line 1"), ("", "")],
)
def test_a_fault_of_json5_is_reported_with_its_line(text: str, where: str, tmp_path: Path) -> None:
    file = tmp_path / "memctx.json"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Config.load(file=file, environ={})
    assert str(caught.value).startswith(f"{file}: cannot be read: {where}")


def imported(code: str) -> list[str]:
    """Return which of our dependencies a fresh process has imported after some code."""
    names = "[name for name in ('json5', 'pydantic') if name in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*{names})"],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


def test_the_parser_is_imported_for_json5_alone(tmp_path: Path) -> None:
    (tmp_path / "plain.json").write_text('{"crossSession": true}')
    (tmp_path / "five.json").write_text("{crossSession: true}")
    load = "import memctx; memctx.Config.load(file={!r}, environ={{}})"
    assert imported("import memctx") == []
    assert imported(load.format(str(tmp_path / "plain.json"))) == []
    assert imported(load.format(str(tmp_path / "five.json"))) == ["json5"]

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx import Config
from memctx.commands import settings

if TYPE_CHECKING:
    from pathlib import Path


def test_show_names_the_source_of_every_setting(tmp_path: Path) -> None:
    file = tmp_path / "memctx.toml"
    file.write_text("max_segments = 500\npii = true\n[compaction]\nkeep_recent_tokens = 7000\n")
    environ = {"MEMCTX_PII": "false", "MEMCTX_CONTEXT_WINDOW": "9000"}
    outcome = settings.show(file, environ=environ)
    told = outcome.data["settings"]
    assert set(told) == set(Config.model_fields)
    assert told["max_segments"] == {"value": 500, "source": str(file)}
    assert told["pii"] == {"value": False, "source": "MEMCTX_PII"}
    assert told["context_window"]["source"] == "MEMCTX_CONTEXT_WINDOW"
    assert told["durability"]["source"] == "default"
    line = next(line for line in outcome.text.splitlines() if "keep_recent_tokens" in line)
    assert line.split() == ["compaction.keep_recent_tokens", "7,000", str(file)]


def test_check_tells_every_fault(tmp_path: Path) -> None:
    file = tmp_path / "memctx.toml"
    file.write_text("max_segments = 0\nranking = 'worst'\n")
    outcome = settings.check(file, environ={})
    assert not outcome.is_ok
    assert len(outcome.data["faults"]) == 2
    assert "ranking is 'worst'" in outcome.text
    assert not settings.check(environ={"MEMCTX_MAX_SEGMENT": "5"}).is_ok
    assert not settings.check(tmp_path / "none.toml", environ={}).is_ok


def test_check_of_what_is_right(tmp_path: Path) -> None:
    file = tmp_path / "memctx.json"
    file.write_text('{"maxSegments": 5}')
    assert settings.check(file, environ={}).data["given"] == ["max_segments"]
    assert settings.check(environ={}).text == "All is well; all defaults."

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

import memctx_model
from memctx import Config, ConfigError
from memctx.cli.verbs.bench import bench
from memctx.cli.verbs.diagnostics import find_faults, list_settings, run_doctor
from memctx.cli.verbs.shell import ShellRequest

if TYPE_CHECKING:
    from pathlib import Path


def states(path: Path, file: Path | None = None) -> dict[str, str]:
    outcome = run_doctor(ShellRequest(path, config_file=file))
    return {check["name"]: check["state"] for check in outcome.data["checks"]}


def test_doctor_passes_a_sound_store(store: Path) -> None:
    outcome = run_doctor(ShellRequest(store))
    assert outcome.is_ok
    assert states(store)["integrity"] == "ok"
    assert outcome.text.endswith("No problems found.")


def test_doctor_compares_the_weights_with_their_checksum(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert states(store)["model"] == "ok"
    file = tmp_path / memctx_model.PATH.name
    file.write_bytes(b"other weights")
    shutil.copy(f"{memctx_model.PATH}.sha256", f"{file}.sha256")
    monkeypatch.setattr(memctx_model, "PATH", file)
    outcome = run_doctor(ShellRequest(store))
    assert not outcome.is_ok
    assert "pip install --force-reinstall memctx-model" in outcome.text
    file.unlink()
    assert states(store)["model"] == "bad"


def test_doctor_notes_that_the_weights_are_not_installed(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "memctx_model", None)
    assert states(store)["model"] == "note"


def test_doctor_reports_damage_and_the_remedy(store: Path) -> None:
    log = store / "segments.jsonl"
    log.write_bytes(log.read_bytes().replace(b"8443", b"8444", 1))
    outcome = run_doctor(ShellRequest(store))
    assert not outcome.is_ok
    assert "1 fault: memctx verify" in outcome.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_doctor_notes_a_store_accessible_to_other_users(store: Path) -> None:
    store.chmod(0o755)
    assert states(store)["store"] == "note"


def test_doctor_accepts_a_missing_store_and_does_not_create_it(tmp_path: Path) -> None:
    assert run_doctor(ShellRequest(tmp_path / "none")).is_ok
    assert states(tmp_path / "none")["store"] == "note"
    assert not (tmp_path / "none").exists()


def test_doctor_reports_unusable_settings(tmp_path: Path) -> None:
    file = tmp_path / "memctx.toml"
    file.write_text("max_segments = 0")
    assert states(tmp_path, file=file)["settings"] == "bad"
    file.write_text(f"workspace = {str(tmp_path / 'nowhere')!r}")
    assert states(tmp_path, file=file)["workspace"] == "bad"


def test_bench_measures_and_reports_progress() -> None:
    seen: list[tuple[int, int]] = []
    outcome = bench(250, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(100, 250), (200, 250), (250, 250)]
    assert outcome.data["archived_per_second"] > 0
    assert 0 < outcome.data["search_ms"]["median"] <= outcome.data["search_ms"]["worst"]
    assert "messages/s" in outcome.text
    with pytest.raises(ConfigError, match="count is 1"):
        bench(1)


def test_config_show_names_the_source_of_every_setting(tmp_path: Path) -> None:
    file = tmp_path / "memctx.toml"
    file.write_text(
        "[disk]\nmax_segments = 500\n[privacy]\npii = true\n[compaction]\nkeep_recent_tokens = 7000\n"
    )
    environ = {"MEMCTX_PRIVACY_PII": "false", "MEMCTX_CONTEXT_WINDOW": "9000"}
    outcome = list_settings(file, environ=environ)
    settings = outcome.data["settings"]
    assert set(settings) == set(Config.paths())
    assert settings["disk.max_segments"] == {"value": 500, "source": str(file)}
    assert settings["privacy.pii"] == {"value": False, "source": "MEMCTX_PRIVACY_PII"}
    assert settings["context_window"]["source"] == "MEMCTX_CONTEXT_WINDOW"
    assert settings["disk.durability"]["source"] == "default"
    line = next(line for line in outcome.text.splitlines() if "keep_recent_tokens" in line)
    assert line.split() == ["compaction.keep_recent_tokens", "7,000", str(file)]


def test_config_check_reports_every_fault(tmp_path: Path) -> None:
    file = tmp_path / "memctx.toml"
    file.write_text("[disk]\nmax_segments = 0\n[recall]\nranking = 'worst'\n")
    outcome = find_faults(file, environ={})
    assert not outcome.is_ok
    assert len(outcome.data["faults"]) == 2
    assert "recall.ranking is 'worst'" in outcome.text
    assert not find_faults(environ={"MEMCTX_MAX_SEGMENT": "5"}).is_ok
    assert not find_faults(tmp_path / "none.toml", environ={}).is_ok


def test_config_check_accepts_valid_settings(tmp_path: Path) -> None:
    file = tmp_path / "memctx.json"
    file.write_text('{"maxSegments": 5}')
    assert find_faults(file, environ={}).data["given"] == ["disk.max_segments"]
    assert find_faults(environ={}).text == "No faults; all defaults."


def test_config_check_covers_file_and_environment(tmp_path: Path) -> None:
    """Unknown and wrong settings, inside of groups too, in the file and in the environment, all at once."""
    file = tmp_path / "openclaw.json"
    file.write_text(
        """{agents: {defaults: {
          memoryContext: {maxSegment: 5, hardCapTokens: 1, zzz: 1, privacy: {pii: 'no'}},
          compaction: {mode: 'careful', memoryFlush: {promt: 'x'}, keepRecentTokens: 0},
          contextPruning: {softTrim: {maxChars: 'long'}, softTrimmRatio: 1},
          memorySearch: {query: {maxResult: 3, minScore: 2}},
        }}}"""
    )
    environ = {
        "MEMCTX_MAX_SEGMENT": "5",
        "MEMCTX_PRIVACY_PII": "2",
        "MEMCTX_DISK_INDEX": "maybe",
    }
    faults = find_faults(file, environ=environ).data["faults"]
    assert len(faults) == 14
    for name in (
        f"{file}: maxSegment is no setting; did you mean disk.max_segments?",
        f"{file}: recall.hard_cap_tokens is 1;",
        f"{file}: zzz is no setting",
        f"{file}: privacy.pii is 'no'",
        f"{file}: compaction.mode is 'careful'",
        f"{file}: compaction.memoryFlush.promt is no setting",
        f"{file}: compaction.keep_recent_tokens is 0",
        f"{file}: pruning.soft_trim_max_chars is 'long'",
        f"{file}: pruning.softTrimmRatio is no setting; did you mean pruning.soft_trim_ratio?",
        f"{file}: workspace_search.query.maxResult is no setting; did you mean workspace_search.max_results?",
        f"{file}: workspace_search.min_score is 2",
        "MEMCTX_MAX_SEGMENT in the environment is no setting",
        "MEMCTX_PRIVACY_PII: privacy.pii is 2",
        "MEMCTX_DISK_INDEX: disk.index is 'maybe'",
    ):
        assert [fault for fault in faults if fault.startswith(name)], name


def test_config_check_of_a_missing_file_covers_the_environment(tmp_path: Path) -> None:
    outcome = find_faults(tmp_path / "none.toml", environ={"MEMCTX_PRIVACY_PII": "2"})
    assert len(outcome.data["faults"]) == 2


def test_config_check_names_settings_without_effect(tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text(
        """{agents: {defaults: {
             memoryContext: {indexType: 'hnsw'},
             compaction: {notifyUser: true},
             memorySearch: {cache: {enabled: true, maxEntries: 9}, extraPaths: ['docs']},
             skipBootstrap: true}},
            memory: {backend: 'qmd', qmd: {command: 'qmd'}}}"""
    )
    for _ in range(2):  # on every call, unlike in the log
        outcome = find_faults(file, environ={})
        assert outcome.is_ok
        assert outcome.data["without_effect"] == [
            "agents.defaults.skipBootstrap",
            "compaction.notifyUser",
            "indexType",
            "memory.backend",
            "memory.qmd.command",
            "workspace_search.cache",
        ]
        assert "Without effect: agents.defaults.skipBootstrap, " in outcome.text

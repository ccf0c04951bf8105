from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from memctx import ConfigError
from memctx.commands.bench import bench
from memctx.commands.doctor import doctor

if TYPE_CHECKING:
    from pathlib import Path


def states(path: Path, **options: Path) -> dict[str, str]:
    return {check["name"]: check["state"] for check in doctor(path, **options).data["checks"]}


def test_a_sound_store_passes(store: Path) -> None:
    outcome = doctor(store)
    assert outcome.is_ok
    assert states(store)["integrity"] == "ok"
    assert outcome.text.endswith("All is well.")


def test_damage_is_bad_and_names_what_helps(store: Path) -> None:
    log = store / "segments.jsonl"
    log.write_bytes(log.read_bytes().replace(b"8443", b"8444", 1))
    outcome = doctor(store)
    assert not outcome.is_ok
    assert "1 fault: memctx verify" in outcome.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_a_store_open_to_others_is_noted(store: Path) -> None:
    store.chmod(0o755)
    assert states(store)["store"] == "note"


def test_a_store_that_is_not_there_is_no_fault_and_is_not_made(tmp_path: Path) -> None:
    assert doctor(tmp_path / "none").is_ok
    assert states(tmp_path / "none")["store"] == "note"
    assert not (tmp_path / "none").exists()


def test_settings_that_cannot_be_used_are_bad(tmp_path: Path) -> None:
    file = tmp_path / "memctx.toml"
    file.write_text("max_segments = 0")
    assert states(tmp_path, file=file)["settings"] == "bad"
    file.write_text(f"workspace = {str(tmp_path / 'nowhere')!r}")
    assert states(tmp_path, file=file)["workspace"] == "bad"


def test_bench_measures_and_tells_how_far_it_is() -> None:
    seen: list[tuple[int, int]] = []
    outcome = bench(250, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(100, 250), (200, 250), (250, 250)]
    assert outcome.data["archived_per_second"] > 0
    assert 0 < outcome.data["search_ms"]["median"] <= outcome.data["search_ms"]["worst"]
    assert "messages/s" in outcome.text
    with pytest.raises(ConfigError, match="count is 1"):
        bench(1)

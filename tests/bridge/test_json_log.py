"""A file of JSON lines: shared, followed, and readable after whatever happens to its writers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memctx import files
from memctx.bridge import JsonLog
from memctx.config import DiskSettings
from memctx.errors import StoreError, StoreLockedError, UnsupportedVersionError

WRITER = """
import sys, pathlib
from memctx.bridge import JsonLog
log = JsonLog(pathlib.Path(sys.argv[1]), "test", read=lambda value: None, reset=lambda: None)
for n in range(int(sys.argv[3])):
    log.append(lambda: [[sys.argv[2], n, "x" * 2000]])
    print(n, flush=True)
"""


def open_log(path: Path, **options: Any) -> tuple[JsonLog, list[Any]]:
    seen: list[Any] = []
    return JsonLog(path, "test", read=seen.append, reset=seen.clear, **options), seen


def start_writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    root = Path(files.__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )


def test_writers_read_what_others_wrote_before_they_write(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "log.jsonl"
    one, seen = open_log(path)
    two, seen_by_two = open_log(path)
    one.follow()
    assert seen == []
    one.append(lambda: [1, "端口\n\r\u2028 \ud800"])
    two.append(lambda: [len(seen_by_two)])
    one.follow()
    assert seen == seen_by_two == [1, "端口\n\r\u2028 \ud800", 2]


def test_nothing_is_written_if_a_value_is_not_json(tmp_path: Path) -> None:
    log, seen = open_log(tmp_path / "log.jsonl")
    log.append(lambda: [1])
    before = log.path.read_bytes()
    with pytest.raises(TypeError, match="not JSON serializable"):
        log.append(lambda: [2, object()])
    log.append(list)
    assert log.path.read_bytes() == before
    assert seen == [1]


@pytest.mark.parametrize("cut", [1, 3, 8])
def test_torn_last_line_is_skipped(tmp_path: Path, cut: int) -> None:
    log, _ = open_log(tmp_path / "log.jsonl")
    log.append(lambda: ["first"])
    log.append(lambda: ["torn line"])
    log.path.write_bytes(log.path.read_bytes()[:-cut])
    reader, seen = open_log(log.path)
    reader.follow()
    assert seen == ["first"]
    assert reader.damaged == 0, "its writer may be at work"
    reader.append(lambda: ["last"])
    # Without its end alone, the line is whole.
    assert seen == (["first", "torn line", "last"] if cut == 1 else ["first", "last"])
    assert reader.damaged == (0 if cut == 1 else 1)


def test_torn_first_line_loses_nothing_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"memctx":"te')
    log, seen = open_log(path)
    log.append(lambda: ["first"])
    again, seen_again = open_log(path)
    again.follow()
    assert seen == seen_again == ["first"]


def test_damaged_line_costs_itself_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log, _ = open_log(tmp_path / "log.jsonl")
    for n in range(3):
        log.append(lambda n=n: [n])  # type: ignore[misc]
    lines = log.path.read_bytes().splitlines()
    log.path.write_bytes(b"\n".join([lines[0], lines[1], b"\x00\xff", lines[3]]) + b"\n")
    reader, seen = open_log(log.path)
    reader.follow()
    assert seen == [0, 2]
    assert reader.damaged == 1
    assert "1 lines cannot be read" in caplog.text


def test_rewritten_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    log, _ = open_log(tmp_path / "log.jsonl")
    other, seen = open_log(log.path)
    log.append(lambda: list(range(100)))
    other.follow()
    log.rewrite(lambda: ["all of it"])
    log.append(lambda: list(range(100)))
    other.follow()
    assert seen == ["all of it", *range(100)]
    log.path.unlink()
    other.follow()
    assert seen == []


def test_file_cut_back_by_a_writer_whose_sync_failed_is_read_again(tmp_path: Path) -> None:
    log, seen = open_log(tmp_path / "log.jsonl")
    log.append(lambda: [1])
    size = log.path.stat().st_size
    log.append(lambda: [2])
    os.truncate(log.path, size)
    log.follow()
    assert seen == [1]


def test_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"memctx":"test","version":2}\n[1]\n')
    log, seen = open_log(path)
    for _ in range(2):
        with pytest.raises(UnsupportedVersionError, match="expected 1"):
            log.follow()
    assert seen == []


def test_folder_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    log, _ = open_log(tmp_path)
    with pytest.raises(StoreError):
        log.append(lambda: [1])


def test_writer_waits_for_another_as_long_as_it_is_told(tmp_path: Path) -> None:
    log, _ = open_log(tmp_path / "log.jsonl", disk=DiskSettings(lock_timeout=0.05))
    with files.held(log.path), pytest.raises(StoreLockedError):
        log.append(lambda: [1])


@pytest.mark.slow
def test_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for round_ in range(3):
        with start_writer(path, str(round_), 100_000) as writer:
            assert writer.stdout is not None
            said = [writer.stdout.readline() for _ in range(20)]
            writer.send_signal(signal.SIGKILL)
            said += writer.stdout.readlines()
        log, seen = open_log(path)
        log.follow()
        kept = [value[1] for value in seen if value[0] == str(round_)]
        assert kept == list(range(len(kept)))
        assert len(kept) > int(said[-1])
        assert log.damaged <= round_


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    writers = [start_writer(path, name, 40) for name in "abc"]
    for writer in writers:
        writer.communicate(timeout=60)
    log, seen = open_log(path)
    log.follow()
    for name in "abc":
        assert [value[1] for value in seen if value[0] == name] == list(range(40))

"""Locks on files that several processes write, on the file itself and, as on Windows, on one beside it."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from memctx import files
from memctx.errors import StoreError, StoreLockedError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["flock", "lock file"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file, on a system that locks files themselves and on one that does not."""
    if request.param == "flock" and sys.platform == "win32":
        pytest.skip("there is no such lock")
    monkeypatch.setattr(files, "_has_flock", request.param == "flock")
    return tmp_path / "notes.md"


def test_waiting_for_a_lock_times_out(path: Path) -> None:
    with files.held(path), pytest.raises(StoreLockedError, match="another process"):  # noqa: SIM117
        with files.held(path, timeout=0.05):
            pass
    with files.held(path, timeout=0.05) as file:
        file.append(b"free again\n")
    assert path.read_bytes() == b"free again\n"


def test_a_lock_is_released_when_its_holder_fails(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), files.held(path):
        raise ZeroDivisionError
    with files.held(path, timeout=0.05):
        pass


def test_writers_take_turns(path: Path) -> None:
    """Each reads the file and replaces it: without a lock, counts would be lost."""
    path.write_bytes(b"0")

    def count() -> None:
        for _ in range(20):
            with files.held(path, timeout=60.0) as file:
                file.replace(str(int(files.read(path)) + 1).encode(), sync=False)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == b"80"


def test_readers_do_not_wait_for_a_lock(path: Path) -> None:
    path.write_bytes(b"said\n")
    with files.held(path) as file:
        assert files.read(path) == b"said\n"
        file.append(b"more\n")
        assert files.read(path) == b"said\nmore\n"


def test_a_replaced_file_is_closed_before_where_an_open_one_cannot_be_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_has_flock", False)
    with files.held(path) as file:
        descriptor = file.descriptor
        file.replace(b"new\n")
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(descriptor)
    assert path.read_bytes() == b"new\n"


def test_a_lock_in_a_missing_folder_is_an_error(path: Path) -> None:
    with pytest.raises(StoreError, match="none"), files.held(path.parent / "none" / "notes.md"):
        pass


def test_a_lock_file_is_hidden_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_has_flock", False)
    with files.held(tmp_path / "notes.md"):
        pass
    assert sorted(each.name for each in tmp_path.iterdir()) == [".notes.md.lock", "notes.md"]
    if sys.platform != "win32":
        assert (tmp_path / ".notes.md.lock").stat().st_mode & 0o777 == files.PRIVATE

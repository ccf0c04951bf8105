"""Disk index on a full or read-only disk: searches continue and report what is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faults.stores import REFUSED, child, linux, posix, said_by

from .stores import caught_up, filled, folder_of, missing, opened, say, text, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.lowlevel import Store

TESTS = Path(__file__).parents[1]


def refusal(store: Store) -> str:
    """Return why indexing failed: the raised error, or the error in the status."""
    try:
        status = caught_up(store)
    except REFUSED as error:
        return str(error)
    assert status.state != "ready", "there was no room, so it cannot be"
    return status.fault or ""


LIMITED = """
    import json, resource, signal, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from disk_index.stores import missing, opened, say, text
    from disk_index.test_disk import refusal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    folder, limit = Path(sys.argv[2]), int(sys.argv[3])
    store = opened(folder, max_segments=50)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    refusals = [refusal(store) for _ in range(3)]
    in_memory = missing(store, range(250, 300))
    status = store.disk_index()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    say(store, [text(number) for number in range(300, 310)])
    later = store.catch_up()
    lost = missing(store, range(310), everything=True)
    print(json.dumps([refusals, in_memory, status.state, [later.state, later.segments], lost]))
"""


@linux
@pytest.mark.parametrize("limit", [0, 1024, 20_000])
def test_indexing_continues_after_a_file_size_limit(tmp_path: Path, limit: int) -> None:
    """Indexing continues in the same process once there is room again."""
    store = opened(tmp_path, disk_index=False)
    say(store, texts(300))
    store.close()
    (line,) = said_by(child(LIMITED, TESTS, tmp_path, limit))
    refusals, in_memory, state, later, lost = json.loads(line)
    assert all(refusals), refusals
    assert in_memory == []
    assert state != "ready"
    assert later == ["ready", 310]
    assert lost == []
    assert missing(opened(tmp_path), range(0, 310, 9)) == []


@posix
def test_indexing_continues_after_a_full_file_system(
    tmp_path: Path, mount: Callable[..., None]
) -> None:
    mount("-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", tmp_path)
    store = opened(tmp_path, disk_index=False)
    say(store, texts(300))
    store.close()
    free = shutil.disk_usage(tmp_path).free - 16 * 1024
    (tmp_path / "ballast").write_bytes(bytes(free))
    store = opened(tmp_path)
    assert refusal(store)
    assert missing(store, range(250, 300)) == []
    (tmp_path / "ballast").unlink()
    status = caught_up(store)
    assert (status.state, status.segments) == ("ready", 300)
    assert missing(store, range(300), everything=True) == []
    assert missing(opened(tmp_path), range(0, 300, 9)) == []


def read_only(folder: Path, mount: Callable[..., None]) -> None:
    """Remount a folder read-only, for root too, who ignores file modes."""
    mount("--bind", folder, folder)
    mount("-o", "remount,bind,ro", folder)


@posix
def test_an_index_on_a_read_only_mount_is_searched(
    tmp_path: Path, mount: Callable[..., None]
) -> None:
    folder = tmp_path / "store"
    filled(folder, 300)
    read_only(folder, mount)
    store = opened(folder)
    assert missing(store, range(0, 300, 7)) == []
    assert missing(store, range(0, 300, 7), everything=True) == []
    status = caught_up(store)
    assert (status.state, status.segments, status.fault) == ("ready", 300, None)
    store.close()


@posix
@pytest.mark.parametrize("left", ["nothing", "half"])
def test_unindexed_messages_on_a_read_only_mount_are_reported(
    tmp_path: Path, mount: Callable[..., None], left: str
) -> None:
    folder = tmp_path / "store"
    filled(folder, 200)
    store = opened(folder, disk_index=False)
    say(store, [text(number) for number in range(200, 400)])
    store.close()
    if left == "nothing":
        shutil.rmtree(folder_of(folder))
    read_only(folder, mount)
    store = opened(folder)
    assert missing(store, range(350, 400)) == []
    if left == "half":
        assert missing(store, range(0, 200, 7)) == []
    assert "read-only" in refusal(store).lower()
    store.close()


@posix
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="modes do not bind root"
)
def test_an_index_in_a_read_only_directory_is_searched(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder, 300)
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o400 if path.is_file() else 0o500)
    try:
        store = opened(folder)
        assert missing(store, range(0, 300, 7)) == []
        assert missing(store, range(0, 300, 7), everything=True) == []
        store.close()
    finally:
        for path in paths:
            path.chmod(0o700)


@linux
def test_an_index_folder_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    """Whatever happens to the link, nothing outside the store is overwritten."""
    folder, outside = tmp_path / "store", tmp_path / "outside"
    filled(folder, 100)
    shutil.rmtree(folder_of(folder))
    outside.mkdir()
    (outside / "mine").write_text("mine")
    folder_of(folder).symlink_to(outside)
    store = opened(folder)
    assert missing(store, range(60, 100)) == []
    store.close()
    assert (outside / "mine").read_text() == "mine"


@posix
def test_a_stopped_indexer_delays_no_search_beyond_its_deadline(tmp_path: Path) -> None:
    """A process that holds the index and sleeps delays searches for no more than their deadline."""
    folder = tmp_path / "store"
    holder = child(HOLDER, TESTS, folder)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "holding\n"
        store = opened(folder)
        assert missing(store, range(0, 200, 7)) == []
        say(store, [text(number) for number in range(200, 210)])
        assert missing(store, range(200, 210)) == []
    finally:
        subprocess.run(["kill", "-KILL", str(holder.pid)], check=True)  # noqa: S607 - of POSIX
        holder.communicate()
    assert missing(store, range(0, 210, 7), everything=True) == []


HOLDER = """
    import os, signal, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from disk_index.stores import opened, say, text

    store = opened(Path(sys.argv[2]))
    say(store, [text(number) for number in range(200)])
    store.catch_up()

    def stop(done, total):
        print("holding", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)

    # The thread that fills the index may be quicker than we are, and leave nothing to hold it with.
    for start in range(1000, 5000, 100):
        say(store, [text(number) for number in range(start, start + 100)])
        store.catch_up(stop)
"""

"""Permissions: directories of other users, links, read-only mounts, modes."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

import memctx
from memctx import StoreError
from memctx.lowlevel import LogReader

from .stores import REFUSED, contents, filled, opened, posix, results, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@posix
def test_a_read_only_mount_can_be_searched(tmp_path: Path, mount: Callable[..., None]) -> None:
    """For root too, who ignores file modes."""
    folder = tmp_path / "store"
    texts = filled(folder)
    wanted = results(opened(folder))
    mount("--bind", folder, folder)
    mount("-o", "remount,bind,ro", folder)
    store = opened(folder)
    assert results(store) == wanted
    assert contents(store) == texts
    assert list(LogReader(folder).scan())
    with pytest.raises(StoreError, match="read-only"):
        say(store, "cannot be stored")
    assert store.health()["read_only"]
    assert not store.snapshot()
    store.close()


@posix
def test_an_empty_read_only_mount_is_refused(tmp_path: Path, mount: Callable[..., None]) -> None:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    mount("--bind", folder, folder)
    mount("-o", "remount,bind,ro", folder)
    store = opened(folder)
    assert store.search("deploy failed") == []
    with pytest.raises(REFUSED, match=r"(?i)read-only"):
        say(store, "cannot be stored")
    store.close()


@posix
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="modes do not bind root"
)
def test_a_read_only_directory_can_be_searched(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder)
    for path in folder.iterdir():
        path.chmod(0o400 if path.is_file() else 0o500)
    folder.chmod(0o500)
    try:
        store = opened(folder)
        assert store.search("deploy failed")
        with pytest.raises(StoreError, match="read-only"):
            say(store, "cannot be stored")
    finally:
        folder.chmod(0o700)


def test_a_missing_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "store"
    store = opened(folder)
    say(store, "the first remark")
    assert contents(opened(folder)) == ["the first remark"]


def test_a_log_reader_creates_no_directory(tmp_path: Path) -> None:
    with pytest.raises(REFUSED):
        LogReader(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def test_a_file_as_store_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for open_it in (opened, LogReader):
        with pytest.raises(REFUSED, match="file"):
            open_it(tmp_path / "file")
    with pytest.raises(REFUSED, match="file"):
        opened(tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"


@posix
def test_a_linked_directory_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for open_it in (opened, LogReader):
        with pytest.raises(StoreError, match="symbolic link"):
            open_it(tmp_path / "link")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="symbolic link"):
        opened(tmp_path / "dangling")
    assert not (tmp_path / "nowhere").exists()


@posix
@pytest.mark.parametrize("name", ["segments.jsonl", "LOCK", "vectors.bin", "vectors.json", "index"])
def test_nothing_is_read_or_written_through_a_link(tmp_path: Path, name: str) -> None:
    """Each file of a store may be a link to a file elsewhere, which must not change."""
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    store = opened(folder)
    say(store, "a remark that stays")
    assert store.snapshot()
    store.close()
    (folder / name).rename(elsewhere)
    (folder / name).symlink_to(elsewhere)
    bytes_before = tree(elsewhere)
    store = opened(folder)
    store.search("remark")
    if name in {"segments.jsonl", "LOCK"}:
        with pytest.raises(REFUSED):
            say(store, "another remark")
    else:
        say(store, "another remark")
    store.snapshot()
    store.close()
    assert tree(elsewhere) == bytes_before
    if name == "segments.jsonl":
        assert contents_of(folder) == []


def contents_of(folder: Path) -> list[str]:
    try:
        return [segment.content for segment in LogReader(folder).scan()]
    except REFUSED:
        return []


def tree(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(it for it in path.rglob("*") if it.is_file())
    return {str(file): file.read_bytes() for file in files}


@posix
def test_the_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    folder = tmp_path / "store"
    filled(folder)
    os.chown(folder, 12_345, -1)
    for open_it in (opened, LogReader):
        with pytest.raises(StoreError, match="another user"):
            open_it(folder)


@posix
def test_a_directory_that_everyone_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    filled(folder)
    folder.chmod(0o777)
    for open_it in (opened, LogReader):
        with pytest.raises(StoreError, match="chmod"):
            open_it(folder)
    folder.chmod(0o700)
    assert opened(folder).search("deploy failed")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@posix
@pytest.mark.usefixtures("_umask")
def test_files_of_a_store_are_readable_by_the_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with memctx.open(folder, session_id="s1") as memory:
        memory.archive([{"role": "user", "content": "between us"}])
        memory.reembed()
        assert memory.store.snapshot()
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}
    assert len(modes) >= 6
    for path, mode in modes.items():
        assert mode == (0o700 if path.is_dir() else 0o600), path


@posix
def test_a_log_readable_by_others_is_made_private(tmp_path: Path) -> None:
    filled(tmp_path)
    log = tmp_path / "segments.jsonl"
    log.chmod(0o644)
    opened(tmp_path).close()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600

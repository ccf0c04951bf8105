"""Disk usage of a store by kind of file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memctx import store_files

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "segments.jsonl": (1, "log"),
    "vectors.bin": (2, "vectors"),
    "vectors.json": (4, "vectors"),
    "knowledge.jsonl": (8, "knowledge"),
    "index/s1.snapshot": (16, "index"),
    "index/cold/g1/texts/meta.json": (32, "index"),
    "sessions/s1.json": (64, "sessions"),
    "extraction/s1.json": (128, "sessions"),
    "LOCK": (256, "other"),
    "segments.jsonl.damaged": (512, "other"),
}


def test_every_byte_counts_once(tmp_path: Path) -> None:
    expected = dict.fromkeys(("log", "vectors", "knowledge", "index", "sessions", "other"), 0)
    for name, (size, part) in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
        expected[part] += size
    assert store_files.disk_use(tmp_path) == {**expected, "total": 1023}
    assert store_files.size(tmp_path) == 1023


def test_a_missing_folder_takes_no_room(tmp_path: Path) -> None:
    assert set(store_files.disk_use(tmp_path / "none").values()) == {0}
    assert store_files.size(tmp_path / "none") == 0


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_targets_of_links_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "large").write_bytes(bytes(100_000))
    store = tmp_path / "store"
    store.mkdir()
    (store / "sessions").symlink_to(tmp_path / "elsewhere")
    assert store_files.disk_use(store)["total"] < 1000

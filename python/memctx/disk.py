"""Disk usage of a store, and the test whether a folder is one.

>>> import tempfile
>>> from pathlib import Path
>>> folder = Path(tempfile.mkdtemp())
>>> _ = (folder / "segments.jsonl").write_bytes(b"12345")
>>> use(folder)["log"], size(folder)
(5, 5)
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

PARTS = {
    "segments.jsonl": "log",
    "vectors.bin": "vectors",
    "vectors.json": "vectors",
    "vectors.next.bin": "vectors",
    "vectors.next.json": "vectors",
    "knowledge.jsonl": "knowledge",
    "index": "index",
    "sessions": "sessions",
    "extraction": "sessions",
}
"""The part of a store that each file and folder counts as."""


SIGNS = ("LOCK", "segments.jsonl", "knowledge.jsonl")
"""Files of which every store has one."""


def is_store(path: str | PathLike[str]) -> bool:
    """Return whether a folder is a store: whether one was ever opened there."""
    return any(os.path.lexists(os.path.join(path, name)) for name in SIGNS)  # noqa: PTH118 - as below


def use(path: str | PathLike[str]) -> dict[str, int]:
    """Return the bytes of the log, vectors, facts, index, session files and other files, and of all of them."""
    found = dict.fromkeys((*PARTS.values(), "other"), 0)
    for name in _names(path):
        found[PARTS.get(name, "other")] += size(os.path.join(path, name))  # noqa: PTH118 - of many files, quickly
    return {**found, "total": sum(found.values())}


def size(path: str | PathLike[str]) -> int:
    """Return the bytes of a file, or of all files below a folder; 0 for one that is missing or vanishes meanwhile."""
    try:
        found = os.lstat(path)
    except OSError:
        return 0
    if stat.S_ISDIR(found.st_mode):
        return sum(size(os.path.join(path, name)) for name in _names(path))  # noqa: PTH118 - as above
    return found.st_size


def _names(path: str | PathLike[str]) -> list[str]:
    try:
        return os.listdir(path)  # noqa: PTH208 - as above
    except OSError:
        return []

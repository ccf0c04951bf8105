"""How many bytes of a store are what.

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
"""What each file and folder of a store counts as."""


def use(path: str | PathLike[str]) -> dict[str, int]:
    """The bytes of the log, of vectors, facts, index, session files, of whatever else is there, and of all of it."""
    found = dict.fromkeys((*PARTS.values(), "other"), 0)
    for name in _names(path):
        found[PARTS.get(name, "other")] += size(os.path.join(path, name))  # noqa: PTH118 - of many files, quickly
    return {**found, "total": sum(found.values())}


def size(path: str | PathLike[str]) -> int:
    """The bytes of a file, or of all files below a folder. What is not there, or vanishes meanwhile, takes none."""
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

"""Files of a store besides its logs: the JSON files of sessions, such as ``sessions/<id>.json``, and disk usage.

>>> import tempfile
>>> store = Path(tempfile.mkdtemp())
>>> _ = (store / "segments.jsonl").write_bytes(b"12345")
>>> is_store(store), disk_use(store)["log"], size(store)
(True, 5, 5)
"""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from memctx import files
from memctx.errors import StoreError

if TYPE_CHECKING:
    from os import PathLike

# File systems take 255 bytes; some need room for a suffix of their own.
LONGEST_NAME = 180
FOLDERS = ("sessions", "extraction", "imports", "hosts", "replica")
"""Folders of a store that hold JSON files of sessions."""
SEGMENTS, KNOWLEDGE, VECTORS = "segments.jsonl", "knowledge.jsonl", "vectors.bin"
PARTS = {
    SEGMENTS: "log",
    VECTORS: "vectors",
    "vectors.json": "vectors",
    "vectors.next.bin": "vectors",
    "vectors.next.json": "vectors",
    KNOWLEDGE: "knowledge",
    "index": "index",
    "sessions": "sessions",
    "extraction": "sessions",
    "hosts": "sessions",
    "replica": "sessions",
}
"""The part of a store that each file and folder counts as."""


SIGNS = ("LOCK", SEGMENTS, KNOWLEDGE)
"""Files of which every store has one."""


def path_of(store: str | PathLike[str], folder: str, session_id: str, ending: str) -> Path:
    """Return the path of a session's file in a folder of the store; the id may hold any character."""
    name = quote(session_id.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")
    if len(name) > LONGEST_NAME:
        from hashlib import sha256  # noqa: PLC0415 - slow to import

        digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: LONGEST_NAME - 33]}~{digest[:32]}"
    return Path(store) / folder / f"{name}{ending}"


def check_folders(store: str | PathLike[str]) -> None:
    """Raise a `StoreError` if a folder of session files is a symbolic link."""
    for folder in FOLDERS:
        _check(Path(store) / folder)


def make_folder(path: Path) -> None:
    """Create a folder of session files if it is missing; raise a `StoreError` if it is a symbolic link."""
    _check(path)
    path.mkdir(mode=0o700, exist_ok=True)


def _check(folder: Path) -> None:
    """Refuse a link: the files behind it are not the store's."""
    if folder.is_symlink():
        raise StoreError(
            f"{folder}: it is a symbolic link; replace it by a directory, or delete it"
        )


def read(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; a `ValueError` if it holds anything else."""
    _check(path.parent)
    try:
        found: Any = json.loads(files.read(path, follow=False).decode("utf-8"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def json_of(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"))  # far quicker than `dump`


def replace(path: Path, document: str, *, is_durable: bool) -> None:
    """Write a file or replace it. If ``is_durable`` it outlasts a power cut once this returns."""
    make_folder(path.parent)
    files.replace(path, document.encode(), sync=is_durable)


def create(path: Path, document: str) -> bool:
    """Write a file durably unless it exists, and return whether it was written."""
    if path.exists():
        return False
    is_first = not path.parent.exists()
    make_folder(path.parent)
    written = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    files.replace(written, document.encode())
    try:
        os.link(written, path)
    except FileExistsError:
        return False
    except OSError:  # no second names on this file system
        if path.exists():
            return False
        written.replace(path)
    finally:
        written.unlink(missing_ok=True)
    files.sync_folder(path.parent)
    if is_first:
        files.sync_folder(path.parent.parent)  # where the folder's own name is
    return True


def is_store(path: str | PathLike[str]) -> bool:
    """Return whether a folder is a store: whether one was ever opened there."""
    return any(os.path.lexists(os.path.join(path, name)) for name in SIGNS)  # noqa: PTH118 - as below


def disk_use(path: str | PathLike[str]) -> dict[str, int]:
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

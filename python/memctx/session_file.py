"""Small JSON files of a session, such as ``sessions/<id>.json`` of the store, replaced as a whole."""

from __future__ import annotations

import json
import os
import threading
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from memctx import durable
from memctx.errors import StoreError

if TYPE_CHECKING:
    from os import PathLike

# File systems take 255 bytes; some need room for a suffix of their own.
LONGEST_NAME = 180
FOLDERS = ("sessions", "extraction", "imports")
"""Folders of a store that hold such files."""


def path_of(store: str | PathLike[str], folder: str, session_id: str, ending: str) -> Path:
    """Return the path of a session's file in a folder of the store; the id may hold any character."""
    name = quote(session_id.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")
    if len(name) > LONGEST_NAME:
        digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: LONGEST_NAME - 33]}~{digest[:32]}"
    return Path(store) / folder / f"{name}{ending}"


def check_folders(store: str | PathLike[str]) -> None:
    """Raise a `StoreError` if a folder of such files is a symbolic link."""
    for folder in FOLDERS:
        _check(Path(store) / folder)


def make_folder(path: Path) -> None:
    """Create the folder of such files if it is missing; raise a `StoreError` if it is a symbolic link."""
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
        found: Any = json.loads(durable.read(path, follow=False).decode("utf-8"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def json_of(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"))  # far quicker than `dump`


def replace(path: Path, document: str, *, is_durable: bool) -> None:
    """Write a file or replace it. If ``is_durable`` it outlasts a power cut once this returns."""
    make_folder(path.parent)
    durable.replace(path, document.encode(), sync=is_durable)


def create(path: Path, document: str) -> bool:
    """Write a file durably unless it exists, and return whether it was written."""
    if path.exists():
        return False
    is_first = not path.parent.exists()
    make_folder(path.parent)
    written = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    durable.replace(written, document.encode())
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
    durable.sync_folder(path.parent)
    if is_first:
        durable.sync_folder(path.parent.parent)  # where the folder's own name is
    return True

"""Small files of a session, such as ``sessions/<id>.json`` of the store, replaced as a whole."""

from __future__ import annotations

import json
import os
import threading
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from memctx import durable

if TYPE_CHECKING:
    from os import PathLike

# File systems take 255 bytes; some need room for a suffix of their own.
LONGEST_NAME = 180


def path_of(store: str | PathLike[str], folder: str, session_id: str, ending: str) -> Path:
    """The file of a session, whose id may hold anything, in a folder of the store."""
    name = quote(session_id.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")
    if len(name) > LONGEST_NAME:
        digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: LONGEST_NAME - 33]}~{digest[:32]}"
    return Path(store) / folder / f"{name}{ending}"


def read(path: Path) -> dict[str, Any]:
    """The JSON object in a file; a `ValueError` if it holds anything else."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def json_of(value: object) -> str:
    """A value as JSON, in as few characters as it takes."""
    return json.dumps(value, separators=(",", ":"))  # far quicker than `dump`


def replace(path: Path, document: str, *, is_durable: bool) -> None:
    """Write a file or replace it. If ``is_durable`` it outlasts a power cut once this returns."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    durable.replace(path, document.encode(), sync=is_durable)


def create(path: Path, document: str) -> bool:
    """Write a file durably if there is none; False if there is one, whoever was quicker."""
    if path.exists():
        return False
    is_first = not path.parent.exists()
    path.parent.mkdir(mode=0o700, exist_ok=True)
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

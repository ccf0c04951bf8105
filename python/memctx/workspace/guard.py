"""Reading the files of a folder and no others: links that lead out of it are refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from memctx.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 64 * 1024 * 1024


def inside(root: Path, path: Path) -> Path:
    """Where a path really leads, if that is inside of ``root``.

    Raises:
        StoreError: it leads out of it.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise StoreError(f"{path}: leads out of the workspace; expected a file below {root}")
    return real


def read(root: Path, path: Path) -> bytes:
    """The bytes of a file inside of ``root``.

    Raises:
        FileNotFoundError: there is none.
        StoreError: it leads out of the folder, is no plain file, is too large, or cannot be read.
    """
    real = inside(root, path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(real, flags | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(f"{path}: expected a plain file")
        if found.st_size > LARGEST:
            raise StoreError(f"{path}: {found.st_size} bytes; expected at most {LARGEST}")
        # Whoever put a link into the path while we looked would have led us elsewhere.
        inside(root, path)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    finally:
        os.close(descriptor)


def text_of(data: bytes) -> str:
    """The text of a file, whatever its bytes are."""
    return data.decode("utf-8-sig", "replace")


def notes(root: Path, folder: str) -> Iterator[Path]:
    """The Markdown files below a folder of the workspace, by name."""
    try:
        top = inside(root, root / folder)
    except StoreError:
        return
    for where, folders, names in os.walk(top):  # it follows no links
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(".md") and not name.startswith("."):
                yield root / folder / (Path(where) / name).relative_to(top)

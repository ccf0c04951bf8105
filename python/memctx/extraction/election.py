"""`Seat`: of all processes that have a session open, one at a time extracts from it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memctx import session_file
from memctx.extraction.cursor import FOLDER

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path


class Seat:
    """The right to work, taken only while there is work. The kernel gives it back when its holder dies."""

    def __init__(self, store: Path, session_id: str) -> None:
        self._path = session_file.path_of(store, FOLDER, session_id, ".lock")
        self._handle: int | None = None
        self._holder = 0

    @property
    def is_taken(self) -> bool:
        """Whether it is ours."""
        return self._handle is not None

    def take(self) -> bool:
        """Take it if it is free; whether it is ours now."""
        if self._handle is not None:
            return True
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self._path, flags, 0o600)
        try:
            _lock(handle)
        except (BlockingIOError, PermissionError):
            os.close(handle)
            return False
        except BaseException:
            os.close(handle)
            raise
        self._handle, self._holder = handle, os.getpid()
        return True

    def leave(self) -> None:
        """Give it back. In a forked child it is the parent's, and stays so."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        try:
            if self._holder == os.getpid():
                # Closing is not enough: a child that was forked meanwhile has the file open too.
                _unlock(handle)
        finally:
            os.close(handle)


def _lock(handle: int) -> None:
    """Lock a file, or raise an `OSError` at once."""
    if sys.platform == "win32":
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(handle: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_UN)

"""`SentBlocks`: keys of the recalled blocks that a session has sent, which tell them from text that reads like one.

A host may keep sent messages in its history, and pass the blocks back in a later turn, in another process or after a
restart. So the key of every block is in a small file, written before the block is sent: a line each, append-only.
"""

from __future__ import annotations

import logging
import os
import stat
from typing import TYPE_CHECKING

from memctx import _core, store_files
from memctx.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

logger = logging.getLogger("memctx.context")

PRIVATE = 0o600
# A path that was replaced by a pipe or a link must neither block nor lead elsewhere.
FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class SentBlocks:
    """Keys of the blocks of one session. Several processes may add to them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: set[int] = set()
        self._read = 0
        self._is_failing = False

    @property
    def keys(self) -> frozenset[int]:
        """Keys of all known blocks."""
        return frozenset(self._keys)

    def refresh(self) -> list[int]:
        """Read the lines appended since the last call, and return the new keys."""
        try:
            if self._path.stat().st_size == self._read:
                return []
            lines = self._read_appended()
        except FileNotFoundError:
            return []
        except OSError as error:
            self._report(error)
            return []
        keys = {key for line in lines if (key := _parse_key(line)) is not None} - self._keys
        self._keys |= keys
        return list(keys)

    def add(self, texts: Iterable[str]) -> list[int]:
        """Append the blocks that are not known yet, and return their keys."""
        keys = list(dict.fromkeys(map(_core.text_key, texts)))
        new = [key for key in keys if key not in self._keys]
        if new:
            self._keys.update(new)
            try:
                self._append("".join(f"{key:016x}\n" for key in new).encode())
            except (OSError, StoreError) as error:  # this process still knows them
                self._report(error)
        return new

    def _read_appended(self) -> list[bytes]:
        """Return the lines after those already read; all of them if the file was replaced."""
        descriptor = os.open(self._path, os.O_RDONLY | FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(f"{self._path} is not a regular file")
            if found.st_size >= self._read:
                file.seek(self._read)
            data = file.read()
            self._read = file.tell()
        return data.split(b"\n")

    def _append(self, lines: bytes) -> None:
        store_files.make_folder(self._path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | FLAGS
        descriptor = os.open(self._path, flags, PRIVATE)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{self._path} is not a regular file")
            os.write(descriptor, lines)
        finally:
            os.close(descriptor)

    def _report(self, error: OSError | StoreError) -> None:
        if not self._is_failing:
            logger.warning(
                "%s: blocks sent by other processes are not recognized: %s", self._path, error
            )
        self._is_failing = True


def _parse_key(line: bytes) -> int | None:
    """Return the key in a line; None if the line is torn or damaged."""
    try:
        return int(line, 16) if len(line) == 16 else None  # noqa: PLR2004 - 64 bits
    except ValueError:
        return None

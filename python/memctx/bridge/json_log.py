"""`JsonLog`: a file of JSON lines that several processes append to and follow."""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any

from memctx import files
from memctx.config import DiskSettings
from memctx.errors import StoreError, UnsupportedVersionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

logger = logging.getLogger("memctx.integrations")

VERSION = 1


class JsonLog:
    """Appends values to a file, one line each, and gives everything in it to a reader, once and in order.

    A value is on disk when `append` returns. A line that a dying process left unfinished is closed by the next writer
    and skipped by readers. The first line identifies the file: after `rewrite` every reader begins again.

    >>> import tempfile, pathlib
    >>> seen = []
    >>> log = JsonLog(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl", "items", read=seen.append, reset=seen.clear)
    >>> log.append(lambda: [{"port": 8443}])
    >>> seen
    [{'port': 8443}]
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        *,
        read: Callable[[Any], object],
        reset: Callable[[], object],
        disk: DiskSettings | None = None,
    ) -> None:
        """Keep the settings; nothing is opened.

        ``read`` is called with each value; a line that it refuses is skipped. ``reset`` is called where the file was
        replaced and is read again from its beginning.
        """
        self.path = path
        self.damaged = 0
        """Lines that could not be read."""
        self._kind = kind
        self._read = read
        self._reset = reset
        disk = disk or DiskSettings()
        self._sync = disk.durability == "fsync"
        self._lock_timeout = disk.lock_timeout
        self._first = b""
        self._offset = 0
        self._stamp: tuple[int, int, int] | None = None

    def follow(self) -> None:
        """Read what was appended since the last call.

        Raises:
            UnsupportedVersionError: a newer memctx wrote the file.
            StoreError: it cannot be read.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            if self._first:
                self._begin_again()
            return
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return
        try:
            with files.reading(self.path) as file:
                first = file.readline()
                if first.endswith(b"\n"):
                    if first != self._first or found.st_size < self._offset:
                        self._begin_again()
                        self._begin(first)
                    file.seek(self._offset)
                    self._take(file.read())
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from error
        self._stamp = stamp

    def append(self, make: Callable[[], Iterable[object]], *, sync: bool = True) -> None:
        """Append the values that a function returns; it is called when everything before them is read.

        All of them are written, or none. With ``sync`` False the disk is not waited for.

        Raises:
            TypeError: a value is not JSON.
            StoreError: nothing was written.
        """
        self._make_folder()
        with files.held(self.path, timeout=self._lock_timeout) as file:
            self.follow()
            lines = b"".join(map(_line, make()))
            if lines:
                start = b"" if file.size else self._header()
                file.append(start + lines, sync=sync and self._sync)
                self.follow()

    def rewrite(self, make: Callable[[], Iterable[object]]) -> None:
        """Replace all lines by those of the values that a function returns, in this process and all others."""
        self._make_folder()
        with files.held(self.path, timeout=self._lock_timeout) as file:
            self.follow()
            file.replace(self._header() + b"".join(map(_line, make())), sync=self._sync)
        self.follow()

    def _begin(self, first: bytes) -> None:
        """Check the first line of the file."""
        try:
            version = json.loads(first)["version"]
        except (ValueError, TypeError, LookupError):
            self.damaged += 1
            version = VERSION
        if version != VERSION:
            raise UnsupportedVersionError(
                f"{self.path}: its version is {version!r}; expected {VERSION}"
            )
        self._first, self._offset = first, len(first)

    def _take(self, data: bytes) -> None:
        """Give whole lines to the reader; what follows the last of them is read later."""
        end = data.rfind(b"\n") + 1
        before = self.damaged
        for line in data[:end].splitlines():
            try:
                self._read(json.loads(line))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                self.damaged += 1
        self._offset += end
        if self.damaged > before:
            logger.warning("%s: %d lines cannot be read", self.path, self.damaged)

    def _begin_again(self) -> None:
        self._first, self._offset, self._stamp = b"", 0, None
        self.damaged = 0
        self._reset()

    def _header(self) -> bytes:
        return _line({"memctx": self._kind, "version": VERSION, "file": os.urandom(8).hex()})

    def _make_folder(self) -> None:
        folder = self.path.parent
        if not folder.exists():
            files.make_folder(folder)
            files.sync_folder(folder.parent)


def _line(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return f"{json.dumps(value, separators=(',', ':'))}\n".encode()

"""Files that a crash does not break: lines are appended whole, a file is replaced as a whole.

Several processes may append to one file. Each holds a lock on the file itself while it writes; whoever waited for the
lock looks whether the path still stands for that file.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memctx.errors import StoreError, StoreLockedError

if TYPE_CHECKING:
    from collections.abc import Generator

if sys.platform != "win32":
    import fcntl

SECONDS_TO_WAIT = 5.0
PRIVATE = 0o600

_sync_data = getattr(os, "fdatasync", os.fsync)


class Identity(NamedTuple):
    """Which file it is, whatever its name."""

    device: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Identity:
        """The identity of a file that was looked at."""
        return cls(found.st_dev, found.st_ino)


class Held:
    """A file that is open for appending and locked."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @property
    def identity(self) -> Identity:
        """Which file it is."""
        return Identity.of(os.fstat(self.descriptor))

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return os.fstat(self.descriptor).st_size

    def is_torn(self) -> bool:
        """Whether its last line lacks its end: a writer died."""
        try:
            if self.size == 0:
                return False
            os.lseek(self.descriptor, -1, os.SEEK_END)
            return os.read(self.descriptor, 1) != b"\n"
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from error

    def append(self, lines: bytes, *, sync: bool = True) -> bytes:
        """Write lines, each with its end, behind all others; all of them, or none and a `StoreError`.

        A last line that lacks its end is closed first. Nothing that was there changes. Gives what was written.
        """
        before = self.size
        data = b"\n" + lines if self.is_torn() else lines
        view = memoryview(data)
        written = 0
        try:
            while written < len(data):
                written += os.write(self.descriptor, view[written:])
            if sync:
                _sync_data(self.descriptor)
                if before == 0:
                    sync_folder(self.path.parent)
        except BaseException as error:
            # After a sync that failed the kernel may have dropped what it could not write: only writing it again helps.
            self._take_back(before, written)
            if isinstance(error, OSError):
                raise StoreError(f"{self.path}: nothing was written: {error}") from error
            raise
        return data

    def _take_back(self, before: int, written: int) -> None:
        """Cut off what was written, unless somebody who takes no lock has written behind it."""
        with contextlib.suppress(OSError):  # then the next writer closes the line
            if self.size == before + written:
                os.ftruncate(self.descriptor, before)


@contextlib.contextmanager
def held(path: Path, *, timeout: float = SECONDS_TO_WAIT) -> Generator[Held, None, None]:
    """Open a file for appending, made if it is missing, and lock it against every other writer.

    Raises:
        StoreLockedError: another process held it for all of ``timeout`` seconds.
        StoreError: it cannot be opened.
    """
    deadline = time.monotonic() + timeout
    while True:
        descriptor = _opened(path)
        try:
            _lock(path, descriptor, deadline)
            if _stands_for(path, descriptor):
                yield Held(path, descriptor)
                return
        finally:
            os.close(descriptor)


def append(path: Path, lines: bytes, *, sync: bool = True) -> None:
    """Append whole lines to a file, made if it is missing."""
    with held(path) as file:
        file.append(lines, sync=sync)


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Put a file in the place of another: readers see the old one or the new one, also after a crash."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        Path(name).replace(path)
        if sync:
            sync_folder(path.parent)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(f"{path}: not replaced: {error}") from error
        raise


def make_folder(path: Path) -> None:
    """Make a folder that is ours alone, and the folders it stands in."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: no folder: {error}") from error


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk, where the system can say so."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, PRIVATE)
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened for writing: {error}") from error


def _lock(path: Path, descriptor: int, deadline: float) -> None:
    if sys.platform == "win32":
        return  # appends of several processes still do not mix
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreLockedError(f"{path}: another process is writing to it") from None
            time.sleep(0.001)  # longer, and a busy writer would always be quicker
        else:
            return


def _stands_for(path: Path, descriptor: int) -> bool:
    """Whether a path still names the file that is open: it may have been replaced while we waited."""
    try:
        return Identity.of(path.stat()) == Identity.of(os.fstat(descriptor))
    except FileNotFoundError:
        return False

"""Crash-safe writes to the files of hosts and to small files of a store: replaced as a whole, or appended to by lines.

The logs of a store are written by the core alone. Several processes may append to one file of a host. Each locks the
file itself while it writes, and checks afterwards that the path still names that file. A lock on Windows also stops
readers, and an open file cannot be replaced there: the lock is on a hidden file beside it instead.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memctx import _core
from memctx.errors import StoreError, StoreLockedError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from io import BufferedReader
    from pathlib import Path

if sys.platform != "win32":
    import fcntl

SECONDS_TO_WAIT = 5.0
PRIVATE = 0o600

_has_flock = sys.platform != "win32"
_CLOSED = -1
_NOT_TEXT = getattr(os, "O_BINARY", 0)
_sync_data = getattr(os, "fdatasync", os.fsync)
_open: set[Held] = set()
"""Files that are open now. Their locks would outlive this process in a forked child that kept a copy."""


class Identity(NamedTuple):
    """The identity of a file, whatever its name."""

    device: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Identity:
        """Return the identity in the result of a ``stat`` call."""
        return cls(found.st_dev, found.st_ino)


class Held:
    """A file that is open for appending and locked."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        _open.add(self)

    @property
    def identity(self) -> Identity:
        """The identity of the file."""
        return Identity.of(os.fstat(self.descriptor))

    @property
    def size(self) -> int:
        """The number of bytes in the file."""
        return os.fstat(self.descriptor).st_size

    def is_current(self) -> bool:
        """Return whether the path still names this file, which may have been replaced meanwhile."""
        try:
            return Identity.of(self.path.stat()) == self.identity
        except FileNotFoundError:
            return False

    def is_torn(self) -> bool:
        """Return whether the last line lacks its end because a writer died."""
        try:
            if self.size == 0:
                return False
            os.lseek(self.descriptor, -1, os.SEEK_END)
            return os.read(self.descriptor, 1) != b"\n"
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from error

    def append(self, lines: bytes, *, sync: bool = True) -> bytes:
        """Append lines, each with its end; all of them, or none and a `StoreError`.

        A last line that lacks its end is closed first. Nothing before it changes. Return the bytes written.
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

    def replace(self, data: bytes, *, sync: bool = True) -> None:
        """Replace the file as `replace` does; nothing can be appended to this object afterwards."""
        if not _has_flock:
            self.close()
        replace(self.path, data, sync=sync)

    def close(self) -> None:
        """Unlock and close the file, unless it is closed."""
        if self.descriptor != _CLOSED:
            _open.discard(self)
            if sys.platform != "win32":
                fcntl.flock(self.descriptor, fcntl.LOCK_UN)  # a forked child may have a copy
            os.close(self.descriptor)
            self.descriptor = _CLOSED

    def leave(self) -> None:
        """Close the file in a forked child, in which no thread has it; it stays locked in the parent."""
        os.close(self.descriptor)
        self.descriptor = _CLOSED

    def _take_back(self, before: int, written: int) -> None:
        """Cut off what was written, unless a process that takes no lock has written behind it."""
        with contextlib.suppress(OSError):  # then the next writer closes the line
            if self.size == before + written:
                os.ftruncate(self.descriptor, before)


@contextlib.contextmanager
def held(path: Path, *, timeout: float = SECONDS_TO_WAIT) -> Generator[Held, None, None]:
    """Open a file for appending, created if missing, and lock it against every other writer.

    Raises:
        StoreLockedError: another process held it for all of ``timeout`` seconds.
        StoreError: it cannot be opened.
    """
    deadline = time.monotonic() + timeout
    with _lock_beside(path, deadline):
        while True:
            with contextlib.closing(Held(path, _opened(path))) as file:
                if _has_flock:
                    _wait_for(partial(_flock, file.descriptor), path, deadline)
                if file.is_current():
                    yield file
                    return


def _leave_open_files() -> None:
    while _open:
        _open.pop().leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_open_files)


def append(path: Path, lines: bytes, *, sync: bool = True) -> None:
    """Append whole lines to a file, created if missing."""
    with held(path) as file:
        file.append(lines, sync=sync)


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Replace a file: readers see the old one or the new one, also after a crash."""
    # As `tempfile` does, which is slow to import.
    name = path.parent / f".{os.urandom(8).hex()}.tmp"
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | _NOT_TEXT, PRIVATE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        name.replace(path)
        if sync:
            sync_folder(path.parent)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(f"{path}: not replaced: {error}") from error
        raise


def make_folder(path: Path) -> None:
    """Create a folder that only its owner may use, and its parents."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: no folder: {error}") from error


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk, where the system supports that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def opened(path: Path, flags: int, *, follow: bool = True) -> int:
    """Open a regular file and return its descriptor; ``follow`` also through a symbolic link.

    A FIFO, a device or a folder in its place is an `OSError` at once: opening one may wait for ever.
    """
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    refused = OSError(errno.EINVAL, "it is not a regular file; move it away", str(path))
    try:
        descriptor = os.open(path, flags, PRIVATE)
    except OSError as error:
        if error.errno in {errno.ENXIO, errno.EISDIR}:
            raise refused from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise refused
    return descriptor


def reading(path: Path, *, follow: bool = True) -> BufferedReader:
    """Open a regular file to read it, as `opened` does."""
    return os.fdopen(opened(path, os.O_RDONLY, follow=follow), "rb")


def read(path: Path, *, follow: bool = True) -> bytes:
    """Return all bytes of a regular file."""
    with reading(path, follow=follow) as file:
        return file.read()


def _opened(path: Path) -> int:
    try:
        return opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened for writing: {error}") from error


@contextlib.contextmanager
def _lock_beside(path: Path, deadline: float) -> Generator[None, None, None]:
    """Hold the lock on the hidden file beside a file, where the file itself is not locked."""
    if _has_flock:
        yield
        return
    lease = _core.Lease(path.with_name(f".{path.name}.lock"))
    try:
        _wait_for(lease.acquire, path, deadline)
    except OSError as error:
        raise StoreError(f"{path}: cannot be locked: {error}") from error
    try:
        yield
    finally:
        lease.release()


def _flock(descriptor: int) -> bool:
    """Lock an open file unless another process has; return whether it is locked."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _wait_for(acquire: Callable[[], bool], path: Path, deadline: float) -> None:
    while not acquire():
        if time.monotonic() > deadline:
            raise StoreLockedError(f"{path}: another process is writing to it")
        time.sleep(0.001)  # longer, and a busy writer would always be quicker

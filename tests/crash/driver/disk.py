"""Model of a directory: its contents after system calls, and what a power cut must leave of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trace import Call

WAYS = ("kill", "cut", "zero", "half", "strict")
"""Data left by a power cut: all writes; unsynced bytes gone, zeroed or half there; and unsynced names gone too."""


@dataclass
class File:
    """Bytes of a file, and the synced ones."""

    data: bytearray = field(default_factory=bytearray)
    durable: bytes = b""


@dataclass
class Handle:
    """An open file."""

    file: File
    appends: bool
    offset: int = 0


class Disk:
    """Files below a root, by path."""

    def __init__(self, root: Path, start: Path) -> None:
        """Begin with the contents of ``start``, as if they were at ``root``."""
        self._root = str(root)
        self.files: dict[str, File] = {}
        self.unmodeled: set[str] = set()
        self._folders = {self._root}
        self._handles: dict[str, Handle] = {}
        for path in start.rglob("*"):
            place = str(root / path.relative_to(start))
            if path.is_dir():
                self._folders.add(place)
            else:
                data = path.read_bytes()
                self.files[place] = File(bytearray(data), data)
        self._durable = dict(self.files)

    def apply(self, call: Call, cut: int | None = None) -> bool:  # noqa: PLR0911 - one for each kind
        """Apply a call and return whether it changed the directory; ``cut`` takes only so many bytes of a write."""
        if call.result < 0:
            return False
        match call.name:
            case "openat" | "open" | "creat":
                return self._open(call)
            case "write" | "pwrite64" | "writev" | "pwritev":
                return self._write(call, cut)
            case "fsync" | "fdatasync" | "syncfs" | "sync":
                return self._sync(call)
            case "ftruncate":
                return self._truncate(call)
            case "rename" | "renameat" | "renameat2" | "link" | "linkat":
                return self._rename(call)
            case "unlink" | "unlinkat":
                return self.files.pop(call.paths[0], None) is not None
            case _:
                self._note(call)
                return False

    def lay(self, target: Path, way: str) -> None:
        """Write what a power cut leaves, in one of the `WAYS`."""
        shutil.rmtree(target, ignore_errors=True)
        for folder in sorted(self._folders):
            (target / os.path.relpath(folder, self._root)).mkdir(parents=True, exist_ok=True)
        for path, file in (self._durable if way == "strict" else self.files).items():
            data = bytes(file.data) if way == "kill" else _left(file, way)
            (target / os.path.relpath(path, self._root)).write_bytes(data)

    def _inside(self, path: str | None) -> bool:
        return path is not None and (path == self._root or path.startswith(f"{self._root}/"))

    def _note(self, call: Call) -> None:
        """Follow handles and folders, which change no file."""
        handle = call.handle or ""
        match call.name:
            case "dup" | "dup2" | "dup3" | "fcntl":
                is_copy = call.name != "fcntl" or b"DUPFD" in call.arguments
                if handle in self._handles and is_copy:
                    self._handles[str(call.result)] = self._handles[handle]
            case "close":
                self._handles.pop(handle, None)
            case "lseek" if handle in self._handles:
                self._handles[handle].offset = call.result
            case "mkdir" | "mkdirat":
                self._folders.update(path for path in call.paths[:1] if self._inside(path))
            case "mmap" if b"MAP_SHARED" in call.arguments and b"PROT_WRITE" in call.arguments:
                self.unmodeled.update(path for path in call.paths if self._inside(path))
            case "fallocate":
                self.unmodeled.add("fallocate")

    def _open(self, call: Call) -> bool:
        path = call.opened
        if path is None or not self._inside(path) or b"O_DIRECTORY" in call.arguments:
            self._handles.pop(str(call.result), None)
            return False
        if path in self._folders:
            return False
        is_new = path not in self.files
        file = self.files.setdefault(path, File())
        is_emptied = b"O_TRUNC" in call.arguments and bool(file.data)
        if is_emptied:
            file.data = bytearray()
        self._handles[str(call.result)] = Handle(file, b"O_APPEND" in call.arguments)
        return is_new or is_emptied

    def _write(self, call: Call, cut: int | None) -> bool:
        handle = self._handles.get(call.handle or "")
        if handle is None or not self._inside(call.path):
            return False
        written = b"".join(call.texts)[: call.result][:cut]
        data, is_placed = handle.file.data, call.name.startswith("pwrite")
        at = call.last if is_placed else len(data) if handle.appends else handle.offset
        data.extend(bytes(max(0, at - len(data))))
        data[at : at + len(written)] = written
        if not is_placed:
            handle.offset = at + len(written)
        return True

    def _sync(self, call: Call) -> bool:
        if call.name in {"sync", "syncfs"}:
            for file in self.files.values():
                file.durable = bytes(file.data)
            self._durable = dict(self.files)
            return True
        if handle := self._handles.get(call.handle or ""):
            handle.file.durable = bytes(handle.file.data)
            return True
        if not self._inside(call.path):
            return False
        for path in {*self.files, *self._durable}:  # the names in a folder
            if str(Path(path).parent) == call.path:
                if path in self.files:
                    self._durable[path] = self.files[path]
                else:
                    self._durable.pop(path, None)
        return True

    def _truncate(self, call: Call) -> bool:
        handle = self._handles.get(call.handle or "")
        if handle is None:
            return False
        data = handle.file.data
        handle.file.data = data[: call.last] + bytes(max(0, call.last - len(data)))
        return True

    def _rename(self, call: Call) -> bool:
        source, target = call.paths[:2]
        if not self._inside(target):
            return False
        if source.startswith("/proc/self/fd/"):
            handle = self._handles.get(Path(source).name)
            file = handle.file if handle else None
        else:
            file = self.files.get(source)
        if file is None:
            return False
        self.files[target] = file
        if call.name.startswith("rename"):
            self.files.pop(source, None)
        return True


def _left(file: File, way: str) -> bytes:
    """Return what a power cut leaves of a file: synced bytes are unchanged."""
    durable, data = file.durable, bytes(file.data)
    grown = max(0, len(data) - len(durable))
    if way == "zero":  # the size reached the disk, the bytes did not
        return durable + bytes(grown)
    if way == "half":  # the first half of what changed did
        middle = len(durable) // 2
        kept = data[:middle] + durable[middle:] if len(data) >= len(durable) else durable
        return kept + data[len(durable) : len(durable) + grown // 2]
    return durable

"""System calls of a process, parsed from strace."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = (
    "openat,write,pwrite64,writev,pwritev,fsync,fdatasync,syncfs,sync,renameat,renameat2,linkat,unlinkat,ftruncate,"
    "fallocate,lseek,close,dup,dup3,fcntl,mkdirat,mmap"
)
OLD_CALLS = ",open,creat,rename,link,unlink,dup2,mkdir"  # which newer processors do not have
LINE = re.compile(rb"^\d+\s+(\w+)\((.*)\)\s+= (-?\d+)(.*)$", re.DOTALL)
BEGUN = re.compile(rb"^(\d+)\s+(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(rb"^(\d+)\s+<\.\.\. \w+ resumed>(.*)$")
STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
HANDLE = re.compile(rb"^(-?\d+|AT_FDCWD)(?:<((?:[^>\\]|\\.)*)>)?")
FOLDERS = re.compile(rb"(?:\d+|AT_FDCWD)<((?:[^>\\]|\\.)*)>")
OPENED = re.compile(rb"<((?:[^>\\]|\\.)*)>")
LAST = re.compile(rb", (\d+)$")


@dataclass(frozen=True)
class Call:
    """A call that returned: its name, arguments, result, and the annotation of strace."""

    name: str
    arguments: bytes
    result: int
    rest: bytes

    @property
    def texts(self) -> list[bytes]:
        """Arguments that are strings or buffers."""
        return [unescaped(text) for text in STRING.findall(self.arguments)]

    @property
    def handle(self) -> str | None:
        """First argument, if it is a file handle."""
        found = HANDLE.match(self.arguments)
        return found[1].decode() if found else None

    @property
    def path(self) -> str | None:
        """Path of that handle."""
        found = HANDLE.match(self.arguments)
        if not found or not found[2]:
            return None
        return os.fsdecode(unescaped(found[2])).removesuffix(" (deleted)")

    @property
    def opened(self) -> str | None:
        """Path of the returned handle."""
        found = OPENED.match(self.rest)
        return os.fsdecode(unescaped(found[1])) if found else None

    @property
    def paths(self) -> list[str]:
        """Arguments that are paths, each below the folder of its handle."""
        bases = [os.fsdecode(unescaped(each)) for each in FOLDERS.findall(self.arguments)] or [
            str(Path.cwd())
        ]
        names = [os.fsdecode(text) for text in self.texts]
        return [
            os.path.normpath(os.path.join(bases[min(place, len(bases) - 1)], name))  # noqa: PTH118
            for place, name in enumerate(names)
        ]

    @property
    def last(self) -> int:
        """Last argument, a number."""
        found = LAST.search(self.arguments)
        if found is None:
            raise ValueError(f"{self.name}{self.arguments!r} does not end with a number")
        return int(found[1])


def traced() -> str:
    """Return the calls to trace on this machine."""
    return CALLS + (OLD_CALLS if os.uname().machine == "x86_64" else "")


def calls(path: Path) -> Iterator[Call]:
    """Yield the calls of a trace in the order in which they returned."""
    begun: dict[bytes, bytes] = {}
    with path.open("rb") as lines:
        for raw in lines:
            line = raw.rstrip(b"\n")
            if found := BEGUN.match(line):
                begun[found[1]] = found[2]
                continue
            if found := RESUMED.match(line):
                if found[1] not in begun:
                    continue
                line = found[1] + b" " + begun.pop(found[1]) + found[2]
            if found := LINE.match(line):
                yield Call(found[1].decode(), found[2], int(found[3]), found[4])


def unescaped(text: bytes) -> bytes:
    """Return the bytes behind strace's notation."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text)

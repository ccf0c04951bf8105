"""Toy store for testing the driver, correct or wrong in one way each.

    python toy.py write KIND DIRECTORY TAG COUNT
    python toy.py verify KIND DIRECTORY

``good`` makes a single append under a lock, cuts off a torn tail first and syncs before it acknowledges. The others
each leave something out: ``unsynced`` the sync, ``buffered`` the write itself, ``fused`` the check of the tail,
``careless`` the check for errors; ``in-place`` rewrites the whole file.
"""

import fcntl
import hashlib
import json
import os
import random
import sys
from pathlib import Path
from typing import BinaryIO


def token_of(tag: str, number: int, text: str) -> str:
    """Return a name that no damaged record can have."""
    return f"{tag}.{number}.{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def text_of(tag: str, number: int) -> str:
    chance = random.Random(f"{tag}{number}")
    return "".join(chance.choices('abc é\u2028"\\\n', k=chance.choice([5, 80, 700, 9000])))


def records(path: Path) -> set[str]:
    """Return the tokens of all whole records."""
    found = set()
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            record = json.loads(line)
            tag, number, _ = record["token"].split(".")
            if record["token"] == token_of(tag, int(number), record["text"]):
                found.add(record["token"])
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return found


def cut_tail(handle: int) -> None:
    """Cut off a last line that has no end: it was never acknowledged."""
    size = os.fstat(handle).st_size
    data = os.pread(handle, size, 0)
    if data and not data.endswith(b"\n"):
        os.ftruncate(handle, data.rfind(b"\n") + 1)


def _write_all(handle: int, line: bytes) -> None:
    if os.write(handle, line) != len(line):
        raise OSError("a short write")


class Toy:
    """The store."""

    def __init__(self, kind: str, folder: Path) -> None:
        self._kind, self._folder = kind, folder
        self._path = folder / "records.jsonl"
        self._open: BinaryIO | None = None

    def add(self, line: bytes) -> None:
        if self._kind == "buffered":
            self._open = self._open or self._path.open("ab")
            self._open.write(line)
        elif self._kind == "in-place":
            before = self._path.read_bytes() if self._path.exists() else b""
            self._path.write_bytes(before + line)
        else:
            self._append(line)

    def _append(self, line: bytes) -> None:
        is_new = not self._path.exists()
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if self._kind != "fused":
                cut_tail(handle)
            size = os.fstat(handle).st_size
            try:
                _write_all(handle, line)
                if self._kind != "unsynced":
                    os.fdatasync(handle)
            except OSError:
                if self._kind == "good":
                    os.ftruncate(handle, size)
                raise
            if is_new and self._kind != "unsynced":
                folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
                os.fsync(folder)
                os.close(folder)
        finally:
            os.close(handle)


def write(kind: str, folder: str, tag: str, count: str) -> None:
    store = Toy(kind, Path(folder))
    for number in range(int(count)):
        text = text_of(tag, number)
        token = token_of(tag, number, text)
        print("try", token, flush=True)
        try:
            store.add(
                json.dumps({"token": token, "text": text}, ensure_ascii=False).encode() + b"\n"
            )
        except OSError:
            if kind != "careless":
                print("err", token, flush=True)
                continue
        print("ack", token, flush=True)


def verify(kind: str, folder: str) -> None:
    del kind
    for token in records(Path(folder, "records.jsonl")):
        print("rec", token)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(*sys.argv[2:])
    else:
        verify(*sys.argv[2:])

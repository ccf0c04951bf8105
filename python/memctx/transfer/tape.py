"""`Tape`: a file of a transcript as its readers see it, one line or one object at a time."""

from __future__ import annotations

import gzip
import json
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from memctx.errors import StoreError
from memctx.session.entry import as_object
from memctx.transfer import zstd

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from os import PathLike

# A line that is longer was not written by any host; it is passed over rather than held in memory.
LONGEST_LINE = 64 << 20
CHUNK = 1 << 20
GZIP, BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
# What a file that is damaged, or not what its name says, makes its readers raise.
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeError)


class Tape:
    """One file, plain or compressed, and what was seen of it so far."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.position = 0
        """How many bytes of the file were read; after compression, which is what a progress bar wants."""
        self.damaged = 0
        """Lines and records that could not be read."""
        self.left_out = 0
        """Messages that no person and no model said in this conversation: sidechains, hidden ones, the host's own."""

    @property
    def name(self) -> str:
        """The name of the file without its endings, which stands for a session that has no other."""
        return self.path.name.split(".")[0] or self.path.name

    @contextmanager
    def opened(self) -> Generator[BinaryIO, None, None]:
        """The bytes of the file, decompressed."""
        with self.path.open("rb") as raw:
            magic = raw.read(4)
            raw.seek(0)
            if magic.startswith(GZIP):
                with gzip.open(raw) as file:
                    yield cast("BinaryIO", file)
            elif magic == zstd.MAGIC:
                with zstd.opened(raw, self.path) as file:
                    yield file
            else:
                yield raw

    def lines(self) -> Iterator[bytes]:
        """The lines of the file, without those that nobody could have written."""
        with self.path.open("rb") as raw, self.opened() as file:
            is_plain = raw.read(4)[:2] != GZIP and self.path.suffix != ".zst"
            is_first = True
            while line := file.readline(LONGEST_LINE):
                if is_first:
                    line, is_first = line.removeprefix(BYTE_ORDER_MARK), False
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    while (rest := file.readline(CHUNK)) and not rest.endswith(b"\n"):
                        pass
                    self.damaged += 1
                    continue
                if is_plain:
                    self.position = file.tell()
                yield line

    def objects(self) -> Iterator[dict[str, Any]]:
        """The JSON object of each line; what is none counts as damaged."""
        for line in self.lines():
            if (found := parsed(line)) is not None:
                yield found
            elif line.strip():
                self.damaged += 1

    def document(self) -> Any:  # noqa: ANN401 - any JSON
        """The whole file as one JSON value."""
        with self.opened() as file:
            try:
                return json.load(file)
            except (ValueError, RecursionError) as error:
                raise StoreError(f"{self.path}: expected JSON: {error}") from None


def parsed(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, or None."""
    try:
        return as_object(json.loads(line))
    except (ValueError, RecursionError):
        return None

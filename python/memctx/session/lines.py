"""`EntryReader`: reads a session file line by line, and later what was appended since."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from memctx.errors import StoreError
from memctx.session.entry import parsed
from memctx.session.migrate import Migration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from memctx.session.entry import Entry

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EntryReader:
    """Where in a file the reading is, and what was found so far."""

    def __init__(self) -> None:
        self.migration = Migration()
        self.offset = 0
        """Everything before this byte was read."""
        self.lines = 0
        """How many lines those were."""
        self.skipped = 0
        """How many of them could not be read."""
        self.torn = b""
        """A last line that a writer has not finished."""
        self._is_open = False

    def read(self, file: BinaryIO) -> Iterator[Entry]:
        """The entries behind those that were read before.

        A last line without its end counts if it is whole; otherwise it waits for the writer who closes it.
        """
        file.seek(self.offset)
        return self._read(file)

    def read_written(self, data: bytes) -> Iterator[Entry]:
        """The entries of bytes that were just appended to what was read."""
        return self._read(BytesIO(self.torn + data))

    def _read(self, lines: Iterable[bytes]) -> Iterator[Entry]:
        self.torn = b""
        for raw in lines:
            if self._is_open and raw == b"\n":  # the end of a line that counted already
                self._is_open = False
                self.offset += 1
                continue
            line = raw.removeprefix(BYTE_ORDER_MARK) if self.offset == 0 else raw
            found = parsed(line)
            self._is_open = not raw.endswith(b"\n")
            if found is None and self._is_open:
                self._is_open = False
                self.torn = raw
                return
            self.offset += len(raw)
            self.lines += 1
            if found is not None:
                entry = self.migration.read(found, line.rstrip(b"\r\n"), self.lines)
                if entry is not None:
                    yield entry
            elif line.strip():
                self.skipped += 1
                self.migration.pass_over()


def read_entries(path: str | PathLike[str]) -> Iterator[Entry]:
    r"""The entries of a session file in the order of its lines, one at a time; old versions read as version 3.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "old.jsonl"
    >>> _ = path.write_text('{"role":"user","content":"Which port?","timestamp":"2026-01-26T10:00:00Z"}\n')
    >>> [(entry.type, entry.message["content"]) for entry in read_entries(path)]
    [('message', 'Which port?')]

    Raises:
        StoreError: there is no such file, or it cannot be opened.
    """
    try:
        with Path(path).open("rb") as file:
            yield from EntryReader().read(file)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error

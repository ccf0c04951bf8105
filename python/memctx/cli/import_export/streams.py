"""Bounded reading of files that other programs wrote: limits, Zstandard, JSON lists, SQLite databases."""

from __future__ import annotations

import codecs
import json
import re
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol
from urllib.parse import quote

from memctx.cli.formatting import format_size
from memctx.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

MIB = 1 << 20
# Transcripts compress to a tenth or a thirtieth of their size, archives made to exhaust a reader to a thousandth.
RATIO = 64
MIN_EXPANDED, MAX_EXPANDED = 16 * MIB, 4096 * MIB


class TooLargeError(StoreError):
    """A file holds more than its reader accepts."""


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what is read of one file.

    >>> Limits().expansion(1_000_000), Limits(expanded=5).expansion(1_000_000)
    (64000000, 5)
    """

    value: int = 64 * MIB
    """Bytes of one line, JSON value or record; it is held in memory as a whole."""
    expanded: int | None = None
    """Bytes of a compressed file once decompressed; None for 64 times its size, at least 16 MiB, at most 4 GiB."""

    def __post_init__(self) -> None:
        for name in ("value", "expanded"):
            found = getattr(self, name)
            if found is not None and found < 1:
                raise ConfigError(f"limits.{name} is {found}; expected at least 1 byte")

    def expansion(self, packed: int) -> int:
        """Return how many bytes a compressed file of ``packed`` bytes may expand to."""
        if self.expanded is not None:
            return self.expanded
        return min(max(RATIO * packed, MIN_EXPANDED), MAX_EXPANDED)

    def value_error(self, where: str) -> TooLargeError:
        """Return the error for a value that is longer than `value`."""
        return TooLargeError(
            f"{where}: one value has more than {format_size(self.value)}; not read further; "
            "raise limits.value (--max-value) if the file is trusted"
        )


class Budget:
    """The bytes that the members of one compressed file may still expand to."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._packed = path.stat().st_size
        self._most = self._left = limits.expansion(self._packed)

    def bounded(self, file: Readable, member: str | None = None) -> Bounded:
        """Return a decompressed stream that ends with an error once the budget is spent."""
        return Bounded(file, self, f"{self._path}: {member}" if member else str(self._path))

    def spend(self, size: int, where: str) -> None:
        """Count bytes that were decompressed.

        Raises:
            TooLargeError: they are more than the file may expand to.
        """
        self._left -= size
        if self._left < 0:
            raise TooLargeError(
                f"{where}: {format_size(self._packed)} expand to more than {format_size(self._most)}; "
                "not read further; raise limits.expanded (--max-expanded) if the file is trusted"
            )


class Bounded:
    """A decompressed stream whose bytes are counted."""

    def __init__(self, file: Readable, budget: Budget, where: str) -> None:
        self._file = file
        self._budget = budget
        self._where = where

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, as long as the budget lasts."""
        data = self._file.read(size)
        self._budget.spend(len(data), self._where)
        return data


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_FAULTS = (OSError, EOFError, ValueError)


@contextmanager
def open_zstd(raw: BinaryIO, path: Path) -> Generator[BinaryIO, None, None]:
    """Open a compressed file.

    Raises:
        StoreError: nothing here can decompress it, or it is damaged.
    """
    module = _zstd_module()
    if module is None:
        raise StoreError(f"{path}: compressed with zstd; expected Python 3.14 or zstandard")
    try:
        if hasattr(module, "ZstdFile"):
            with module.ZstdFile(raw) as file:
                yield file
        else:
            with module.ZstdDecompressor().stream_reader(raw) as stream:
                yield BufferedReader(stream)
    except module.ZstdError as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def decompress_zstd(data: bytes, longest: int) -> bytes | None:
    """Return decompressed bytes; None if they are damaged or too many, or no decompressor is installed."""
    try:
        with open_zstd(BytesIO(data), Path("event")) as file:
            found = file.read(longest + 1)
    except (StoreError, *ZSTD_FAULTS):
        return None
    return found if len(found) <= longest else None


def _zstd_module() -> Any:  # noqa: ANN401 - one of two, neither of which need be there
    for name in ("compression.zstd", "zstandard"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


CHUNK = 1 << 20
BETWEEN = " \t\r\n,"
ENDS = (*BETWEEN, "]")
VALUE = re.compile(f"[^{BETWEEN}]")


class JsonList:
    """The values of one long JSON list, read one at a time.

    >>> import io
    >>> list(JsonList(io.BytesIO(b'[1, {"a": [2]}]')))
    [1, {'a': [2]}]
    """

    def __init__(
        self, file: Readable, limits: Limits | None = None, where: str = "the list"
    ) -> None:
        self._file = file
        self._limits = limits or Limits()
        self._where = where
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0

    def __iter__(self) -> Iterator[object]:
        """Yield the values.

        Raises:
            ValueError: it is no list, or lacks its end.
            TooLargeError: one of its values is longer than the limit.
        """
        if self._next() != "[":
            raise ValueError("expected a list")
        self._at += 1
        while self._next() != "]":
            yield self._value()

    def _next(self) -> str:
        """Return the first character of the next value."""
        while True:
            if (found := VALUE.search(self._text, self._at)) is not None:
                self._at = found.start()
                return found[0]
            self._at = len(self._text)
            if not self._has_grown(1):
                raise ValueError("unexpected end")

    def _value(self) -> object:
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except ValueError as error:
                fault = error
            else:
                # A number at the end of the buffer may continue.
                if self._text[end : end + 1] in ENDS:
                    if end - self._at > self._limits.value:
                        raise self._limits.value_error(self._where)
                    self._at = end
                    return value
                fault = ValueError("unexpected end")
            ahead = len(self._text) - self._at
            if ahead > self._limits.value:
                raise self._limits.value_error(self._where)
            # Double the buffer before the next attempt.
            if not self._has_grown(min(2 * ahead, self._limits.value + 1)):
                raise fault

    def _has_grown(self, wanted: int) -> bool:
        """Read until ``wanted`` characters are buffered or the file ends; return whether any were read."""
        ahead = [self._text[self._at :]]
        size = before = len(ahead[0])
        while size < wanted and (chunk := self._file.read(CHUNK)):
            ahead.append(self._bytes.decode(chunk))
            size += len(ahead[-1])
        self._text, self._at = "".join(ahead), 0
        return size > before


SQLITE_MAGIC = b"SQLite format 3\x00"
# SQLite's own maximum.
MAX_LENGTH = 1_000_000_000


@contextmanager
def open_database(path: Path, limits: Limits) -> Generator[sqlite3.Connection, None, None]:
    """Open a SQLite database of another program read-only.

    Raises:
        StoreError: it is damaged, or locked by its own program.
        TooLargeError: one of its values is longer than the limit.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.text_factory = _decode
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(limits.value, MAX_LENGTH))
            yield connection
    except sqlite3.DataError as error:
        raise limits.value_error(str(path)) from error
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def table_columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; none if it does not exist."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return {str(row[0]) for row in rows}


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")

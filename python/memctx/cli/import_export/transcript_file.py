"""`TranscriptFile` and `TranscriptMessage`: the file that a format's reader reads, and the messages that it yields."""

from __future__ import annotations

import gzip
import json
import logging
import re
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.cli.formatting import format_size
from memctx.cli.import_export.streams import ZSTD_MAGIC, Budget, JsonList, Limits, open_zstd
from memctx.errors import StoreError
from memctx.hosts.pi import as_object

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from os import PathLike

    from memctx.cli.import_export.streams import Readable
    from memctx.messages import FormatName

SkipReason: TypeAlias = Literal[
    "host message", "reasoning", "compaction summary", "abandoned branch"
]
"""The reason why a message is not part of the conversation."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message of a transcript.

    >>> TranscriptMessage("s1", "m1", {"role": "user", "content": "Which port?"}).message["content"]
    'Which port?'
    """

    session: str
    """The id of the session, as the host has it."""
    id: str
    """The message's id, as the host has it, or its number in the session."""
    message: dict[str, Any]
    """The message as the model saw it, in a format that `memctx.messages` reads."""
    message_format: FormatName | None = None
    """The format of the message; None to detect it."""
    timestamp: float | None = None
    """Milliseconds since the epoch, if the message has no time of its own."""
    metadata: dict[str, Any] | None = None
    """Metadata of a segment of another store, which is stored unchanged; None for messages of hosts."""
    parent: str | None = None
    """The parent session of a subagent."""
    skip_reason: SkipReason | None = None
    """The reason to skip the message; None to keep it."""
    speech: dict[str, Any] | None = None
    """The message without the host's additions; None if there are none."""


logger = logging.getLogger("memctx.cli.import_export")

CHUNK = 1 << 20
GZIP, BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
# JSON ignores blanks before a value.
LINE = re.compile(rb"\S[^\n]*")
# Runs of blank lines are shortened.
BLANK = re.compile(rb"\n(?:[ \t\r]*\n){3,}")
# Every line of every known host has one of these fields.
FIELDS = frozenset(
    {"type", "id", "uuid", "timestamp", "payload", "instructions", "sessionId", "role", "message"}
    | {"messages", "content", "contents", "parts", "input", "history", "items", "conversation"}
    | {"$set", "$rewindTo"}
)
# After so many consecutive lines without them, a file is no transcript.
MAX_FOREIGN = 100_000
TOO_LONG = "line over the limit (--max-value)"
"""The reason to skip a line that is longer than the limit."""
# Errors raised by reading damaged or mislabeled files.
UNREADABLE = (
    OSError,
    EOFError,
    zlib.error,
    UnicodeError,
    zipfile.BadZipFile,
    NotImplementedError,
)


class TranscriptFile:
    """A transcript file, plain or compressed, with counts of what was read."""

    def __init__(self, path: str | PathLike[str], limits: Limits | None = None) -> None:
        self.path = Path(path)
        self.limits = limits or Limits()
        self.position = 0
        """Bytes of the file read so far, before decompression."""
        self.damaged = 0
        """Lines and records that could not be read."""
        self.skips = Counter[str]()
        """Number of skipped messages, by reason."""
        self.projects: dict[str, str] = {}
        """The folder of each session that tells one."""
        self.titles: dict[str, str] = {}
        """The title of each session that has one."""
        self._has_warned = False

    @property
    def name(self) -> str:
        """The file name without suffixes; the id of a session that has no other."""
        return self.path.name.split(".")[0] or self.path.name

    def describe(self, session: str, *, project: object = None, title: object = None) -> None:
        """Note what the file tells about a session: its first folder and its last title."""
        if isinstance(project, str) and project:
            self.projects.setdefault(session, project)
        if isinstance(title, str) and title.strip():
            self.titles[session] = title

    @contextmanager
    def open(self) -> Generator[Readable, None, None]:
        """Open the file and decompress it within its limits.

        Raises:
            StoreError: it is a pipe or a device.
        """
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path}: cannot be read: expected a regular file")
        with self.path.open("rb") as raw:
            magic = raw.read(4)
            raw.seek(0)
            if magic.startswith(GZIP):
                with gzip.open(raw) as file:
                    yield Budget(self.path, self.limits).bounded(file)
            elif magic == ZSTD_MAGIC:
                with open_zstd(raw, self.path) as file:
                    yield Budget(self.path, self.limits).bounded(file)
            else:
                yield raw

    def members(self, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, Readable]]:
        """Yield the wanted members of a zip archive; they share the limits of the file."""
        budget = Budget(self.path, self.limits)
        try:
            with zipfile.ZipFile(self.path) as archive:
                for name in sorted(filter(is_wanted, archive.namelist())):
                    with archive.open(name) as file:
                        yield name, budget.bounded(file, name)
        except RuntimeError as error:  # it is encrypted
            raise StoreError(f"{self.path}: cannot be read: {error}") from error

    def lines(self, *, keep_blank: bool = False) -> Iterator[bytes]:
        """Yield the lines of the file; blank lines and indentation only on request.

        A line that is longer than the limit is skipped and counted.
        """
        held: list[bytes] = []
        size, is_first, is_too_long = 0, True, False
        with self.open() as file:
            while chunk := file.read(CHUNK):
                if is_first:
                    chunk, is_first = chunk.removeprefix(BYTE_ORDER_MARK), False
                cut = chunk.rfind(b"\n") + 1
                if cut:
                    start = 0
                    if is_too_long:
                        start, is_too_long = chunk.find(b"\n") + 1, False
                        self._skip_long()
                    yield from self._split(b"".join((*held, chunk[start:cut])), keep_blank)
                    held, size = [], 0
                    self.position += cut
                if not is_too_long:
                    held.append(chunk[cut:])
                    size += len(chunk) - cut
                    if size > self.limits.value:
                        held, size, is_too_long = [], 0, True
        if is_too_long:
            self._skip_long()
        yield from self._split(b"".join(held), keep_blank)

    def _split(self, block: bytes, keep_blank: bool) -> Iterator[bytes]:  # noqa: FBT001 - passed on
        found: Iterable[bytes]
        if keep_blank:
            found = BLANK.sub(b"\n\n\n", block).removesuffix(b"\n").split(b"\n") if block else ()
        else:
            found = (match.group() for match in LINE.finditer(block))
        for line in found:
            if len(line) > self.limits.value:
                self._skip_long()
            else:
                yield line

    def _skip_long(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            most = format_size(self.limits.value)
            logger.warning("%s: lines of more than %s are skipped (--max-value)", self.path, most)
        self.skips[TOO_LONG] += 1

    def objects(self) -> Iterator[dict[str, Any]]:
        """Return the JSON object of each line; a line without one counts as damaged."""
        return (found for _, found in self.parse_lines(self.lines()) if found is not None)

    def parse_lines(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
        """Yield each line with its JSON object, or None if it is damaged.

        Raises:
            StoreError: too many consecutive lines are damaged or foreign.
        """
        in_a_row = 0
        for line in lines:
            found = parse_object(line)
            in_a_row = in_a_row + 1 if found is None or FIELDS.isdisjoint(found) else 0
            self.damaged += found is None
            if in_a_row >= MAX_FOREIGN:
                raise StoreError(
                    f"{self.path}: {in_a_row:,} consecutive lines are no transcript; not read further"
                )
            yield line, found

    def document(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the whole file as one JSON value."""
        most = self.limits.value
        with self.open() as file:
            parts, size = list[bytes](), 0
            while size <= most and (chunk := file.read(CHUNK)):
                parts.append(chunk)
                size += len(chunk)
        if size > most:
            raise self.limits.value_error(str(self.path))
        try:
            return json.loads(b"".join(parts).removeprefix(BYTE_ORDER_MARK))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{self.path}: cannot be read: expected JSON: {error}") from None

    def values(self) -> Iterator[object]:
        """Yield the values of a file that is a JSON list, or its single value."""
        with self.open() as file:
            head = file.read(CHUNK).removeprefix(BYTE_ORDER_MARK).lstrip()
        if not head.startswith(b"["):
            yield self.document()
            return
        with self.open() as file:
            try:
                yield from JsonList(file, self.limits, str(self.path))
            except (ValueError, RecursionError) as error:
                raise StoreError(f"{self.path}: cannot be read: expected JSON: {error}") from None

    def read_companion(self, path: Path) -> dict[str, Any] | None:
        """Return the JSON object of another small file of the same transcript; None if it cannot be read."""
        try:
            if path.stat().st_size > self.limits.value:
                raise self.limits.value_error(str(path))
            return parse_object(path.read_bytes())
        except OSError:
            return None


def parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None."""
    try:
        return as_object(json.loads(line))
    except (ValueError, RecursionError):
        return None

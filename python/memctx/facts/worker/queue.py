"""Work queue of a session: the archive itself, and a cursor on disk that says how far facts were extracted from it.

The cursor is ``extraction/<session>.json``. Nothing else is stored, so the file does not grow with the backlog.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memctx import store_files
from memctx.errors import StoreError, UnsupportedVersionError
from memctx.facts.extractors import Message
from memctx.facts.extractors.split import shorten, split
from memctx.facts.worker.progress import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx.facts.worker.log import Archived, SessionLog

FOLDER = "extraction"
VERSION = 1
MAX_DEAD_LETTERS = 1_000
PAGE = 16


@dataclass(frozen=True, slots=True)
class Pending:
    """Amount of archived text that waits for extraction."""

    messages: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages that are extracted from together, in one request or, where one of them is long, in several."""

    start: int
    end: int
    segments: int
    """Number of the session's segments between the two offsets, including those without a message."""
    last: str
    """Id of the last of these segments."""
    checksum: int
    """Checksum of the log before ``end``."""
    pending: Pending
    parts: tuple[tuple[Message, ...], ...]


@dataclass(frozen=True, slots=True)
class FailedBatch:
    """A batch that failed. It is retried with the same segments, whatever was archived since."""

    start: int
    end: int
    segments: int
    """Number of the session's segments between the two offsets."""
    last: str
    """Id of the last of these segments."""
    attempts: int
    malformed: int
    """Number of attempts whose answer could not be used."""
    error: str
    """The last error, without any text of the conversation."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Position in the log up to which a session's facts were extracted, with failed batches and counts."""

    offset: int = 0
    checksum: int = 0
    """Checksum of the log before the offset, by which a replaced log is noticed."""
    last: str | None = None
    """Id of the last segment before the offset; empty if there is none, None if it was not looked up."""
    failed: FailedBatch | None = None
    """The batch at the offset, if it has failed."""
    dead_letters: tuple[FailedBatch, ...] = ()
    """Batches before the offset that were given up."""
    counts: Counts = field(default_factory=Counts)

    @property
    def is_full(self) -> bool:
        """True if no further batch can become a dead letter."""
        return len(self.dead_letters) >= MAX_DEAD_LETTERS

    def to_json(self) -> dict[str, Any]:
        """Return the cursor as a JSON object."""
        return {
            "version": VERSION,
            "offset": self.offset,
            "checksum": self.checksum,
            "last": self.last,
            "failed": None if self.failed is None else astuple(self.failed),
            "dead_letters": [astuple(each) for each in self.dead_letters],
            "counts": self.counts.to_json(),
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Cursor:
        """Return the cursor that `to_json` wrote; raise a `ValueError` for anything else."""
        try:
            return cls(
                offset=_check_offset(found["offset"]),
                checksum=int(found["checksum"]),
                last=None if found["last"] is None else str(found["last"]),
                failed=None if found["failed"] is None else _parse_failed(*found["failed"]),
                dead_letters=tuple(_parse_failed(*each) for each in found["dead_letters"]),
                counts=Counts.from_json(found["counts"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None


def cursor_path(store: Path, session_id: str) -> Path:
    """Return the path of a session's cursor."""
    return store_files.path_of(store, FOLDER, session_id, ".json")


def load_cursor(path: Path, session_id: str) -> Cursor | None:
    """Read the cursor from disk; None if there is none.

    A damaged file is a `ValueError`; that of another session or of a newer memctx is a `StoreError`.
    """
    try:
        found = store_files.read(path)
    except FileNotFoundError:
        return None
    if found.get("session", session_id) != session_id:
        # On a file system that ignores case, one file would have to serve two sessions.
        raise StoreError(f"{path}: belongs to session {found['session']!r}")
    version = found.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UnsupportedVersionError(f"{path}: version {version}; expected {VERSION}")
    return Cursor.from_json(found)


def cursor_stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes whenever the cursor on disk does; None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def save_cursor(path: Path, session_id: str, cursor: Cursor) -> None:
    """Replace the cursor on disk, durably: the log before it is never read again."""
    store_files.replace(path, _document(session_id, cursor), is_durable=True)


def create_cursor(path: Path, session_id: str, cursor: Cursor) -> bool:
    """Write the first cursor of a session; return False if another process was quicker."""
    return store_files.create(path, _document(session_id, cursor))


def _document(session_id: str, cursor: Cursor) -> str:
    return store_files.json_of({"session": session_id, **cursor.to_json()})


def _check_offset(found: int) -> int:
    if (offset := int(found)) < 0:
        raise ValueError(f"offset {offset}; expected 0 or more")
    return offset


def _parse_failed(  # noqa: PLR0913, PLR0917 - the columns of the file
    start: int, end: int, segments: int, last: str, attempts: int, malformed: int, error: str
) -> FailedBatch:
    counts = (int(segments), str(last), int(attempts), int(malformed))
    return FailedBatch(_check_offset(start), _check_offset(end), *counts, str(error))


class Backlog:
    """Reads the log from an offset on. It stores two sums and two offsets, however much is pending."""

    def __init__(self, log: SessionLog, batch_chars: int) -> None:
        self._log = log
        self._batch_chars = batch_chars
        self._from: int = 0
        self._to: int = 0
        self._pending = Pending()

    @property
    def reached(self) -> int:
        """Offset up to which the log has been read."""
        return self._to

    def relocate(self, cursor: Cursor) -> Cursor:
        """Return the cursor, moved to the same segment of the new log if the log was replaced."""
        if self._log.mark(cursor.offset) == cursor.checksum:
            if cursor.last is None:
                return replace(cursor, last=self._log.last_before(cursor.offset) or "")
            return cursor
        # Without the segment before the offset, all of the log may be new: better twice than never.
        offset = (self._log.after(cursor.last) if cursor.last else None) or 0
        checksum = self._log.mark(offset) or 0
        return replace(cursor, offset=offset, checksum=checksum, failed=None)

    def pending(self, offset: int) -> Pending:
        """Count what lies behind an offset; only what was appended since the last call is read."""
        if offset != self._from or self._log.is_shorter_than(self._to):
            self._from = self._to = offset
            self._pending = Pending()
        while True:
            page, end = self._log.read(self._to)
            new = _count_pending(page)
            self._pending = Pending(
                self._pending.messages + new.messages,
                self._pending.characters + new.characters,
            )
            self._to = end
            if not page:
                return self._pending

    def take(self, offset: int) -> Batch | None:
        """Return the next batch behind an offset: as many whole units as fit into one request, or one long message."""
        segments: list[Archived] = []
        characters, at = 0, offset
        while characters <= self._batch_chars:
            page, at = self._log.read(at, PAGE)
            if not page:
                break
            segments += page
            characters += _count_pending(page).characters
        messages = _messages(segments)
        if not messages:
            return None
        parts = split(messages, self._batch_chars)
        few = 1
        # A message that was divided is one batch, with all its parts.
        while few < len(parts) and parts[few][0].segment == parts[few - 1][-1].segment:
            few += 1
        parts = parts[:few]
        last = parts[-1][-1].segment
        count = 1 + next(at for at, segment in enumerate(segments) if segment.id == last)
        return self._batch(offset, segments[:count], parts)

    def take_again(self, failed: FailedBatch) -> Batch | None:
        """Return a failed batch with the segments it had; None if the log no longer has them."""
        offset = failed.start
        segments, end = self._log.read(offset, failed.segments)
        if end != failed.end or not segments or segments[-1].id != failed.last:
            after = self._log.after(failed.last)
            if after is None:
                return None
            offset, segments = self._read_before(after, failed.segments)
        messages = _messages(segments)
        return (
            self._batch(offset, segments, split(messages, self._batch_chars)) if messages else None
        )

    def drop(self, batch: Batch) -> None:
        """Remove a finished batch from the beginning of what is pending."""
        if batch.end >= self._to or batch.start != self._from:
            self._from = self._to = batch.end
            self._pending = Pending()
        else:
            self._from = batch.end
            self._pending = Pending(
                self._pending.messages - batch.pending.messages,
                self._pending.characters - batch.pending.characters,
            )

    def _batch(
        self, offset: int, segments: Sequence[Archived], parts: Sequence[tuple[Message, ...]]
    ) -> Batch:
        _, end = self._log.read(offset, len(segments))
        checksum = self._log.mark(end) or 0
        last, pending = segments[-1].id, _count_pending(segments)
        return Batch(offset, end, len(segments), last, checksum, pending, tuple(parts))

    def _read_before(self, end: int, count: int) -> tuple[int, list[Archived]]:
        """Return the last ``count`` segments before an offset, and the offset of the first of them."""
        found: list[tuple[int, Archived]] = []
        at = 0
        while at < end:
            page, after = self._log.read(at, 1)
            if not page:
                break
            found = [*found[1 - count :], (at, page[0])] if count > 1 else [(at, page[0])]
            at = after
        return found[0][0], [segment for _, segment in found]


def _messages(segments: Sequence[Archived]) -> list[Message]:
    return [
        Message(segment.role, shorten(segment.content), segment.id)
        for segment in segments
        if _is_speech(segment)
    ]


def _count_pending(segments: Sequence[Archived]) -> Pending:
    lengths = [len(segment.content) for segment in segments if _is_speech(segment)]
    return Pending(len(lengths), sum(lengths))


def _is_speech(segment: Archived) -> bool:
    """Return whether a segment is a message; a summary or a host's own text has a ``kind`` in its metadata."""
    return "kind" not in segment.metadata and bool(segment.content.strip())

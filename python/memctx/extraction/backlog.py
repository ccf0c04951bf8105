"""`Backlog`: what of a session's archive has not been extracted from, and the next batch of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memctx.extractors import Message
from memctx.extractors.split import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Segment
    from memctx.extraction.cursor import Cursor, Trouble
    from memctx.extraction.log import Log

PAGE = 16


@dataclass(frozen=True, slots=True)
class Pending:
    """What waits."""

    messages: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages that are extracted from together, in one request or, where one of them is long, in several."""

    start: int
    end: int
    segments: int
    """The segments between the two places, also those that are no speech."""
    last: str
    """The id of the last of them."""
    mark: int
    """What the end is known by."""
    pending: Pending
    parts: tuple[tuple[Message, ...], ...]


class Backlog:
    """Reads the log from a place on. It keeps two sums and two places, however much is pending."""

    def __init__(self, log: Log, batch_chars: int) -> None:
        self._log = log
        self._batch_chars = batch_chars
        self._from: int = 0
        self._to: int = 0
        self._pending = Pending()

    @property
    def reached(self) -> int:
        """Up to where the log has been read."""
        return self._to

    def placed(self, cursor: Cursor) -> Cursor:
        """The cursor, moved to where it belongs if the log was replaced."""
        if self._log.mark(cursor.offset) == cursor.mark:
            if cursor.last is None:
                return replace(cursor, last=self._log.last_before(cursor.offset) or "")
            return cursor
        # Without the segment it stood behind, all of it may be new: better twice than never.
        offset = (self._log.after(cursor.last) if cursor.last else None) or 0
        mark = self._log.mark(offset) or 0
        return replace(cursor, offset=offset, mark=mark, trouble=None)

    def pending(self, offset: int) -> Pending:
        """What lies behind a place. Only what was appended since the last time is read."""
        if offset != self._from or self._log.is_shorter_than(self._to):
            self._from = self._to = offset
            self._pending = Pending()
        while True:
            page, end = self._log.read(self._to)
            said = [segment for segment in page if _is_speech(segment)]
            self._pending = Pending(
                self._pending.messages + len(said),
                self._pending.characters + sum(len(segment.content) for segment in said),
            )
            self._to = end
            if not page:
                return self._pending

    def take(self, offset: int) -> Batch | None:
        """The next batch behind a place: as many whole units as fit into one request, or one message that does not."""
        segments: list[Segment] = []
        characters, at = 0, offset
        while characters <= self._batch_chars:
            page, at = self._log.read(at, PAGE)
            if not page:
                break
            segments += page
            characters += sum(len(segment.content) for segment in page if _is_speech(segment))
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

    def taken(self, trouble: Trouble) -> Batch | None:
        """A batch that has failed, as it was; None if the log has it no more."""
        offset = trouble.start
        segments, end = self._log.read(offset, trouble.segments)
        if end != trouble.end or not segments or segments[-1].id != trouble.last:
            after = self._log.after(trouble.last)
            if after is None:
                return None
            offset, segments = self._before(after, trouble.segments)
        messages = _messages(segments)
        return (
            self._batch(offset, segments, split(messages, self._batch_chars)) if messages else None
        )

    def drop(self, batch: Batch) -> None:
        """A batch at the beginning of what is pending is done."""
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
        self, offset: int, segments: Sequence[Segment], parts: Sequence[tuple[Message, ...]]
    ) -> Batch:
        _, end = self._log.read(offset, len(segments))
        said = [segment for segment in segments if _is_speech(segment)]
        pending = Pending(len(said), sum(len(segment.content) for segment in said))
        mark = self._log.mark(end) or 0
        return Batch(offset, end, len(segments), segments[-1].id, mark, pending, tuple(parts))

    def _before(self, end: int, count: int) -> tuple[int, list[Segment]]:
        """So many segments that end at a place, and a place before them."""
        found: list[tuple[int, Segment]] = []
        at = 0
        while at < end:
            page, after = self._log.read(at, 1)
            if not page:
                break
            found = [*found[1 - count :], (at, page[0])] if count > 1 else [(at, page[0])]
            at = after
        return found[0][0], [segment for _, segment in found]


def _messages(segments: Sequence[Segment]) -> list[Message]:
    return [
        Message(segment.role, segment.content, segment.id)
        for segment in segments
        if _is_speech(segment)
    ]


def _is_speech(segment: Segment) -> bool:
    """Whether somebody said it: a summary or a host's own text says in its metadata what it is."""
    return "kind" not in segment.metadata and bool(segment.content.strip())

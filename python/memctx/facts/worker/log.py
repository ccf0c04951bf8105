"""`Log`: the archive of a session as a queue, read from an offset on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from memctx._core import Segment

SPEAKERS = ("user", "assistant")
PAGE = 256


class Archived(Protocol):
    """A segment, as far as extraction reads it."""

    @property
    def id(self) -> str:
        """Id of the segment."""
        ...

    @property
    def role(self) -> str:
        """Role of the speaker."""
        ...

    @property
    def content(self) -> str:
        """Text of the message."""
        ...

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata, with a ``kind`` if it is no message."""
        ...


class SessionLog(Protocol):
    """The messages of user and assistant in one session, as hosts share them or as `Log` reads them from disk."""

    def read(self, offset: int, limit: int = ...) -> tuple[Sequence[Archived], int]:
        """Return at most ``limit`` segments behind an offset, and the offset to go on from."""
        ...

    def end(self) -> int:
        """Return the offset at which the log ends."""
        ...

    def is_shorter_than(self, offset: int) -> bool:
        """Return whether the log does not reach an offset that it has reached before."""
        ...

    def mark(self, offset: int) -> int | None:
        """Return a number that another log would not have at an offset; None if the log is shorter."""
        ...

    def after(self, segment_id: str) -> int | None:
        """Return the offset behind a segment; None if the log does not have it."""
        ...

    def last_before(self, offset: int) -> str | None:
        """Return the id of the last segment before an offset; None if there is none."""
        ...


class Log:
    """The messages of user and assistant in one session, read from disk; the log is never held open."""

    def __init__(self, store: Path, session_id: str) -> None:
        self._store = store
        self._filter = _core.SearchFilter(session_id=session_id, roles=SPEAKERS)

    def read(self, offset: int, limit: int = PAGE) -> tuple[list[Segment], int]:
        """Return at most ``limit`` segments behind an offset, and the offset to go on from."""
        if (log := self._open()) is None:
            return [], offset
        return log.read_from(offset, self._filter, limit=limit)

    def end(self) -> int:
        """Return the offset at which the last whole line ends."""
        return 0 if (log := self._open()) is None else log.end()

    def is_shorter_than(self, offset: int) -> bool:
        """Return whether the log does not reach an offset that it has reached before."""
        return self.mark(offset) is None

    def mark(self, offset: int) -> int | None:
        """Return a checksum of the bytes before an offset; None if the log is shorter."""
        if (log := self._open()) is None:
            return None if offset else 0
        return log.mark(offset)

    def after(self, segment_id: str) -> int | None:
        """Return the offset behind a segment; None if the log does not have it."""
        if (log := self._open()) is None:
            return None
        return log.offset_after(segment_id, self._filter)

    def last_before(self, offset: int) -> str | None:
        """Return the id of the last segment before an offset; None if there is none."""
        if (log := self._open()) is None:
            return None
        return log.last_before(offset, self._filter)

    def _open(self) -> _core.LogReader | None:
        try:
            return _core.LogReader(self._store)
        except FileNotFoundError:
            return None

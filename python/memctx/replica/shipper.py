"""`Shipper`: sends the lines of a cache's logs to the server. The log itself is the spool: an offset says how far."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from memctx import _core
from memctx.errors import ConfigError
from memctx.postgres import Line
from memctx.replica.records import LOGS, Position

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from memctx.postgres import Server
    from memctx.replica.records import CacheRecord, LogName

logger = logging.getLogger("memctx.replica")

BATCH = 2_000
FILES = {"segments": "segments.jsonl", "facts": "knowledge.jsonl"}


def check_session_id(session_id: str) -> None:
    """Raise a `ConfigError` for an id that a server cannot hold."""
    try:
        session_id.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"session_id is {session_id!r}; expected valid Unicode on a PostgreSQL server"
        ) from None
    if "\0" in session_id:
        raise ConfigError(
            f"session_id is {session_id!r}; expected no null character on a PostgreSQL server"
        )


class Shipper:
    """Ships lines in the order of the logs; the caller holds the lock of the cache."""

    def __init__(self, cache: Path, server: Server) -> None:
        self._cache = cache
        self._server = server

    def is_behind(self, record: CacheRecord) -> bool:
        """Return whether a log has lines that are not shipped."""
        return any(self.waiting(log, record) for log in LOGS)

    def waiting(self, log: LogName, record: CacheRecord) -> int:
        """Return the number of bytes of whole lines that are not shipped."""
        shipped = record.shipped(log).offset
        if self.size(log) <= shipped:  # most of the time, and cheap
            return 0
        return max(self.end(log) - shipped, 0)

    def end(self, log: LogName) -> int:
        """Return the offset behind the last whole line of a log; a crash may have left a part of another."""
        reader = self.reader()
        return 0 if reader is None else reader.end(log=log)

    def size(self, log: LogName) -> int:
        """Return the size of a log in bytes."""
        try:
            return (self._cache / FILES[log]).stat().st_size
        except FileNotFoundError:
            return 0

    def is_intact(self, record: CacheRecord) -> bool:
        """Return whether the logs still are those that were shipped."""
        shipped: list[tuple[LogName, Position]] = [(log, record.shipped(log)) for log in LOGS]
        reader = self.reader()
        if reader is None:
            return not any(position.offset for _, position in shipped)
        return all(
            not position.offset or reader.mark(position.offset, log=log) == position.mark
            for log, position in shipped
        )

    def ship(
        self,
        record: CacheRecord,
        progress: Callable[[int, int], object] | None = None,
        *,
        noted: Collection[str] = (),
    ) -> list[tuple[str, str]]:
        """Send everything behind the record, which is saved after each batch.

        Return session and id of the segments of the sessions ``noted``. ``progress`` is called after each batch with
        the bytes sent, and with the size of the logs.
        """
        reader = self.reader()
        shipped: list[tuple[str, str]] = []
        if reader is None:
            return shipped
        for log in LOGS:
            while True:
                start = record.shipped(log).offset
                lines, end = reader.read_lines(start, log=log, limit=BATCH)
                if end == start:
                    break
                rows = [row for _, text in lines if (row := self._row(log, text)) is not None]
                if rows:
                    self._server.append(log, rows, origin=record.uuid)
                self.advance(record, log, end, reader)
                if progress is not None:
                    sent = sum(record.shipped(each).offset for each in LOGS)
                    progress(sent, sum(map(self.size, LOGS)))
                if log == "segments":
                    shipped += [(row.session_id, row.id) for row in rows if row.session_id in noted]
        return shipped

    def advance(
        self, record: CacheRecord, log: LogName, end: int, reader: _core.LogReader | None = None
    ) -> None:
        """Note that the server has everything of a log up to an offset."""
        reader = reader or self.reader()
        mark = 0 if reader is None else reader.mark(end, log=log) or 0
        position = Position(end, mark)
        if log == "segments":
            record.segments = position
        else:
            record.facts = position
        record.save(self._cache)

    def reader(self) -> _core.LogReader | None:
        """Open the logs; None if there are none yet."""
        try:
            return _core.LogReader(self._cache)
        except FileNotFoundError:
            return None

    def _row(self, log: LogName, text: str) -> Line | None:
        """Return a line as the server takes it; None for one that has no place there."""
        try:
            line = Line.parse(log, text, self._hashes)
            check_session_id(line.session_id)
        except ConfigError as error:
            logger.warning("%s: a line of %s is not sent: %s", self._cache, log, error)
            return None
        return line

    def _hashes(self, content: str) -> list[int]:
        return _core.term_hashes(content, self._server.key)

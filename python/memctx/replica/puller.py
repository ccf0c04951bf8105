"""`Puller`: appends to a cache what other hosts wrote to a session."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from memctx import _core
from memctx.postgres import segment_id
from memctx.replica.records import LOGS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx.postgres import Row, Server
    from memctx.replica.records import CacheRecord, LogName, SessionRecord
    from memctx.replica.shipper import Shipper

logger = logging.getLogger("memctx.replica")

PAGE = 2_000


class Puller:
    """Pulls the lines of sessions in the order of the server; the caller holds the lock of the cache."""

    def __init__(self, cache: Path, server: Server, shipper: Shipper) -> None:
        self._cache = cache
        self._server = server
        self._shipper = shipper
        self._known: dict[str, _KnownSegments] = {}

    def pull(self, session: SessionRecord, record: CacheRecord) -> int:
        """Append what is new on the server, save the session's record, and return the number of lines appended."""
        return sum(self._pull(log, session, record) for log in LOGS)

    def forget(self, session_id: str) -> None:
        """Drop what is known of a session's log."""
        self._known.pop(session_id, None)

    def _pull(self, log: LogName, session: SessionRecord, record: CacheRecord) -> int:
        appended = 0
        while True:
            after = session.pulled(log)
            page = self._server.pull(session.session, log, after, limit=PAGE, without=record.uuid)
            if not page.rows:
                return appended
            if log == "segments":
                lines, end = self._new_segments(session.session, page.rows), page.rows[-1].seq
            else:
                lines, end = self._new_facts(session, page.rows)
            if lines:
                self._append(log, lines, session, record)
                appended += len(lines)
            session.advance(log, end)
            session.save(self._cache)
            if end == page.rows[-1].seq and not page.has_more:
                return appended

    def _new_segments(self, session_id: str, rows: Sequence[Row]) -> list[str]:
        """Return the lines that the cache lacks: a host may have archived the same message before it was pulled."""
        lines = [row.line for row in rows if row.line is not None]
        if not lines:
            return []
        known = self._known.get(session_id)
        if known is None:
            known = self._known[session_id] = _KnownSegments(session_id)
        known.follow(self._shipper.reader())
        return [line for line in lines if segment_id(line) not in known.ids]

    def _new_facts(self, session: SessionRecord, rows: Sequence[Row]) -> tuple[list[str], int]:
        """Return the facts to append, so that the log ends in the server's order, which counts for facts.

        These are the rows from the first on that another host wrote, and before that own ones that stand in front of a
        fact of another host which the server put before them. Return also the number of the last row that was looked
        at: with the text of own facts, fewer fit into a page.
        """
        if session.foreign_facts < 0 and all(row.is_own for row in rows):
            return [], rows[-1].seq
        after = rows[0].seq - 1
        page = self._server.pull(session.session, "facts", after, limit=len(rows))
        if not page.rows:  # the session was erased meanwhile
            return [], rows[-1].seq
        end = page.rows[-1].seq
        behind = self._facts_since(max(session.foreign_facts, 0))
        for index, (row, whole) in enumerate(zip(rows, page.rows, strict=False)):
            if not row.is_own or (session.foreign_facts >= 0 and whole.line not in behind):
                return [each.line for each in page.rows[index:] if each.line is not None], end
        return [], end

    def _facts_since(self, offset: int) -> set[str]:
        reader = self._shipper.reader()
        found: set[str] = set()
        while reader is not None:
            lines, end = reader.read_lines(offset, log="facts", limit=PAGE)
            found.update(text for _, text in lines)
            if end == offset:
                break
            offset = end
        return found

    def _append(
        self, log: LogName, lines: list[str], session: SessionRecord, record: CacheRecord
    ) -> None:
        writer = _core.LineWriter(self._cache)
        end = writer.append(lines, log=log)
        start = end - sum(len(line.encode()) + 1 for line in lines)
        if log == "facts":
            session.foreign_facts = start
        if record.shipped(log).offset == start:  # else they are shipped again, and recognized there
            self._shipper.advance(record, log, end)


class _KnownSegments:
    """Ids of the segments of one session in the log, read as it grows."""

    def __init__(self, session_id: str) -> None:
        self.ids: set[str] = set()
        self._filter = _core.SearchFilter(session_id=session_id)
        self._offset = 0

    def follow(self, reader: _core.LogReader | None) -> None:
        """Read what was appended since the last call."""
        while reader is not None:
            segments, end = reader.read_from(self._offset, self._filter, limit=PAGE)
            self.ids.update(segment.id for segment in segments)
            if end == self._offset:
                return
            self._offset = end

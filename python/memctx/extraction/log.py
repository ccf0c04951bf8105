"""`Log`: the archive of a store as a reader sees it who comes back to where he was."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from memctx import _core

if TYPE_CHECKING:
    from pathlib import Path

    from memctx._core import Segment

SPEAKERS = ("user", "assistant")
# As long as the end of any line that is sealed, so that no two places look alike.
BEFORE = 256
CHUNK = 16 * 1024
PAGE = 256


class Log:
    """The segments of one session, read from ``segments.jsonl`` on disk; it is never held open."""

    def __init__(self, store: Path, session_id: str) -> None:
        self._store = store
        self._file = store / "segments.jsonl"
        self._session_id = session_id

    def read(self, offset: int, limit: int = PAGE) -> tuple[list[Segment], int]:
        """What user and assistant said from a place on, and the place to go on from."""
        if not self._store.exists():
            return [], offset
        cold = _core.ColdStore(self._store)
        return cold.read_from(offset, session_id=self._session_id, roles=SPEAKERS, limit=limit)

    def end(self) -> int:
        """Where the last line that is whole ends."""
        try:
            with self._file.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                while end > 0:
                    start = max(0, end - CHUNK)
                    file.seek(start)
                    found = file.read(end - start).rfind(b"\n")
                    if found >= 0:
                        return start + found + 1
                    end = start
        except FileNotFoundError:
            pass
        return 0

    def is_shorter_than(self, offset: int) -> bool:
        """Whether the log does not reach a place that it has reached before."""
        try:
            return self._file.stat().st_size < offset
        except FileNotFoundError:
            return offset > 0

    def mark(self, offset: int) -> int | None:
        """What a place is known by: a checksum of the bytes before it; None if the log is shorter."""
        if offset == 0:
            return 0
        try:
            with self._file.open("rb") as file:
                file.seek(max(0, offset - BEFORE))
                before = file.read(min(offset, BEFORE))
        except FileNotFoundError:
            return None
        return zlib.crc32(before) if len(before) == min(offset, BEFORE) else None

    def after(self, segment_id: str) -> int | None:
        """The place behind a segment, wherever it is now."""
        offset = 0
        while True:
            page, end = self.read(offset)
            if not page:
                return None
            for place, segment in enumerate(page):
                if segment.id == segment_id:
                    return self.read(offset, place + 1)[1]
            offset = end

    def last_before(self, offset: int) -> str | None:
        """The id of the last segment that lies before a place."""
        last, at = None, 0
        while True:
            page, end = self.read(at)
            if page and end <= offset:
                last, at = page[-1].id, end
                continue
            for _ in page:
                (segment,), at = self.read(at, 1)
                if at > offset:
                    break
                last = segment.id
            return last

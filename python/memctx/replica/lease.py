"""Extraction of facts from a session that hosts share: `ServerLog` is what they read, `ExtractionLease` who may.

The numbers of lines on the server are the offsets of the log, so that a cursor means the same on every host.
"""

from __future__ import annotations

import json
import logging
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from memctx.errors import LateError, ServerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.postgres import Job
    from memctx.replica.replica import Replica

logger = logging.getLogger("memctx.replica")

SECONDS = 600.0
"""Duration of a lease: after a crash other hosts wait that long. It is renewed when half of it is over."""
SPEAKERS = ("user", "assistant")
PAGE = 256


class SharedSegment(NamedTuple):
    """The part of a segment that extraction needs."""

    id: str
    role: str
    content: str
    metadata: dict[str, Any]


class ServerLog:
    """The messages of user and assistant in one session, in the order of the server."""

    def __init__(self, replica: Replica, session_id: str) -> None:
        self._replica = replica
        self._session_id = session_id

    def read(self, offset: int, limit: int = PAGE) -> tuple[list[SharedSegment], int]:
        """Return at most ``limit`` segments behind an offset, and the offset to go on from.

        At the end, lines that are not sent yet are sent and read, too.
        """
        found: list[SharedSegment] = []
        for is_sent in (False, True):
            if is_sent:
                self._replica.flush()
            for number, segment in self._rows(offset):
                offset = number
                if segment.role in SPEAKERS:
                    found.append(segment)
                    if len(found) == limit:
                        return found, offset
            if found:
                break
        return found, offset

    def end(self) -> int:
        """Return the number of the last line."""
        self._replica.flush()
        head = self._replica.server.heads([self._session_id]).get(self._session_id)
        return 0 if head is None else head.segments

    def is_shorter_than(self, offset: int) -> bool:  # noqa: ARG002 - as of a log on disk
        """Return False: a log on a server only grows."""
        return False

    def mark(self, offset: int) -> int | None:  # noqa: ARG002 - as of a log on disk
        """Return what tells the log of this namespace from any other."""
        return int(self._replica.server.fingerprint[:12], 16)

    def after(self, segment_id: str) -> int | None:
        """Return the offset behind a segment; None if the log does not have it."""
        return next((number for number, each in self._rows(0) if each.id == segment_id), None)

    def last_before(self, offset: int) -> str | None:
        """Return the id of the last segment before an offset; None if there is none."""
        found = next(self._rows(offset - 1), None) if offset else None
        return None if found is None else found[1].id

    def _rows(self, after: int) -> Iterator[tuple[int, SharedSegment]]:
        """Yield the numbers and segments of all lines behind a number."""
        while True:
            page = self._replica.server.pull(self._session_id, "segments", after, limit=PAGE)
            for row in page.rows:
                found: dict[str, Any] = json.loads(row.line or "{}")
                key, role, content = (
                    str(found.get(name, "")) for name in ("id", "role", "content")
                )
                yield row.seq, SharedSegment(key, role, content, found.get("metadata") or {})
                after = row.seq
            if not page.has_more:
                return


class ExtractionLease:
    """The lease of one session, by the queue on the server."""

    def __init__(self, replica: Replica, session_id: str) -> None:
        self.log = ServerLog(replica, session_id)
        """The session in the order of the server."""
        self._replica = replica
        self._session_id = session_id
        self._owner = str(uuid4())
        self._process = os.getpid()
        self._job: Job | None = None
        self._renewal = 0.0

    @property
    def is_held(self) -> bool:
        """True if it is held, and need not be renewed yet."""
        return time.monotonic() < self._renewal

    def acquire(self) -> bool:
        """Lease or renew; return False if another host has the session, or the server is away.

        Own lines are sent first, so that the session is queued; the cursor of the host that had it last comes after.
        """
        server, started = self._replica.server, time.monotonic()
        try:
            self._replica.refresh(self._session_id)
            claimed = server.claim_session(self._session_id, owner=self._owner, lease=SECONDS)
            if claimed.is_elsewhere:
                return False
            self._job = claimed.job
            self._replica.refresh(self._session_id)
        except (LateError, ServerUnavailableError) as error:
            logger.info("session %r: no facts are extracted for now: %s", self._session_id, error)
            return False
        self._renewal = started + SECONDS / 2
        return True

    def release(self, offset: int) -> None:
        """Give it back in the background, with everything before an offset done; a fork leaves it to its parent."""
        job, self._job, self._renewal = self._job, None, 0.0
        if job is not None and os.getpid() == self._process:
            self._replica.give_back(job._replace(until=offset), owner=self._owner)

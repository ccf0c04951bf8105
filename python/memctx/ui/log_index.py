"""`LogIndex`: the sessions of a log and the positions of their messages, so that any range is read without the rest."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from memctx import _core

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from memctx._core import Segment

CHUNK = 128
"""Lines between two remembered offsets: the most that a range reads in vain."""
PROMPT_CHARS = 300
"""Characters that are kept of the first prompt of a session."""


@dataclass(slots=True)
class SessionLog:
    """Numbers of one session, one for each message, in the order of the log."""

    id: str
    times: array[float] = field(default_factory=lambda: array("d"))
    """Timestamps in milliseconds since the epoch."""
    keys: array[int] = field(default_factory=lambda: array("q"))
    """Hashes of the ids."""
    sizes: array[int] = field(default_factory=lambda: array("L"))
    """Tokens."""
    offsets: list[int] = field(default_factory=list[int])
    """Offsets of the chunks of the log that hold messages of the session,"""
    firsts: list[int] = field(default_factory=list[int])
    """and the number of the first message in each."""
    roles: dict[str, int] = field(default_factory=dict[str, int])
    """Number of messages of each role."""
    tokens: int = 0
    first_prompt: str = ""
    """The beginning of the first message of the user."""
    _keys: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The keys when one was last looked for."""

    def __len__(self) -> int:
        return len(self.times)

    def add(self, segment: Segment, offset: int) -> None:
        """Add a message that lies in the chunk at ``offset``."""
        if not self.offsets or self.offsets[-1] != offset:
            self.offsets.append(offset)
            self.firsts.append(len(self.times))
        role, tokens = segment.role, segment.tokens
        self.times.append(segment.timestamp)
        self.keys.append(hash(segment.id))
        self.sizes.append(tokens)
        self.tokens += tokens
        self.roles[role] = self.roles.get(role, 0) + 1
        if not self.first_prompt and role == "user":
            self.first_prompt = " ".join(segment.content[: 2 * PROMPT_CHARS].split())[:PROMPT_CHARS]

    def find(self, id: str) -> int | None:
        """Return the number of the message with an id; None if the session has none."""
        keys = self._keys
        if len(keys) != len(self.keys):
            # A copy: an array of which there is a view cannot grow.
            keys = self._keys = np.frombuffer(self.keys.tobytes(), np.int64)
        found = np.flatnonzero(keys == hash(id))
        return int(found[0]) if len(found) else None


class LogIndex:
    """The sessions of a store, read once and then kept up to date by what was appended. Thread-safe.

    >>> import memctx, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with memctx.open(folder, session_id="s1") as memory:
    ...     archived = memory.archive([{"role": "user", "content": f"Remark {number}"} for number in range(300)])
    >>> index = LogIndex(folder)
    >>> [segment.content for segment in index.read("s1", 200, 2)]
    ['Remark 200', 'Remark 201']
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Index the log in a directory; it is read by the first call that needs it."""
        self._log = _core.LogReader(path)
        self._lock = threading.Lock()
        self._sessions: dict[str, SessionLog] = {}
        self._end = 0
        self._mark: int | None = None

    def sessions(self) -> dict[str, SessionLog]:
        """Return the sessions by id, as they are on disk now."""
        with self._lock:
            if (
                self._log.mark(self._end) != self._mark
            ):  # replaced, by a repair or by garbage collection
                self._sessions, self._end = {}, 0
            self._read_on()
            self._mark = self._log.mark(self._end)
            return dict(self._sessions)

    def session(self, id: str) -> SessionLog | None:
        """Return one session; None if there is none of that id."""
        return self.sessions().get(id)

    def read(self, id: str, start: int, count: int) -> list[Segment]:
        """Return ``count`` messages of a session from number ``start`` on; fewer at its end."""
        found = self.session(id)
        if found is None or count < 1 or not 0 <= start < len(found):
            return []
        chunk = bisect_right(found.firsts, start) - 1
        skipped = start - found.firsts[chunk]
        segments, _ = self._log.read_from(
            found.offsets[chunk], _core.SearchFilter(session_id=id), limit=skipped + count
        )
        return segments[skipped:]

    def _read_on(self) -> None:
        while True:
            segments, end = self._log.read_from(self._end, limit=CHUNK)
            for segment in segments:
                own = segment.session_id
                session = self._sessions.get(own)
                if session is None:
                    session = self._sessions[own] = SessionLog(own)
                session.add(segment, self._end)
            self._end = end
            if len(segments) < CHUNK:
                return

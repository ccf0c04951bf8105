"""Records that go to a server and come from it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    import numpy as np
    from numpy.typing import NDArray

Log: TypeAlias = Literal["segments", "facts"]
"""A log of a store: ``segments.jsonl`` or ``knowledge.jsonl``."""


_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which a host in JavaScript may leave; neither UTF-8 nor PostgreSQL has it."""


class Line(NamedTuple):
    """One line of a log, with the fields that the server keeps beside it."""

    session_id: str
    """Session of the line; empty for a fact of no session."""
    id: str
    """Id of the segment or fact."""
    text: str
    """The line itself, without its line feed."""
    role: str = ""
    """Role of a segment."""
    timestamp: float = 0.0
    """Time of a segment, in milliseconds since the epoch."""
    topics: Sequence[str] = ()
    """Topics of a segment."""
    terms: Sequence[int] = ()
    """Keyed hashes of the words of a segment, as `memctx.lowlevel.term_hashes` makes them."""

    @classmethod
    def parse(
        cls, log: Log, text: str, hashes: Callable[[str], Sequence[int]] | None = None
    ) -> Line:
        """Read the fields of a line; ``hashes`` makes the terms of a segment from its content.

        >>> Line.parse("facts", '{"id": "7", "type": "goal", "sessionId": "s1"}').session_id
        's1'

        Raises:
            ConfigError: if the text is no JSON object with an id.
        """
        fields = _fields(text)
        session_id = fields.get("sessionId")
        found = cls(session_id if isinstance(session_id, str) else "", _text(fields["id"]), text)
        if log == "facts":
            return found
        content = fields.get("content")
        return found._replace(
            role=_text(fields.get("role", "")),
            timestamp=_number(fields.get("timestamp")),
            topics=_topics(fields.get("metadata")),
            terms=hashes(content) if hashes is not None and isinstance(content, str) else (),
        )


def segment_id(line: str) -> str:
    """Return the id of a segment line."""
    return _text(_fields(line)["id"])


def _fields(text: str) -> dict[str, Any]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "id" not in found:
        raise ConfigError("a line of a log must be a JSON object with an id")
    return cast("dict[str, Any]", found)


def _text(value: object) -> str:
    """Return a value as text, halves of surrogate pairs replaced as the core does when it reads a line."""
    return _HALF.sub("\ufffd", str(value))


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(cast("float", value)) if is_number else 0.0


def _topics(metadata: object) -> tuple[str, ...]:
    if not isinstance(metadata, dict):
        return ()
    topics = cast("dict[str, object]", metadata).get("topics")
    if not isinstance(topics, list):
        return ()
    return tuple(_text(each) for each in cast("list[object]", topics) if isinstance(each, str))


class Row(NamedTuple):
    """One line on the server."""

    seq: int
    """Position in the log of its session: 1, 2, 3, … in the order of commits."""
    line: str | None
    """The line; None if it is the caller's own and was not asked for."""
    is_own: bool
    """True if it is of the origin that ``without`` names."""


class Page(NamedTuple):
    """Lines of one session in the order of their commits."""

    rows: list[Row]
    has_more: bool
    """True if lines follow."""


class Head(NamedTuple):
    """Newest state of a session."""

    segments: int
    """Sequence number of the last segment line; 0 if there is none."""
    facts: int
    """Sequence number of the last fact line; 0 if there is none."""
    files: dict[str, int]
    """Versions of its files."""
    erased: bool
    """True if the session was erased: it takes no more lines."""


class StoredFile(NamedTuple):
    """A file of a session."""

    version: int
    body: bytes


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """Conditions that candidates of a search must meet; those left out admit all."""

    session_ids: Sequence[str] | None = None
    roles: Sequence[str] | None = None
    since: float | None = None
    """Earliest timestamp, in milliseconds since the epoch."""
    until: float | None = None
    """Latest timestamp, in milliseconds since the epoch."""
    topics: Sequence[str] | None = None
    """Topics of which the segment has one, in any case."""


class Candidate(NamedTuple):
    """A segment that a search may find."""

    session_id: str
    line: str
    vectors: NDArray[np.float32] | None
    """Vectors of its passages, one in each row; None if there are none of the model."""

    @property
    def id(self) -> str:
        """The id of the segment."""
        return segment_id(self.line)


class Missing(NamedTuple):
    """A segment without vectors of a model."""

    session_id: str
    id: str
    line: str


class Job(NamedTuple):
    """Segments of one session to extract facts from."""

    session_id: str
    after: int
    """Sequence number before the first segment."""
    until: int
    """Sequence number of the last segment."""
    attempts: int
    """Number of earlier claims that were not completed."""


class Claimed(NamedTuple):
    """The answer to a claim of one session."""

    job: Job | None
    """The job, now leased; None if nothing is queued."""
    is_elsewhere: bool
    """True if another worker holds the lease."""


class SessionInfo(NamedTuple):
    """A session on the server."""

    session_id: str
    segments: int
    facts: int
    active_at: float
    """Time of the last change, in milliseconds since the epoch."""


class Erased(NamedTuple):
    """Numbers of rows that an erasure deleted."""

    segments: int
    facts: int
    files: int
    vectors: int


class Erasure(NamedTuple):
    """Tombstone of an erased session."""

    number: int
    """Position among the erasures of the namespace: 1, 2, 3, …"""
    key: UUID
    """Keyed hash of the session's name, as `Server.session_key` makes it; the name itself is not kept."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Outcome of a check of the rows of a namespace."""

    sessions: int
    segments: int
    facts: int
    problems: list[str] = field(default_factory=list[str])
    """A line for each row or session that is wrong; empty if all is well."""

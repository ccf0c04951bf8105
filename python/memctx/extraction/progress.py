"""`Progress`: what extraction has done, what is left, and what is in its way."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.extractors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memctx.knowledge import Action

State: TypeAlias = Literal["idle", "working", "waiting", "open", "elsewhere", "stopped", "closed"]
"""What it does now.

``waiting``: after a failure, before it tries again. ``open``: the extractor fails all the time, and is left alone for
longer. ``elsewhere``: another process does it. ``stopped``: it cannot go on by itself, ``last_error`` says why.
"""


@dataclass(frozen=True, slots=True)
class Tally:
    """What a session's extraction has come to since it was first opened."""

    batches: int = 0
    """Batches that were extracted from."""
    failures: int = 0
    """Tries that failed, of whatever batch."""
    added: int = 0
    updated: int = 0
    superseded: int = 0
    unchanged: int = 0
    """What was said again, and known."""
    deleted: int = 0
    usage: Usage = field(default_factory=Usage)

    def counting(self, actions: Iterable[Action], usage: Usage) -> Tally:
        """The tally after an answer, and what was done with it."""
        done = Counter(actions)
        return replace(
            self,
            added=self.added + done["add"],
            updated=self.updated + done["update"],
            superseded=self.superseded + done["supersede"],
            unchanged=self.unchanged + done["none"],
            deleted=self.deleted + done["delete"],
            usage=self.usage + usage,
        )

    def to_json(self) -> list[Any]:
        """The tally as a JSON array."""
        return list(astuple(self))

    @classmethod
    def from_json(cls, found: list[Any]) -> Tally:
        """The tally that `to_json` gave; a `ValueError` or `TypeError` for anything else."""
        *counts, (calls, read, written, cost) = found
        batches, failures, added, updated, superseded, unchanged, deleted = map(int, counts)
        usage = Usage(int(calls), int(read), int(written), None if cost is None else float(cost))
        return cls(batches, failures, added, updated, superseded, unchanged, deleted, usage)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far extraction is, as of the last time it looked."""

    state: State = "idle"
    pending_segments: int = 0
    """Messages that wait to be extracted from, also those that are too few for a batch yet."""
    pending_characters: int = 0
    set_aside: int = 0
    """Batches that failed for good; `Extraction.retry` tries them again."""
    tally: Tally = field(default_factory=Tally)
    last_error: str | None = None
    """What went wrong last, until something goes well."""
    next_try: float | None = None
    """When it is tried again, in seconds since the epoch."""

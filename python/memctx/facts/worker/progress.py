"""Progress of background extraction: its state, its counts, and futures for callers that wait for facts."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import checks
from memctx.errors import ExtractionError
from memctx.facts.extractors import Usage
from memctx.providers.background import is_on_background_loop

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from memctx.facts import Action

State: TypeAlias = Literal["idle", "working", "waiting", "open", "elsewhere", "stopped", "closed"]
"""State of the extraction of a session.

``waiting``: after a failure, until the next attempt. ``open``: the circuit breaker is open, because the extractor keeps
failing. ``elsewhere``: another process extracts. ``stopped``: it cannot continue by itself, ``last_error`` says why.
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals of a session's extraction since the session was first opened."""

    batches: int = 0
    """Batches that were extracted from."""
    failures: int = 0
    """Failed attempts, of all batches."""
    added: int = 0
    updated: int = 0
    superseded: int = 0
    unchanged: int = 0
    """Candidate facts that were known already."""
    deleted: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, actions: Iterable[Action], usage: Usage) -> Counts:
        """Return the counts with an extractor's usage and the actions that followed added."""
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
        """Return the counts as a JSON array."""
        return list(astuple(self))

    @classmethod
    def from_json(cls, found: list[Any]) -> Counts:
        """Return the counts that `to_json` wrote; raise a `ValueError` or `TypeError` for anything else."""
        *counts, (calls, read, written, cost) = found
        batches, failures, added, updated, superseded, unchanged, deleted = map(int, counts)
        usage = Usage(int(calls), int(read), int(written), None if cost is None else float(cost))
        return cls(batches, failures, added, updated, superseded, unchanged, deleted, usage)


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a session's extraction when the worker last looked."""

    state: State = "idle"
    pending_segments: int = 0
    """Messages that wait for extraction, including those that are too few for a batch."""
    pending_characters: int = 0
    dead_letters: int = 0
    """Batches that were given up; `BackgroundExtraction.retry` retries them."""
    counts: Counts = field(default_factory=Counts)
    last_error: str | None = None
    """The last error, until something succeeds."""
    next_try: float | None = None
    """Time of the next attempt, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class FactsReady:
    """Outcome of a wait for facts."""

    is_complete: bool
    """True once facts were extracted from everything archived before the call, except dead letters."""
    progress: Progress
    reason: str | None = None
    """The reason why it is not complete."""


class FactsFuture:
    """Future of a `FactsReady`: await it, or call `result`, any number of times, in any event loop or thread."""

    def __init__(self, goal: int) -> None:
        self.goal = goal
        """Offset of the log's end when the wait began."""
        self._done: Future[FactsReady] = Future()

    def result(self, timeout: float | None = None) -> FactsReady:
        """Wait for the outcome; raise a `TimeoutError` after ``timeout`` seconds."""
        timeout = checks.seconds("timeout", timeout)
        if not self._done.done() and is_on_background_loop():
            raise ExtractionError("an extractor cannot wait for its own extraction")
        return self._done.result(timeout)

    @property
    def is_done(self) -> bool:
        """True if there is an outcome."""
        return self._done.done()

    def settle(self, outcome: FactsReady) -> None:
        """Set the outcome; only the first call counts."""
        with suppress(InvalidStateError):
            self._done.set_result(outcome)

    def __await__(self) -> Generator[object, None, FactsReady]:
        waiting = asyncio.get_running_loop()
        future: asyncio.Future[FactsReady] = waiting.create_future()

        def set_result() -> None:
            if not future.done():
                future.set_result(self._done.result())

        def pass_on(_: Future[FactsReady]) -> None:
            with suppress(RuntimeError):  # the waiting loop is closed
                waiting.call_soon_threadsafe(set_result)

        self._done.add_done_callback(pass_on)
        return future.__await__()

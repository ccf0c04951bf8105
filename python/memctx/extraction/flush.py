"""`Flush`: the wait for what was archived, for callers with an event loop and for those without."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.errors import ExtractionError
from memctx.extraction import loop

if TYPE_CHECKING:
    from collections.abc import Generator

    from memctx.extraction.progress import Progress


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush came to."""

    is_complete: bool
    """Whether all that was archived before the flush has been extracted from, but for what is set aside."""
    progress: Progress
    """How far extraction is."""
    reason: str | None = None
    """Why it is not complete."""


class Flush:
    """Await it, or ask for its `result`; it may be done several times, in several loops and threads."""

    def __init__(self, goal: int) -> None:
        self.goal = goal
        """Where the log ended when it was asked for."""
        self._done: Future[Flushed] = Future()

    def result(self, timeout: float | None = None) -> Flushed:
        """Wait for the end of it; a `TimeoutError` if that takes longer than so many seconds."""
        if not self._done.done() and loop.is_here():
            raise ExtractionError("an extractor cannot wait for its own extraction")
        return self._done.result(timeout)

    @property
    def is_done(self) -> bool:
        """Whether a result is there."""
        return self._done.done()

    def settle(self, flushed: Flushed) -> None:
        """Give the result; only the first counts."""
        with suppress(InvalidStateError):
            self._done.set_result(flushed)

    def __await__(self) -> Generator[object, None, Flushed]:
        home = asyncio.get_running_loop()
        mine: asyncio.Future[Flushed] = home.create_future()

        def give() -> None:
            if not mine.done():
                mine.set_result(self._done.result())

        def pass_on(_: Future[Flushed]) -> None:
            with suppress(RuntimeError):  # the loop of who waited is gone
                home.call_soon_threadsafe(give)

        self._done.add_done_callback(pass_on)
        return mine.__await__()

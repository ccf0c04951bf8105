"""`Queries`: the vectors of queries, in the time that a turn has for them."""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

from memctx.embeddings.awaited import awaited
from memctx.embeddings.breaker import Breaker
from memctx.embeddings.vectors import vector_of
from memctx.errors import ConfigError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from memctx.embeddings.breaker import State
    from memctx.embeddings.protocol import Embedder

# Calls under way at once. One that never ends keeps its thread, and there are no more than these.
MOST_CALLS = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """The vector of a query, or why there is none."""

    vector: NDArray[np.float32] | None
    """Of length 1 and read-only; None if the search has to do without."""
    reason: str | None = None
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class QueryStats:
    """What became of all queries so far."""

    asked: int
    cached: int
    """Those whose vector was known already."""
    timed_out: int
    """Those whose vector did not come in time."""
    failed: int
    """Those for which the embedder had no vector."""
    skipped: int
    """Those for which it was not asked: the breaker was open, or earlier calls are stuck."""
    breaker: State
    last_error: str | None


class Queries:
    """Asks an embedder for the vectors of queries, and never waits longer than it may.

    Whatever the embedder does, an answer comes within the time-out: late, it serves the next turn that asks the same;
    failing again and again, the embedder is left alone for a while; hanging for ever, it keeps two threads and no
    more. Threads may share one.

    >>> from memctx import HashEmbedder
    >>> class Hash:
    ...     name, revision, dim = "hash", "1", 384
    ...     def embed(self, text):
    ...         return HashEmbedder().embed(text)
    ...     def embed_many(self, texts):
    ...         return [self.embed(text) for text in texts]
    >>> with Queries(Hash(), timeout_ms=1000) as queries:
    ...     vector = queries.vector("which port has the webhook?")
    ...     again = queries.vector(" which port has the webhook? ")
    ...     queries.stats().cached, vector is again, vector.shape
    (1, True, (384,))

    Args:
        embedder: What makes the vectors. It stays open when this is closed.
        timeout_ms: How long a query waits.
        breaker: When to leave the embedder alone; by default after three failures in a row.
        cache_size: How many vectors are remembered, those asked for last.
    """

    def __init__(
        self,
        embedder: Embedder,
        timeout_ms: float = 150.0,
        breaker: Breaker | None = None,
        cache_size: int = 128,
    ) -> None:
        if not 0 < timeout_ms <= threading.TIMEOUT_MAX * 1000:
            raise ConfigError(f"timeout_ms must be a time above 0, not {timeout_ms!r}")
        if cache_size < 0:
            raise ConfigError(f"cache_size must be 0 or more, not {cache_size!r}")
        self._embedder = embedder
        self._name = embedder.name
        self._timeout_ms = timeout_ms
        self._breaker = breaker or Breaker()
        self._cache_size = cache_size
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        self._calls: dict[str, _Call] = {}
        self._asked = self._cached = self._timed_out = self._failed = self._skipped = 0
        self._last_error: str | None = None
        self._is_closed = False
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # Now and not with the first query: starting a thread waits until it runs.
        for number in range(MOST_CALLS):
            name = f"memctx-query-{number}"
            threading.Thread(target=_run, args=(self._work,), name=name, daemon=True).start()
        self._stop = weakref.finalize(self, _stop, self._work)
        self._work.put(partial(_warm, embedder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def vector(self, text: str, timeout_ms: float | None = None) -> NDArray[np.float32] | None:
        """The vector of a query; None if there is none in time, which `ask` says the reason of."""
        return self.ask(text, timeout_ms).vector

    def ask(self, text: str, timeout_ms: float | None = None) -> Answer:
        """The vector of a query, or why there is none in time; another time than usual for who can wait longer."""
        waiting = self._timeout_ms if timeout_ms is None else timeout_ms
        deadline = time.monotonic() + waiting / 1000
        key = text.strip()
        with self._lock:
            self._asked += 1
            known = self._cache.get(key)
            if known is not None:
                self._cache.move_to_end(key)
                self._cached += 1
                return Answer(known)
            if self._is_closed or not key:
                return self._skip("closed" if self._is_closed else "the query is empty")
            permit = self._breaker.admit()
            if permit is None:
                return self._skip("breaker open")
            call = self._call_for(key)
            if call is None:
                self._breaker.settle(permit, is_success=False)
                return self._skip(f"{MOST_CALLS} earlier calls have not been answered")
            call.waiting += 1
        vector = None
        try:
            call.done.wait(max(0.0, deadline - time.monotonic()))
            with self._lock:
                answer = self._outcome(call, waiting)
            vector = answer.vector
        finally:
            # Also when the wait was interrupted: a probe that nobody settles would keep the breaker half-open.
            self._breaker.settle(permit, is_success=vector is not None)
        return answer

    def stats(self) -> QueryStats:
        """What became of all queries so far."""
        with self._lock:
            return QueryStats(
                asked=self._asked,
                cached=self._cached,
                timed_out=self._timed_out,
                failed=self._failed,
                skipped=self._skipped,
                breaker=self._breaker.state,
                last_error=self._last_error,
            )

    def close(self) -> None:
        """Let the threads end. A call that is stuck is not waited for."""
        with self._lock:
            self._is_closed = True
            self._cache.clear()
        self._stop()

    def _skip(self, reason: str) -> Answer:
        self._skipped += 1
        return Answer(None, reason)

    def _call_for(self, key: str) -> _Call | None:
        """The call that is under way for a text or a new one; None if a new one could not begin."""
        call = self._calls.get(key)
        if call is not None:
            return call
        if sum(other.is_overdue for other in self._calls.values()) >= MOST_CALLS:
            return None
        call = self._calls[key] = _Call(key)
        self._work.put(partial(self._make, call))
        return call

    def _outcome(self, call: _Call, waited_ms: float) -> Answer:
        """What came of waiting for a call."""
        call.waiting -= 1
        if call.vector is not None:
            return Answer(call.vector)
        if call.error is not None:
            self._failed += 1
            return Answer(None, call.error)
        self._timed_out += 1
        self._last_error = f"{self._name} did not answer within {waited_ms:g} ms"
        if call.is_begun:
            call.is_overdue = True
        elif call.waiting == 0:
            self._calls.pop(call.key, None)
            call.is_dropped = True
        return Answer(None, "timed out")

    def _make(self, call: _Call) -> None:
        """Ask the embedder, in a thread of ours."""
        with self._lock:
            if call.is_dropped:
                return
            call.is_begun = True
        vector, error = None, None
        try:
            given = awaited(self._embedder.embed(call.key))
            vector = vector_of(given, self._embedder.dim, self._name)
        except MemctxError as failure:
            error = str(failure)
        except BaseException as failure:  # noqa: BLE001 - its words may hold a key; and the thread must go on
            error = f"{self._name} failed ({type(failure).__name__})"
        with self._lock:
            self._calls.pop(call.key, None)
            call.vector, call.error = vector, error
            if vector is None:
                self._last_error = error
            elif not self._is_closed and self._cache_size:
                self._cache[call.key] = vector
                if len(self._cache) > self._cache_size:
                    self._cache.popitem(last=False)
            call.done.set()


class _Call:
    """A text that the embedder is asked for, and those who wait for it."""

    __slots__ = (
        "done",
        "error",
        "is_begun",
        "is_dropped",
        "is_overdue",
        "key",
        "vector",
        "waiting",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.done = threading.Event()
        self.vector: NDArray[np.float32] | None = None
        self.error: str | None = None
        self.waiting = 0
        self.is_begun = False
        self.is_dropped = False
        self.is_overdue = False


def _run(work: SimpleQueue[Callable[[], None] | None]) -> None:
    """Do what comes, until there is nothing more to come. Between two things nothing is held on to."""
    while (task := work.get()) is not None:
        task()
        del task


def _warm(embedder: Embedder) -> None:
    """Import in advance what the first query would spend its time on."""
    with suppress(Exception):  # whatever is wrong, the first query will tell
        import_module("numpy")
        warm: Callable[[], None] | None = getattr(embedder, "warm", None)
        if warm is not None:
            warm()


def _stop(work: SimpleQueue[Callable[[], None] | None]) -> None:
    for _ in range(MOST_CALLS):
        work.put(None)

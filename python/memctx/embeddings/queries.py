"""`Queries`: vectors of queries within the timeout of a turn, with a cache and a circuit breaker."""

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

from memctx.embeddings.vectors import check_vector, resolve_awaitable
from memctx.errors import ConfigError, MemctxError
from memctx.providers.breaker import CircuitBreaker

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from memctx.protocols import Embedder
    from memctx.providers.breaker import State

# Concurrent calls. One that never returns keeps its thread, and there are no others.
MAX_CALLS = 2


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, or the reason why there is none."""

    vector: NDArray[np.float32] | None
    """Of length 1 and read-only; None if the search has to go without."""
    reason: str | None = None
    """The reason why there is none."""


@dataclass(frozen=True, slots=True)
class QueryStats:
    """Counters of all queries so far."""

    asked: int
    cached: int
    """Queries whose vector was in the cache."""
    timed_out: int
    """Queries whose vector did not arrive in time."""
    failed: int
    """Queries for which the embedder failed."""
    skipped: int
    """Queries for which the embedder was not called: the breaker was open, or earlier calls hang."""
    breaker: State
    last_error: str | None


class Queries:
    """Requests vectors of queries from an embedder, within a timeout.

    A vector that arrives late serves the next turn with the same query. An embedder that keeps failing is not called
    for a while, and one that hangs occupies at most two threads. Threads may share one.

    >>> from memctx.lowlevel import HashEmbedder
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
        embedder: The embedder. It stays open when this is closed.
        timeout_ms: The longest wait for a vector.
        breaker: The circuit breaker; by default it opens after three failures in a row.
        cache_size: The number of vectors in the cache, the most recently used.
    """

    def __init__(
        self,
        embedder: Embedder,
        timeout_ms: float = 150.0,
        breaker: CircuitBreaker | None = None,
        cache_size: int = 128,
    ) -> None:
        if not 0 < timeout_ms <= threading.TIMEOUT_MAX * 1000:
            raise ConfigError(f"timeout_ms must be a time above 0, not {timeout_ms!r}")
        if cache_size < 0:
            raise ConfigError(f"cache_size must be 0 or more, not {cache_size!r}")
        self._embedder = embedder
        self._name = embedder.name
        self._timeout_ms = timeout_ms
        self._breaker = breaker or CircuitBreaker()
        self._cache_size = cache_size
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        self._calls: dict[str, _Call] = {}
        self._asked = self._cached = self._timed_out = self._failed = self._skipped = 0
        self._last_error: str | None = None
        self._is_closed = False
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # Not with the first query: starting a thread waits until it runs.
        for number in range(MAX_CALLS):
            name = f"memctx-query-{number}"
            threading.Thread(target=_run, args=(self._work,), name=name, daemon=True).start()
        self._stop = weakref.finalize(self, _stop, self._work)
        self._work.put(partial(_warm, embedder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def vector(self, text: str, timeout_ms: float | None = None) -> NDArray[np.float32] | None:
        """Return the vector of a query; None if there is none in time, for a reason that `request` returns."""
        return self.request(text, timeout_ms).vector

    def request(self, text: str, timeout_ms: float | None = None) -> QueryVector:
        """Return the vector of a query, or the reason why there is none within the timeout."""
        timeout = self._timeout_ms if timeout_ms is None else timeout_ms
        deadline = time.monotonic() + timeout / 1000
        key = text.strip()
        with self._lock:
            self._asked += 1
            known = self._cache.get(key)
            if known is not None:
                self._cache.move_to_end(key)
                self._cached += 1
                return QueryVector(known)
            if self._is_closed or not key:
                return self._skip("closed" if self._is_closed else "the query is empty")
            permit = self._breaker.admit()
            if permit is None:
                return self._skip("breaker open")
            call = self._call_for(key)
            if call is None:
                self._breaker.settle(permit, is_success=False)
                return self._skip(f"{MAX_CALLS} earlier calls have not returned")
            call.waiting += 1
        vector = None
        try:
            call.done.wait(max(0.0, deadline - time.monotonic()))
            with self._lock:
                outcome = self._outcome(call, timeout)
            vector = outcome.vector
        finally:
            # Also when the wait was interrupted: a probe without an outcome would keep the breaker half-open.
            self._breaker.settle(permit, is_success=vector is not None)
        return outcome

    def stats(self) -> QueryStats:
        """Return the counters of all queries so far."""
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
        """End the threads, without waiting for a call that hangs."""
        with self._lock:
            self._is_closed = True
            self._cache.clear()
        self._stop()

    def _skip(self, reason: str) -> QueryVector:
        self._skipped += 1
        return QueryVector(None, reason)

    def _call_for(self, key: str) -> _Call | None:
        """Return the current call for a text or a new one; None if all threads hang."""
        call = self._calls.get(key)
        if call is not None:
            return call
        if sum(other.is_overdue for other in self._calls.values()) >= MAX_CALLS:
            return None
        call = self._calls[key] = _Call(key)
        self._work.put(partial(self._embed, call))
        return call

    def _outcome(self, call: _Call, waited_ms: float) -> QueryVector:
        """Return the outcome of the wait for a call."""
        call.waiting -= 1
        if call.vector is not None:
            return QueryVector(call.vector)
        if call.error is not None:
            self._failed += 1
            return QueryVector(None, call.error)
        self._timed_out += 1
        self._last_error = f"{self._name} did not answer within {waited_ms:g} ms"
        if call.is_begun:
            call.is_overdue = True
        elif call.waiting == 0:
            self._calls.pop(call.key, None)
            call.is_dropped = True
        return QueryVector(None, "timed out")

    def _embed(self, call: _Call) -> None:
        """Call the embedder, in a query thread."""
        with self._lock:
            if call.is_dropped:
                return
            call.is_begun = True
        vector, error = None, None
        try:
            found = resolve_awaitable(self._embedder.embed(call.key))
            vector = check_vector(found, self._embedder.dim, self._name)
        except MemctxError as failure:
            error = str(failure)
        except BaseException as failure:  # noqa: BLE001 - its text may contain a key, and the thread must go on
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
    """A call of the embedder for one text, and the number of its waiters."""

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
    """Run tasks until None arrives. No task is referenced between two of them."""
    while (task := work.get()) is not None:
        task()
        del task


def _warm(embedder: Embedder) -> None:
    """Import and load in advance what the first query would have to wait for."""
    with suppress(Exception):  # the first query reports any failure
        import_module("numpy")
        warm: Callable[[], None] | None = getattr(embedder, "warm", None)
        if warm is not None:
            warm()


def _stop(work: SimpleQueue[Callable[[], None] | None]) -> None:
    for _ in range(MAX_CALLS):
        work.put(None)

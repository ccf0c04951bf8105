"""`Embedding`: an embedder at work for one store."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memctx.embeddings.queries import Queries
from memctx.embeddings.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx._core import WarmStore
    from memctx.embeddings.protocol import Embedder

# Seconds between two looks at how far another thread or process is.
LOOK = 0.05


class Embedding:
    """Makes vectors for what a store holds, in the background, and for what it is asked, in the time there is."""

    def __init__(self, store: WarmStore, embedder: Embedder, *, timeout_ms: float) -> None:
        self._store = store
        self._embedder = embedder
        self._timeout_ms = timeout_ms
        self.reopen()

    def reopen(self) -> None:
        """After a fork: go on without the parent's threads."""
        self.queries = Queries(self._embedder, timeout_ms=self._timeout_ms)
        self.worker = Worker(self._store, self._embedder)

    def health(self) -> dict[str, Any]:
        """What became of queries and of what is stored, ready for JSON."""
        return {"queries": asdict(self.queries.stats()), "work": asdict(self.worker.work)}

    def close(self) -> None:
        """Stop after what is under way. The embedder stays open: others may use it."""
        self.queries.close()
        self.worker.close()


def complete(
    store: WarmStore, worker: Worker | None, progress: Callable[[int, int], object] | None
) -> None:
    """Wait until everything stored has its vectors; where a worker makes them, it does so in this thread."""
    is_done = False
    while not is_done:
        has_worked = worker is not None and worker.step()
        status = store.embedding()
        if progress is not None:
            progress(status.done_bytes, status.log_bytes)
        is_done = not has_worked and not status.is_replacing and status.lacking <= status.aside
        if not has_worked and not is_done:
            # The core, or another process, is at it.
            threading.Event().wait(LOOK)

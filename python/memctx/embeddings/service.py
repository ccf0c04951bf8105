"""`EmbeddingService`: an embedder at work for one store: stored texts in the background, queries within a timeout."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from memctx.embeddings.queries import Queries
from memctx.embeddings.vectors import check_matrix, resolve_awaitable
from memctx.errors import EmbeddingError, MemctxError
from memctx.providers.retry import backoff, jitter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Store
    from memctx.protocols import Embedder

logger = logging.getLogger("memctx.embeddings")

# Texts in a batch: enough for a model to work well, few enough that a search soon has the first vectors.
BATCH = 32
# Seconds between two checks for texts that other processes wrote.
IDLE_SECONDS = 2.0
# Seconds to wait after a failure; doubled after each further one.
FIRST_DELAY, MAX_DELAY = 1.0, 300.0
# Seconds that `close` waits for the current batch.
CLOSE_SECONDS = 2.0
# Seconds between two checks of the progress of another thread or process.
POLL_SECONDS = 0.05


class EmbeddingService:
    """Embeds the texts of a store in the background, and queries within a timeout."""

    def __init__(self, store: Store, embedder: Embedder, *, timeout_ms: float) -> None:
        self._store = store
        self._embedder = embedder
        self._timeout_ms = timeout_ms
        self.reopen()

    def reopen(self) -> None:
        """Start new threads, after a fork."""
        self.queries = Queries(self._embedder, timeout_ms=self._timeout_ms)
        self.worker = EmbeddingWorker(self._store, self._embedder)

    def health(self) -> dict[str, Any]:
        """Return the counters of queries and of stored texts, ready for JSON."""
        return {"queries": asdict(self.queries.stats()), "work": asdict(self.worker.work)}

    def close(self) -> None:
        """Stop after the current calls. The embedder stays open: others may use it."""
        self.queries.close()
        self.worker.close()


@dataclass(frozen=True, slots=True)
class Work:
    """Counters of a worker."""

    embedded: int = 0
    failures: int = 0
    """Failures since the last success."""
    last_error: str | None = None


class EmbeddingWorker:
    """A thread that embeds the texts of a store that have no vectors.

    Failures are retried with back-off. If a batch fails permanently its texts are tried one by one, and those that
    fail while others succeed are excluded until the store is opened again. No text gets a made-up vector.
    """

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._notified = threading.Event()
        self._closing = threading.Event()
        self._work = Work()
        self._stepping = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="memctx-embed", daemon=True)
        self._thread.start()

    @property
    def work(self) -> Work:
        """The counters so far."""
        return self._work

    def notify(self) -> None:
        """Notify the thread of new texts."""
        self._notified.set()

    def close(self) -> None:
        """Stop after the current batch."""
        self._closing.set()
        self._notified.set()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._notified.clear()
            try:
                if not self.step() and not self._closing.is_set():
                    self._notified.wait(IDLE_SECONDS)
                continue
            except EmbeddingError as error:
                if self._work.failures == 1:
                    logger.warning("%s; searches use words only until it works", error)
            except Exception:
                if self._closing.is_set():
                    return
                logger.exception("vectors could not be stored; embedding is retried later")
                self._record_failure(None)
            # Notifications do not end this wait: a failing model is not called again with every message.
            self._closing.wait(jitter(backoff(self._work.failures, FIRST_DELAY, MAX_DELAY)))

    def step(self) -> bool:
        """Embed the next batch; return False if there is none.

        Raises:
            EmbeddingError: No text of the batch could be embedded.
        """
        with self._stepping:
            texts = self._store.unembedded(BATCH)
            if not texts:
                return False
            try:
                self._embed(texts)
            except EmbeddingError as error:
                self._record_failure(error)
                if error.is_retryable or not self._embed_singly(texts):
                    raise
            return True

    def _embed(self, texts: Sequence[tuple[str, str]]) -> None:
        embedder = self._embedder
        try:
            found = resolve_awaitable(embedder.embed_many([text for _, text in texts]))
            vectors = check_matrix(found, len(texts), embedder.dim, embedder.name)
        except EmbeddingError:
            raise
        except MemctxError as error:
            raise EmbeddingError(str(error)) from error
        except Exception as error:  # noqa: BLE001 - of any class, and its text may contain a key
            message = f"{embedder.name} failed ({type(error).__name__})"
            raise EmbeddingError(message, is_retryable=True) from None
        self._store.supply([name for name, _ in texts], vectors)
        self._work = Work(embedded=self._work.embedded + len(texts))

    def _embed_singly(self, texts: Sequence[tuple[str, str]]) -> bool:
        """Embed texts one by one and exclude those that fail permanently; return False if all fail."""
        refused: list[str] = []
        for text in texts:
            try:
                self._embed([text])
            except EmbeddingError as error:
                self._record_failure(error)
                if error.is_retryable:
                    return False
                refused.append(text[0])
            if len(refused) == len(texts):
                return False
        self._store.set_aside(refused)
        return True

    def _record_failure(self, error: EmbeddingError | None) -> None:
        message = self._work.last_error if error is None else str(error)
        self._work = Work(self._work.embedded, self._work.failures + 1, message)


def wait_for_vectors(
    store: Store,
    worker: EmbeddingWorker | None,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Wait until every stored text has its vectors; the work of a worker, or of the core, is done in this thread."""
    is_done = False
    while not is_done:
        has_worked = store.embed_some() > 0 if worker is None else worker.step()
        status = store.embedding()
        if progress is not None:
            progress(status.done_bytes, status.log_bytes)
        is_done = not has_worked and not status.is_replacing and status.lacking <= status.aside
        if not has_worked and not is_done:
            # Another process makes the vectors.
            threading.Event().wait(POLL_SECONDS)

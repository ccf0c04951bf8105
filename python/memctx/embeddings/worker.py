"""`Worker`: gives everything stored its vectors, in a thread of its own."""

from __future__ import annotations

import logging
import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.embeddings.awaited import awaited
from memctx.embeddings.vectors import matrix_of
from memctx.errors import EmbeddingError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import WarmStore
    from memctx.embeddings.protocol import Embedder

logger = logging.getLogger("memctx.embeddings")

# Texts embedded at a time: enough for a model to work well, few enough that a search has the first of them soon.
BATCH = 32
# Seconds between two looks at what other processes wrote.
IDLE = 2.0
# Seconds to wait after a failure; twice as long after each that follows, up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 300.0
# Seconds that closing waits for a batch under way.
PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Work:
    """What was embedded so far, and what went wrong last."""

    embedded: int = 0
    failures: int = 0
    """Failures since the last success."""
    last_error: str | None = None


class Worker:
    """Asks a store for texts without vectors, embeds them and supplies the vectors, for as long as there are any.

    What fails is tried again, later and later. Where a batch fails for good its texts are tried one by one, and those
    that fail while others do not are set aside until the store is opened again. No text ever gets a made-up vector.
    """

    def __init__(self, store: WarmStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._more = threading.Event()
        self._closing = threading.Event()
        self._work = Work()
        self._stepping = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="memctx-embed", daemon=True)
        self._thread.start()

    @property
    def work(self) -> Work:
        """What was done so far."""
        return self._work

    def wake(self) -> None:
        """There may be more to do."""
        self._more.set()

    def close(self) -> None:
        """Stop after the batch under way."""
        self._closing.set()
        self._more.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._more.clear()
            try:
                if not self.step() and not self._closing.is_set():
                    self._more.wait(IDLE)
                continue
            except EmbeddingError as error:
                if self._work.failures == 1:
                    logger.warning("%s; searches go by words until it works", error)
            except Exception:
                if self._closing.is_set():
                    return
                logger.exception("vectors could not be kept; they are made again later")
                self._note(None)
            # However much comes meanwhile: what fails is not asked again with every message.
            self._closing.wait(self._pause())

    def _pause(self) -> float:
        """How long to leave the embedder alone."""
        longest = min(FIRST_PAUSE * 2.0 ** min(self._work.failures, 20), LONGEST_PAUSE)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - so that processes do not try at once

    def step(self) -> bool:
        """Embed the next batch; False if there was none. Raises `EmbeddingError` if none of it could be embedded."""
        with self._stepping:
            texts = self._store.unembedded(BATCH)
            if not texts:
                return False
            try:
                self._embed(texts)
            except EmbeddingError as error:
                self._note(error)
                if error.can_retry or not self._embed_singly(texts):
                    raise
            return True

    def _embed(self, texts: Sequence[tuple[str, str]]) -> None:
        try:
            given = awaited(self._embedder.embed_many([text for _, text in texts]))
            vectors = matrix_of(given, len(texts), self._embedder.dim, self._embedder.name)
        except MemctxError as error:
            if isinstance(error, EmbeddingError):
                raise
            raise EmbeddingError(str(error)) from error
        except Exception as error:  # noqa: BLE001 - of whatever kind, and its words may hold a key
            raise EmbeddingError(
                f"{self._embedder.name} failed ({type(error).__name__})", can_retry=True
            ) from None
        self._store.supply([name for name, _ in texts], vectors)
        done = self._work.embedded + len(texts)
        self._work = Work(embedded=done)

    def _embed_singly(self, texts: Sequence[tuple[str, str]]) -> bool:
        """Try texts one by one, and set those aside that fail for good while others do not; False if all fail."""
        refused: list[str] = []
        for text in texts:
            try:
                self._embed([text])
            except EmbeddingError as error:
                self._note(error)
                if error.can_retry:
                    return False
                refused.append(text[0])
            if len(refused) == len(texts):
                return False
        self._store.set_aside(refused)
        return True

    def _note(self, error: EmbeddingError | None) -> None:
        words = self._work.last_error if error is None else str(error)
        self._work = Work(self._work.embedded, self._work.failures + 1, words)

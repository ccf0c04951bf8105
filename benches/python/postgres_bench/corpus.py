"""Generated segments: words of a Zipf distribution, vectors around centers. The same number gives the same segment."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

WORDS = 50_000
PER_SEGMENT = 60
PER_QUERY = 8
PER_SESSION = 500
BATCH = 500
CENTERS = 500
SPREAD = 0.6
_QUERY_SEED = 1_000_003


@dataclass(frozen=True)
class Batch:
    """Consecutive segments of one session."""

    start: int
    texts: list[str]
    vectors: NDArray[np.float32]

    @property
    def session_id(self) -> str:
        return f"session {self.start // PER_SESSION}"

    @cached_property
    def ids(self) -> list[str]:
        return [str(uuid.UUID(int=self.start + n, version=4)) for n in range(len(self.texts))]


class Corpus:
    """Batches and queries."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        shares = 1 / np.arange(1, WORDS + 1) ** 1.05
        self._cumulated = np.cumsum(shares / shares.sum())
        self._centers = np.random.default_rng(7).normal(size=(CENTERS, dim)).astype(np.float32)

    def batches(self, start: int, stop: int) -> Iterator[Batch]:
        """Yield the segments of a range, whose ends are multiples of `BATCH`."""
        for first in range(start, stop, BATCH):
            words, vectors = self._drawn(first)
            texts = [" ".join(f"word{each}" for each in row) for row in words]
            yield Batch(first, texts, vectors)

    def queries(self, count: int) -> list[tuple[str, NDArray[np.float32]]]:
        """Return questions of eight words, most of them frequent, with a vector each."""
        random = np.random.default_rng(_QUERY_SEED)
        words = self._words(random, (count, PER_QUERY))
        vectors = self._vectors(random, count)
        texts = [" ".join(f"word{each}" for each in row) for row in words]
        return list(zip(texts, vectors, strict=True))

    def exact(self, size: int, queries: NDArray[np.float32], top: int = 10) -> list[list[str]]:
        """Return the ids of the nearest of the first ``size`` segments for each query, compared with all of them."""
        best = np.full((len(queries), top), -np.inf, np.float32)
        ids = np.zeros((len(queries), top), np.int64)
        for first in range(0, size, BATCH):
            scores = np.hstack([best, queries @ self._drawn(first)[1].T])
            numbers = np.broadcast_to(np.arange(first, first + BATCH), (len(queries), BATCH))
            candidates = np.hstack([ids, numbers])
            order = np.argsort(-scores, axis=1)[:, :top]
            best = np.take_along_axis(scores, order, axis=1)
            ids = np.take_along_axis(candidates, order, axis=1)
        return [[str(uuid.UUID(int=int(n), version=4)) for n in row] for row in ids]

    def _drawn(self, first: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the words and vectors of a batch."""
        random = np.random.default_rng([7, first])
        return self._words(random, (BATCH, PER_SEGMENT)), self._vectors(random, BATCH)

    def _words(self, random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
        return np.minimum(np.searchsorted(self._cumulated, random.random(shape)), WORDS - 1)

    def _vectors(self, random: np.random.Generator, count: int) -> NDArray[np.float32]:
        near = self._centers[random.integers(0, CENTERS, count)]
        made = near + SPREAD * random.normal(size=near.shape).astype(np.float32)
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


class GivenEmbedder:
    """An embedder that looks vectors up, so that no engine is measured by its model."""

    name, revision = "given", "1"

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.known: dict[str, NDArray[np.float32]] = {}

    def embed(self, text: str) -> NDArray[np.float32]:
        return self.known[text]

    def embed_many(self, texts: list[str]) -> NDArray[np.float32]:
        return np.stack([self.known[text] for text in texts])

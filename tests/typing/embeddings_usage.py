"""Embedders as a typed program writes and uses them. Only type checkers read this file; nothing runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import numpy as np
from numpy.typing import NDArray

from memctx.embeddings import ClientOptions, GeminiEmbedder, OpenAIEmbedder, VoyageEmbedder
from memctx.embeddings.queries import Queries, QueryStats, QueryVector
from memctx.errors import EmbeddingError
from memctx.providers.breaker import BreakerPolicy, CircuitBreaker, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.protocols import Embedder


class Lists:
    """Plain lists will do, and plain attributes."""

    name = "lists"
    revision = "1"
    dim = 2

    def embed(self, text: str) -> list[float]:
        return [float(len(text)), 1.0]

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Later(Lists):
    """So will coroutines."""

    async def embed(self, text: str) -> list[float]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return [float(len(text)), 1.0]


class Nameless:
    """This is none."""

    def embed(self, text: str) -> list[float]:
        return [float(len(text))]


embedders: list[Embedder] = [Lists(), OpenAIEmbedder(), GeminiEmbedder(), VoyageEmbedder()]
none: Embedder = Nameless()  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

with Queries(
    Later(), timeout_ms=150.0, breaker=CircuitBreaker(BreakerPolicy()), cache_size=128
) as queries:
    assert_type(queries.vector("which port?"), NDArray[np.float32] | None)
    assert_type(queries.request("which port?"), QueryVector)
    assert_type(queries.request("which port?").reason, str | None)
    assert_type(queries.stats(), QueryStats)
    assert_type(queries.stats().breaker, State)

assert_type(
    OpenAIEmbedder("m", options=ClientOptions(base_url="http://127.0.0.1/v1")).embed("a"),
    NDArray[np.float32],
)
assert_type(EmbeddingError("down", is_retryable=True).retry_after, float | None)

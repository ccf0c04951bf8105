"""Exact vector search against numpy, faiss and usearch, and against double precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmark import Entry, each
from corpus import QUERIES, SEED, SIZE

import memctx

if TYPE_CHECKING:
    from benchmark import Benchmark
    from corpus import Corpus
    from numpy.typing import NDArray

DIM = 384
TOPICS = 400
PEERS = ("numpy_flat", "faiss_flat", "usearch_flat")
LIMITS = {"numpy": 0.4, "faiss flat": 0.4}


@dataclass(frozen=True)
class Vectors:
    """Rows to search among, vectors to search for, both of length 1."""

    matrix: NDArray[np.float32]
    queries: NDArray[np.float32]


@pytest.fixture(scope="module")
def topical() -> Vectors:
    """Return vectors around a center for each topic, with as much noise."""
    rng = np.random.default_rng(SEED)
    count = SIZE + QUERIES
    centers = rng.standard_normal((TOPICS, DIM))
    rows = centers[rng.integers(TOPICS, size=count)] + rng.standard_normal((count, DIM))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    matrix = rows.astype(np.float32)
    return Vectors(matrix[:SIZE], matrix[SIZE:])


@pytest.fixture(scope="module")
def hashed(corpus: Corpus) -> Vectors:
    """Return the corpus in hash embeddings."""
    embedder = memctx.lowlevel.HashEmbedder(DIM)
    return Vectors(embedder.embed_many(corpus.texts), embedder.embed_many(corpus.long))


def build(corpus: Corpus, vectors: Vectors) -> memctx.lowlevel.FlatIndex:
    index = memctx.lowlevel.FlatIndex(DIM)
    index.add_many(corpus.ids, vectors.matrix)
    return index


def cosines(vectors: Vectors) -> NDArray[np.float64]:
    """Return the cosine of every query and every row in double precision."""
    matrix, queries = vectors.matrix.astype(np.float64), vectors.queries.astype(np.float64)
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(matrix, axis=1)
    found: NDArray[np.float64] = queries @ matrix.T / lengths
    return found


def compete(
    benchmark: Benchmark,
    path: str,
    index: memctx.lowlevel.FlatIndex,
    vectors: Vectors,
    limits: dict[str, float],
) -> None:
    share = 1 / QUERIES
    queries = list(vectors.queries)
    modules = [module for name in PEERS if (module := benchmark.peer(name))]
    rivals = {
        module.NAME: Entry(
            each(module.Index(vectors.matrix).search, queries), share, limits.get(module.NAME)
        )
        for module in modules
    }
    benchmark(path, Entry(each(index.search, queries), share), rivals)


@pytest.mark.parametrize("kind", ["topical", "hashed"])
def test_results_are_those_of_double_precision(
    request: pytest.FixtureRequest, corpus: Corpus, kind: str
) -> None:
    """The k-th hit has the k-th best cosine; which of two equal rows it is does not matter."""
    vectors: Vectors = request.getfixturevalue(kind)
    index = build(corpus, vectors)
    number_of = {segment_id: number for number, segment_id in enumerate(corpus.ids)}
    single = [index.search(query, 10) for query in vectors.queries]
    assert single == index.search_many(vectors.queries, 10)
    for hits, truth in zip(single, cosines(vectors), strict=True):
        best = np.sort(truth)[:-11:-1]
        found = truth[[number_of[hit.id] for hit in hits]]
        np.testing.assert_allclose(found, best, rtol=0, atol=1e-12)
        np.testing.assert_allclose([hit.score for hit in hits], best, rtol=0, atol=1e-6)


def test_search(benchmark: Benchmark, corpus: Corpus, topical: Vectors) -> None:
    compete(benchmark, "cosine top-10, topics", build(corpus, topical), topical, LIMITS)


def test_search_hashed(benchmark: Benchmark, corpus: Corpus, hashed: Vectors) -> None:
    compete(benchmark, "cosine top-10, hash embeddings", build(corpus, hashed), hashed, {})


def test_search_many(benchmark: Benchmark, corpus: Corpus, topical: Vectors) -> None:
    """All queries at once; the figure is for one of them."""
    share = 1 / QUERIES
    index = build(corpus, topical)
    modules = [module for name in PEERS[:2] if (module := benchmark.peer(name))]
    indexes = {module.NAME: module.Index(topical.matrix) for module in modules}
    benchmark(
        f"cosine top-10, {QUERIES} queries at once, each",
        Entry(lambda: index.search_many(topical.queries, 10), share),
        {
            name: Entry(partial(peer.search_many, topical.queries), share)
            for name, peer in indexes.items()
        },
    )

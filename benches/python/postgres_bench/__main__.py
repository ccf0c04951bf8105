"""Append and search on a PostgreSQL server: memctx beside COPY, LangGraph's PostgresStore and mem0's pgvector.

::

    PYTHONPATH=tests:benches/python python -m postgres_bench --sizes 10000 100000 --dim 256

The server is one of its own, as for the tests, with fsync on; every engine has a database there. The first size is
stored through each engine's API, batch by batch in turn, with all indexes in place. Larger ones are loaded while the
HNSW indexes are away, which are made afterwards. Peers that are not installed are left out; their packages are
``langgraph-checkpoint-postgres`` and ``mem0ai``, with ``psycopg-pool``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import uuid
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from postgres.cluster import Cluster, rows
from postgres_bench.corpus import Corpus
from postgres_bench.engines import LIMIT, BareCopy, GraphAway, LangGraph, Mem0, Memctx

if TYPE_CHECKING:
    from collections.abc import Callable

    from postgres_bench.engines import Engine

QUERIES = 200
WARMING_SECONDS = 60.0
EXACT_QUERIES = 100
EXACT_HYBRID_QUERIES = 20
EXACT_HYBRID_SIZE = 100_000
"""Largest number of segments that are ranked one by one for each question."""


class Spent:
    """Seconds of named steps."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def time(self, name: str, step: Callable[..., object], *given: object) -> None:
        start = time.perf_counter()
        step(*given)
        self.seconds.setdefault(name, []).append(time.perf_counter() - start)

    def rates(self, count: int) -> dict[str, float]:
        return {name: count / sum(found) for name, found in self.seconds.items()}


def make_engines(cluster: Cluster, corpus: Corpus, names: list[str]) -> list[Engine]:
    """Return the engines that are installed."""
    engines: list[Engine] = []
    for number, kind in enumerate((Memctx, LangGraph, Mem0)):
        if kind.name.split()[0].lower() not in names:
            continue
        database = f"bench_{number}"
        rows(cluster.dsn(), f"CREATE DATABASE {database}")
        try:
            engines.append(kind(cluster.dsn(database), corpus))
        except ImportError as error:
            print(f"{kind.name} is left out: {error}")
    return engines


def append(engines: list[Engine], cluster: Cluster, corpus: Corpus, count: int) -> None:
    """Store ``count`` segments through every API and print the rates."""
    spent = Spent()
    rows(cluster.dsn(), "CREATE DATABASE bench_archive")
    archive = Memctx(cluster.dsn("bench_archive"), corpus)
    bare = BareCopy(archive)
    for batch in corpus.batches(0, count):
        session = uuid.uuid4()
        lines = archive.lines(batch)
        spent.time("COPY, lines and words", bare.lines, lines, session)
        spent.time("COPY, vectors", bare.vectors, batch.ids, batch.vectors, session)
        messages = [{"role": "user", "content": text} for text in batch.texts]
        archive.embedder.known = dict(zip(batch.texts, batch.vectors, strict=True))
        with archive.open(batch.session_id) as memory:
            spent.time("Memory.archive", memory.archive, messages)
        for engine in engines:
            if isinstance(engine, Memctx):
                own = engine.lines(batch)
                spent.time("memctx, lines and words", engine.add_lines, own)
                spent.time("memctx, vectors", engine.add_vectors, batch)
            else:
                spent.time(engine.name, engine.add, batch)
    bare.close()
    archive.close()
    print(
        f"\n{count:,} segments, one connection each, in batches of {len(batch.texts)}; segments/s"
    )
    for name, rate in spent.rates(count).items():
        print(f"  {name:28} {rate:10,.0f}")


def measure(
    engine: Engine, queries: list[tuple[str, np.ndarray]]
) -> tuple[list[float], list[list[str]]]:
    """Return sorted milliseconds of searches, after as many to warm the cache, and what they found.

    An engine that takes longer than `WARMING_SECONDS` to warm the cache is asked fewer questions.
    """
    asked: list[tuple[str, np.ndarray]] = []
    end = time.perf_counter() + WARMING_SECONDS
    for text, vector in queries:
        engine.search(text, vector)
        asked.append((text, vector))
        if time.perf_counter() > end:
            break
    times, found = [], []
    for text, vector in asked:
        start = time.perf_counter()
        found.append(engine.search(text, vector))
        times.append((time.perf_counter() - start) * 1_000)
    return sorted(times), found


def share(found: list[list[str]], wanted: list[list[str]]) -> float:
    """Return the share of wanted ids that were found."""
    pairs = list(zip(found, wanted, strict=False))
    return sum(len({*a} & {*b}) for a, b in pairs) / sum(len(b) for _, b in pairs)


def search(engines: list[Engine], corpus: Corpus, size: int) -> dict[str, float]:
    """Print times and recall at one size; return the medians."""
    queries = corpus.queries(QUERIES)
    vectors = np.stack([vector for _, vector in queries[:EXACT_QUERIES]])
    exact = corpus.exact(size, vectors, LIMIT)
    medians = {}
    print(f"\n{size:,} segments; {QUERIES} questions, top {LIMIT}")
    for engine in engines:
        times, found = measure(engine, queries)
        medians[engine.name] = statistics.median(times)
        line = f"  {engine.name:26} p50 {medians[engine.name]:8.1f} ms  p99 {times[len(times) * 99 // 100]:8.1f} ms"
        if len(times) < len(queries):
            line += f"  ({len(times)} questions)"
        if isinstance(engine, Memctx):
            candidates = [
                engine.nearest_candidates(vector) for _, vector in queries[:EXACT_QUERIES]
            ]
            line += f"  nearest 10 among candidates {share(candidates, exact):.3f}"
            if size <= EXACT_HYBRID_SIZE:
                asked = queries[:EXACT_HYBRID_QUERIES]
                ranked = exact_hybrid(engine, corpus, size, asked)
                line += f"  exact hybrid 10 found {share(found, ranked):.3f}"
        else:
            line += f"  nearest 10 found {share(found, exact):.3f}"
        stored = rows(engine.dsn, "SELECT pg_database_size(current_database())")[0][0]
        print(f"{line}  {int(str(stored)) / size:,.0f} bytes/segment", flush=True)
    return medians


def exact_hybrid(
    engine: Memctx, corpus: Corpus, size: int, queries: list[tuple[str, np.ndarray]]
) -> list[list[str]]:
    """Return the best ten when every segment is a candidate of the ranking."""
    everything = [
        (text, vector[None])
        for batch in corpus.batches(0, size)
        for text, vector in zip(engine.texts(batch), batch.vectors, strict=True)
    ]
    store = engine.memory().store
    return [
        [hit.segment.id for hit in store.rank(text, everything, vector=vector, limit=LIMIT)]
        for text, vector in queries
    ]


def run(cluster: Cluster, sizes: list[int], dim: int, names: list[str]) -> None:
    corpus = Corpus(dim)
    engines = make_engines(cluster, corpus, names)
    append(engines, cluster, corpus, sizes[0])
    medians = {}
    for before, size in pairwise([sizes[0], *sizes]):
        for engine in engines:
            if size > before:
                start = time.perf_counter()
                with GraphAway(engine.dsn):
                    engine.load(corpus.batches(before, size))
                    loaded = time.perf_counter() - start
                print(
                    f"{engine.name}: {size - before:,} loaded in {loaded:.0f} s, graph and statistics in"
                    f" {time.perf_counter() - start - loaded:.0f} s",
                    flush=True,
                )
            else:
                rows(engine.dsn, "VACUUM ANALYZE")
        medians[size] = search(engines, corpus, size)
    for engine in engines:
        grown = [
            f"{medians[size][engine.name] / medians[sizes[0]][engine.name]:.2f}" for size in sizes
        ]
        print(f"growth of p50, {engine.name}: {', '.join(grown)}")
        engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--engines", nargs="+", default=["memctx", "langgraph", "mem0"])
    given = parser.parse_args()
    settings = {
        "fsync": "on",
        "shared_buffers": "3GB",
        "maintenance_work_mem": "1GB",
        "max_wal_size": "6GB",
    }
    cluster = Cluster(settings)
    try:
        run(cluster, given.sizes, given.dim, given.engines)
    finally:
        cluster.close()


if __name__ == "__main__":
    sys.exit(main())

"""The store for LangGraph beside LangGraph's own in memory: 10,000 items, the same vectors.

Run in the environment of LangGraph; times are medians of single calls in milliseconds.

    make target/integrations/langgraph/.installed
    export PYTHONPATH=python:packages/memctx-model/src
    target/integrations/langgraph/bin/python benches/python/langgraph_store.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from memctx.embeddings import embedder_of
from memctx.integrations.langgraph import MemctxStore

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS, SINGLE = 10_000, 500
MILLISECONDS = 1_000
FIELDS: Any = {"fields": ["text"]}


def items() -> list[tuple[tuple[str, ...], str, dict[str, Any]]]:
    return [
        (
            ("users", f"u{n % 100}"),
            f"k{n}",
            {
                "text": f"user {n} prefers theme {n % 17} and lives in city {n % 97}",
                "n": n,
                "kind": "even" if n % 2 == 0 else "odd",
            },
        )
        for n in range(ITEMS)
    ]


def measure(call: Callable[[int], object], count: int) -> float:
    """Return the median milliseconds of a call."""
    took: list[float] = []
    for n in range(count):
        start = time.perf_counter()
        call(n)
        took.append(time.perf_counter() - start)
    return statistics.median(took) * MILLISECONDS


def run(store: Any) -> dict[str, float]:
    given = items()
    start = time.perf_counter()
    store.batch([PutOp(*item) for item in given[:-SINGLE]])
    batch = (time.perf_counter() - start) * MILLISECONDS
    rest = given[-SINGLE:]
    conditions = {"n": {"$gt": 9_000}, "kind": "even"}
    return {
        f"put {ITEMS - SINGLE:,} in a batch": batch,
        "put": measure(lambda n: store.put(*rest[n]), SINGLE),
        "get": measure(lambda n: store.get(*given[7 * n][:2]), SINGLE),
        "search, filter": measure(lambda _: store.search((), filter=conditions), 20),
        "search, query": measure(lambda n: store.search((), query=f"who lives in city {n}?"), 20),
        "search, query in a namespace": measure(
            lambda n: store.search(("users", f"u{n}"), query=f"who lives in city {n}?"), 20
        ),
        "search, query and filter": measure(
            lambda n: store.search((), query=f"who lives in city {n}?", filter=conditions), 20
        ),
    }


def main() -> None:
    embedder = embedder_of("memctx")
    index: Any = FIELDS | {
        "dims": embedder.dim,
        "embed": lambda texts: [list(map(float, row)) for row in embedder.embed_many(texts)],
    }
    folder = tempfile.mkdtemp()
    columns = [run(InMemoryStore(index=index))]
    for durability in ("os", "fsync"):
        folder = tempfile.mkdtemp()
        with MemctxStore(folder, index=FIELDS, disk={"durability": durability}) as store:
            columns.append(run(store))
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    for name, *numbers in rows:
        sys.stdout.write(f"| {name} | {' | '.join(f'{number:,.3g}' for number in numbers)} |\n")
    start = time.perf_counter()
    MemctxStore(folder, index=FIELDS).search((), query="city 5")
    took = (time.perf_counter() - start) * MILLISECONDS
    sys.stdout.write(f"open and search for the first time: {took:,.0f}\n")


if __name__ == "__main__":
    main()

"""Facts against a linear scan: ten thousand facts, one call at a time."""

from __future__ import annotations

import gc
from itertools import count
from time import process_time
from typing import TYPE_CHECKING, TypeVar

import pytest
from benchmark import Figure, Row
from peers import fact_scan

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark import Benchmark
    from corpus import Corpus

FACTS = 10_000
LONGEST = 120
CALLS = 120
BLOCK = 20
LIMIT = 1 / 50
NEAREST = 0.001  # seconds
Item = TypeVar("Item")


@pytest.fixture(scope="module")
def contents(corpus: Corpus) -> list[str]:
    """Return texts about as long as facts, each with its own number."""
    texts = (corpus.texts * (1 + FACTS // len(corpus.texts)))[:FACTS]
    return [f"{number}: {text[:LONGEST]}" for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def ours(
    contents: list[str], tmp_path_factory: pytest.TempPathFactory
) -> memctx.lowlevel.FactStore:
    """Open our store; neither side waits for the disk."""
    path = tmp_path_factory.mktemp("facts") / "memory"
    store = memctx.lowlevel.FactStore(
        path, memctx.lowlevel.StoreOptions(session_id="s", durability="os")
    )
    store.apply([("add", f"f{at}", "config", text, None, ()) for at, text in enumerate(contents)])
    assert len(store) == FACTS
    return store


@pytest.fixture(scope="module")
def scan(contents: list[str], tmp_path_factory: pytest.TempPathFactory) -> fact_scan.Facts:
    return fact_scan.Facts(tmp_path_factory.mktemp("scan") / "knowledge.jsonl", contents)


def in_turn(
    one: Callable[[Item], object], other: Callable[[Item], object], items: Sequence[Item]
) -> tuple[Figure, Figure]:
    """Return the median time of a call; the sides take turns with the same items."""
    times: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    try:
        for start in range(0, len(items), BLOCK):
            for call, taken in zip((one, other), times, strict=True):
                for item in items[start : start + BLOCK]:
                    before = process_time()
                    call(item)
                    taken.append(process_time() - before)
    finally:
        gc.enable()
    return Figure.of(times[0]), Figure.of(times[1])


def test_add(benchmark: Benchmark, ours: memctx.lowlevel.FactStore, scan: fact_scan.Facts) -> None:
    """A fact that is new, so that both have to make sure of it and write it."""
    number = count()
    texts = [
        f"The gateway of region {next(number)} listens on port {8000 + at}, behind nginx"
        for at in range(CALLS)
    ]
    mine, theirs = in_turn(lambda text: ours.add("config", text), scan.add, texts)
    assert ours.get(ours.add("config", texts[-1]).id)
    benchmark.enter(Row(f"facts, one added to {FACTS}, p50", mine, fact_scan.NAME, theirs, LIMIT))


def test_search(
    benchmark: Benchmark, corpus: Corpus, ours: memctx.lowlevel.FactStore, scan: fact_scan.Facts
) -> None:
    """The short queries of the corpus."""
    queries = corpus.short[:CALLS]
    assert any(ours.search(query) for query in queries)
    mine, theirs = in_turn(ours.search, scan.search, queries)
    benchmark.enter(Row(f"facts, a question to {FACTS}, p50", mine, fact_scan.NAME, theirs, LIMIT))


def test_nearest(
    benchmark: Benchmark, contents: list[str], ours: memctx.lowlevel.FactStore
) -> None:
    """The facts near to a line: what an extractor is shown, and what a plan weighs."""
    lines = contents[:: FACTS // CALLS]
    assert all(ours.nearest(line, limit=1)[0].content == line.strip() for line in lines)
    mine, _ = in_turn(ours.nearest, lambda _: None, lines)
    benchmark.enter(
        Row(
            f"facts near to a line, of {FACTS}, p50",
            mine,
            "the time allowed",
            Figure(NEAREST, NEAREST, NEAREST),
            1.0,
        )
    )

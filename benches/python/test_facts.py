"""Facts against a list that is gone through: ten thousand of them, one call at a time."""

from __future__ import annotations

import gc
from itertools import count
from time import process_time
from typing import TYPE_CHECKING, TypeVar

import pytest
from peers import fact_scan
from race import Figure, Row

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpus import Corpus
    from race import Race

FACTS = 10_000
LONGEST = 120
CALLS = 120
BLOCK = 20
LIMIT = 1 / 50
NEAREST = 0.001  # seconds
Item = TypeVar("Item")


@pytest.fixture(scope="module")
def contents(corpus: Corpus) -> list[str]:
    """Statements about as long as facts are, each set apart by a number."""
    texts = (corpus.texts * (1 + FACTS // len(corpus.texts)))[:FACTS]
    return [f"{number}: {text[:LONGEST]}" for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def ours(contents: list[str], tmp_path_factory: pytest.TempPathFactory) -> memctx.FactStore:
    """Neither of them waits for the disk: that takes both as long."""
    path = tmp_path_factory.mktemp("facts") / "memory"
    store = memctx.FactStore(path, session_id="s", durability="os")
    store.apply([("add", f"f{at}", "config", text, None, ()) for at, text in enumerate(contents)])
    assert len(store) == FACTS
    return store


@pytest.fixture(scope="module")
def scan(contents: list[str], tmp_path_factory: pytest.TempPathFactory) -> fact_scan.Facts:
    return fact_scan.Facts(tmp_path_factory.mktemp("scan") / "knowledge.jsonl", contents)


def in_turn(
    one: Callable[[Item], object], other: Callable[[Item], object], items: Sequence[Item]
) -> tuple[Figure, Figure]:
    """What a call takes, the middle one of all: each gets some items, then the other gets them, and so on."""
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


def test_add(race: Race, ours: memctx.FactStore, scan: fact_scan.Facts) -> None:
    """A fact that is new, so that both have to make sure of it and write it."""
    number = count()
    texts = [
        f"The gateway of region {next(number)} listens on port {8000 + at}, behind nginx"
        for at in range(CALLS)
    ]
    mine, theirs = in_turn(lambda text: ours.add("config", text), scan.add, texts)
    assert ours.get(ours.add("config", texts[-1]).id)
    race.enter(Row(f"facts, one added to {FACTS}, p50", mine, fact_scan.NAME, theirs, LIMIT))


def test_search(race: Race, corpus: Corpus, ours: memctx.FactStore, scan: fact_scan.Facts) -> None:
    """The short queries of the corpus."""
    queries = corpus.short[:CALLS]
    assert any(ours.search(query) for query in queries)
    mine, theirs = in_turn(ours.search, scan.search, queries)
    race.enter(Row(f"facts, a question to {FACTS}, p50", mine, fact_scan.NAME, theirs, LIMIT))


def test_nearest(race: Race, contents: list[str], ours: memctx.FactStore) -> None:
    """The facts near to a line: what an extractor is shown, and what a plan weighs."""
    lines = contents[:: FACTS // CALLS]
    assert all(ours.nearest(line, limit=1)[0].content == line.strip() for line in lines)
    mine, _ = in_turn(ours.nearest, lambda _: None, lines)
    race.enter(
        Row(
            f"facts near to a line, of {FACTS}, p50",
            mine,
            "the time allowed",
            Figure(NEAREST, NEAREST, NEAREST),
            1.0,
        )
    )

"""Effect of extraction on turns: their time while a hundred sessions extract, against none.

Turns are timed by the wall too, for what could delay them is another thread. The two ways take turns, so that the
machine is the same for both; on one that others use, only the processor's time is steady.
"""

from __future__ import annotations

import asyncio
import gc
import random
from itertools import cycle, islice
from statistics import quantiles
from time import monotonic, perf_counter, process_time, sleep
from typing import TYPE_CHECKING

import contexts
import pytest
import stores
from benchmark import Figure, Row

import memctx
from memctx._core import FactStore, StoreOptions
from memctx.facts import CandidateFact
from memctx.facts.extractors import ExtractionResult, Usage
from memctx.facts.worker import BackgroundExtraction, ExtractionOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark import Benchmark
    from corpus import Corpus

    from memctx.facts.extractors import Request

    Times = dict[str, list[float]]
    """Seconds of each turn, by clock."""

SESSIONS = 100
MESSAGES = 400
ROUNDS = 7
TURNS = 60
BATCH = 5
CHARACTERS = 6_000
HOURS = 10_000.0
FIGURES = (("processor", 50), ("wall", 50), ("wall", 99))
CALL = 2.0
"""Seconds that a model which answers takes in the mean."""


class Model:
    """Extractor that answers after a delay, with a fact for each message."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self._chance = random.Random(7)  # noqa: S311 - no secret
        self.asked = self.answered = 0

    async def extract(self, request: Request) -> ExtractionResult:
        self.asked += 1
        await asyncio.sleep(self._chance.uniform(self._least, self._most))
        self.answered += 1
        candidates = [CandidateFact("config", message.text[:120]) for message in request.messages]
        return ExtractionResult(tuple(candidates), Usage(1, 2_000, 200))


class Sessions:
    """A hundred sessions, each with batches to extract from."""

    def __init__(self, folder: Path, texts: Iterator[str]) -> None:
        self._folder, self._texts = folder, texts
        self._names = [f"session {number}" for number in range(SESSIONS)]
        self._stores = [
            memctx.lowlevel.Store(
                folder, memctx.lowlevel.StoreOptions(session_id=name, durability="os")
            )
            for name in self._names
        ]
        self._facts = [FactStore(folder, StoreOptions(session_id=name)) for name in self._names]
        self._open: list[BackgroundExtraction] = []

    def begin(self, model: Model, batches: int) -> None:
        """Archive batches in each session and extract from them; return once all have begun."""
        for store in self._stores:
            said = islice(self._texts, batches * BATCH)
            store.add([("user", f"{store.session_id}, {text}", None, None) for text in said])
        self._open = [
            BackgroundExtraction(
                self._folder,
                name,
                facts,
                model,
                ExtractionOptions(CHARACTERS, BATCH, start="beginning"),
            )
            for name, facts in zip(self._names, self._facts, strict=True)
        ]
        end = monotonic() + 120
        while model.asked < SESSIONS:
            assert monotonic() < end, f"only {model.asked} sessions extract"
            sleep(0.01)

    def end(self) -> None:
        """Stop, even during calls."""
        for extraction in self._open:
            extraction.close()

    def close(self) -> None:
        for each in (*self._stores, *self._facts):
            each.close()


@pytest.fixture(scope="module")
def conversation(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[memctx.Memory, list[contexts.Message], Iterator[str]]]:
    """Return a conversation over a store of the whole corpus, and its next messages."""
    path = tmp_path_factory.mktemp("extraction") / "memory"
    stores.fill(path, corpus.texts)
    material = contexts.texts(
        tmp_path_factory.mktemp("material") / "corpus.jsonl",
        MESSAGES + 4 * (ROUNDS + 1) * TURNS,
        len(corpus.texts),
    )
    source = iter(material)
    messages = contexts.context(source, MESSAGES)
    with memctx.open(
        path, session_id="bench", context_window=2_000_000, disk={"durability": "os"}, pruning="off"
    ) as memory:
        len(memory.store)
        yield memory, messages, source


def turns(memory: memctx.Memory, messages: list[contexts.Message], source: Iterator[str]) -> Times:
    """Return wall and process seconds of each turn; the conversation has the same length before and after."""
    walls, processor = [], []
    gc.collect()
    for question in islice(source, TURNS):
        said = [*messages, {"role": "user", "content": question[:600]}]
        start, spent = perf_counter(), process_time()
        turn = memory.prepare(said, format="anthropic")
        walls.append(perf_counter() - start)
        processor.append(process_time() - spent)
        assert not turn.report.errors, turn.report.errors
        sleep(0.001)  # as a host does, which sends them
    return {"wall": walls, "processor": processor}


@pytest.mark.parametrize(
    ("span", "batches", "words", "limits"),
    [
        ((HOURS, HOURS), 1, "100 batches in flight", (1.1, 1.25, 2.0)),
        ((0.0, 2 * CALL), 4, f"100 sessions extract, {CALL:g} s a call", (None, None, None)),
    ],
    ids=["in flight", "answering"],
)
def test_turns_beside_extraction(  # noqa: PLR0913, PLR0917 - pytest gives them by name
    span: tuple[float, float],
    batches: int,
    words: str,
    limits: tuple[float | None, float | None, float | None],
    benchmark: Benchmark,
    conversation: tuple[memctx.Memory, list[contexts.Message], Iterator[str]],
    corpus: Corpus,
    tmp_path: Path,
) -> None:
    """The median and the slowest hundredth of the turns of a round, then the median of the rounds."""
    alone: list[Times] = []
    beside: list[Times] = []
    answered = 0
    sessions = Sessions(tmp_path, cycle(corpus.texts))
    turns(*conversation)
    for number in range(ROUNDS):
        alone.append(turns(*conversation))
        model = Model(*span)
        # What is in flight stays pending when it is stopped, and serves the next round too.
        sessions.begin(model, 0 if number and span[0] else batches)
        beside.append(turns(*conversation))
        sessions.end()
        answered += model.answered
    sessions.close()
    for (clock, part), limit in zip(FIGURES, limits, strict=True):
        ours, theirs = (
            Figure.of([quantiles(times[clock], n=100)[part - 1] for times in each])
            for each in (beside, alone)
        )
        benchmark.enter(
            Row(f"turn, {words}, {clock} p{part}", ours, "no extraction", theirs, limit)
        )
    benchmark.ledger.notes.append(
        f"turn, {words}: {TURNS} turns in each of {ROUNDS} rounds; "
        f"{answered} batches were answered meanwhile"
    )

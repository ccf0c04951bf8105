"""A turn of a long conversation over a full store, against what it replaces.

Turns are measured as hosts take them: a list that is the last one and one message more. The first turn knows nothing
of the messages, reads them all, trims them and archives what left.
"""

from __future__ import annotations

import gc
import math
import os
import shutil
from itertools import islice
from statistics import median
from time import perf_counter, process_time, sleep, thread_time
from typing import TYPE_CHECKING, Any

import contexts
import corpus as corpora
import numpy as np
import pytest
import report
import stores
from benchmark import Figure, Row
from peers import plain_trim

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from benchmark import Benchmark
    from corpus import Corpus

ROUNDS = 7
TURNS = 20
FIRST_TURNS = 5
SHARE = 0.6
"""Share of the tokens that a trim leaves, ours and the peers'."""
LONGEST = 4_000
LENGTHS = (200, 1_000, 2_000, LONGEST)
LARGEST = int(os.environ.get("MEMCTX_BENCH_GROWTH", corpora.SIZE))
SEGMENTS = [size for size in (1_000, 20_000, 100_000) if size <= max(LARGEST, corpora.SIZE)]
TRIM_TO = 0.8
RESERVE = 4_000
HARD_CAP = 4_000


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return texts for the longest conversation and its continuation; none of them is in the store."""
    path = tmp_path_factory.mktemp("material") / "corpus.jsonl"
    return contexts.texts(path, LONGEST + 2 * (ROUNDS + 2) * TURNS, max(SEGMENTS))


@pytest.fixture(scope="module")
def filled(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of the whole corpus."""
    path = tmp_path_factory.mktemp("turn") / "memory"
    fill(path, corpus.texts)
    return path


def fill(path: Path, texts: Iterable[str]) -> None:
    """Store all texts, with the vectors of the default model."""
    stores.fill(path, texts)
    with memctx.open(path, session_id="bench", disk={"max_segments": 1_000_000}) as memory:
        wait_for_vectors(memory)


def wait_for_vectors(memory: memctx.Memory) -> None:
    """Wait until nothing is left to be embedded in the background."""
    while memory.store.embedding().lacking:
        sleep(0.01)


def tokens_of(messages: list[contexts.Message]) -> int:
    """Return the estimated tokens of the messages."""
    return sum(memctx.estimate_tokens(contexts.text_of(message), "script") for message in messages)


def opened(path: Path, messages: list[contexts.Message]) -> memctx.Memory:
    """Open a memory whose window the messages do not fit in, so that a trim leaves `SHARE` of them; loaded.

    Pruning is off: shortening the results would make most of the trim unnecessary, and the peers do not do it.
    """
    window = int(tokens_of(messages) * SHARE / TRIM_TO) + RESERVE + HARD_CAP
    memory = memctx.open(
        path,
        session_id="bench",
        context_window=window,
        trim={"reply_reserve_tokens": RESERVE},
        recall={"hard_cap_tokens": HARD_CAP},
        disk={"max_segments": 1_000_000, "durability": "os"},
        pruning="off",
    )
    len(memory.store)  # waits until it has loaded
    return memory


class Conversation:
    """A conversation that grows by a question with every turn."""

    def __init__(
        self, memory: memctx.Memory, messages: list[contexts.Message], more: Iterator[str]
    ) -> None:
        self.memory, self.messages, self._more = memory, messages, more
        self.timings: list[dict[str, float]] = []
        """Milliseconds of each step of each turn. A host does not keep the turns themselves, either."""
        self.own: list[float] = []
        """Processor seconds of each turn in the calling thread alone."""

    def turn(self) -> Any:
        """Add a message and run the turn."""
        self.messages.append({"role": "user", "content": next(self._more)[:600]})
        turn = self.memory.prepare(self.messages, format="anthropic")
        assert not turn.report.errors, turn.report.errors
        return turn

    def timed(self, clock: Callable[[], float] = process_time) -> list[float]:
        """Return the seconds of turns, the store idle before each."""
        times = []
        for _ in range(TURNS):
            wait_for_vectors(self.memory)
            len(self.memory.store)
            start, own = clock(), thread_time()
            turn = self.turn()
            times.append(clock() - start)
            self.own.append(thread_time() - own)
            self.timings.append(turn.report.milliseconds)
            del turn
        return times


def repeated(call: Callable[[], object], times: int) -> list[float]:
    """Return the processor seconds of each call."""
    found = []
    gc.disable()
    for _ in range(times):
        start = process_time()
        call()
        found.append(process_time() - start)
    gc.enable()
    return found


@pytest.fixture(scope="module")
def matvec() -> Callable[[], object]:
    """Multiply a matrix as large as the store's with a vector: the least that exact search costs in numpy."""
    chance = np.random.default_rng(7)
    matrix = chance.standard_normal((20_000, 384), dtype=np.float32)
    vector = chance.standard_normal(384, dtype=np.float32)
    return lambda: matrix @ vector


@pytest.mark.parametrize("count", [1_000, 2_000])
def test_steady_turn(  # noqa: PLR0913, PLR0917 - pytest gives them by name
    count: int,
    benchmark: Benchmark,
    material: list[str],
    filled: Path,
    tmp_path: Path,
    matvec: Callable[[], object],
) -> None:
    """One message more than the last time: the median of the turns of a round, then of the rounds."""
    source = iter(material)
    messages = contexts.context(source, count)
    words = f"{len(messages)} messages, {tokens_of(messages):,} tokens"
    langchain = benchmark.peer("langchain_trim")
    theirs = langchain.Trim(messages, SHARE) if langchain else None
    found: dict[str, list[float]] = {"ours": [], "matvec": [], "langchain": []}
    walls, slowest = [], []
    with opened(shutil.copytree(filled, tmp_path / "memory"), messages) as memory:
        conversation = Conversation(memory, messages, source)
        first = conversation.turn()
        assert len(first.messages) < len(messages), "the first turn must trim"
        for _ in range(ROUNDS + 1):
            start = perf_counter()
            times = conversation.timed()
            walls.append((perf_counter() - start) / TURNS)
            found["ours"].append(median(times))
            slowest.append(max(times))
            found["matvec"].append(median(repeated(matvec, TURNS)))
            if theirs is not None:
                found["langchain"].append(median(repeated(theirs, 2)))
    figures = {name: Figure.of(times[1:]) for name, times in found.items() if times}
    path = f"steady turn, {words}"
    own = sorted(conversation.own[TURNS:])
    shown = Figure(median(own), own[0], own[len(own) * 99 // 100])
    benchmark.ledger.notes += [
        f"{path}, calling thread alone, median, least and p99: {report.spread(shown)}",
        f"{path}, slowest of {TURNS} turns: {report.spread(Figure.of(slowest[1:]))}",
        f"{path}, wall: {report.spread(Figure.of(walls[1:]))}",
        *steps_of(path, conversation.timings),
    ]
    rows = [Row(path, figures["ours"], "numpy matvec 20,000 x 384", figures["matvec"], 1.5)]
    if "langchain" in figures:
        rows.append(Row(path, figures["ours"], langchain.NAME, figures["langchain"], None))
    benchmark.enter(*rows)


@pytest.mark.parametrize("count", [1_000, 2_000])
def test_first_turn(
    count: int, benchmark: Benchmark, material: list[str], filled: Path, tmp_path: Path
) -> None:
    """Nothing is known of the messages. What leaves is archived beside the turn, which the note below counts in."""
    source = iter(material)
    messages = contexts.context(source, count)
    query = " ".join(contexts.text_of(messages[place]) for place in (-8, -4)) + next(source)[:600]
    texts = [contexts.text_of(message) for message in messages]
    langchain = benchmark.peer("langchain_trim")
    theirs = langchain.Trim(messages, SHARE) if langchain else None
    ours, plain, lengths, timings = [], [], [], []
    walls, archived = [], []
    for number in range(FIRST_TURNS + 1):
        path = shutil.copytree(filled, tmp_path / f"memory{number}")
        with opened(path, messages) as memory:
            before, start, began = process_time(), thread_time(), perf_counter()
            turn = memory.prepare(messages, format="anthropic")
            ours.append(thread_time() - start)
            walls.append(perf_counter() - began)
            memory.search("all of it is there")
            archived.append(process_time() - before)
        assert not turn.report.errors, turn.report.errors
        assert len(turn.messages) < len(messages)
        timings.append(turn.report.milliseconds)
        del turn  # and all it holds, which would else go in the time of the next one
        shutil.rmtree(path)
        plain += repeated(lambda: plain_trim.trim(texts, query, SHARE), 1)
        if theirs is not None:
            lengths += repeated(theirs, 1)
    path = f"first turn, {len(messages)} messages, {tokens_of(messages):,} tokens"
    mine = Figure.of(ours[1:])
    benchmark.ledger.notes += [
        f"{path}, wall on one core: {report.spread(Figure.of(walls[1:]))}",
        f"{path} with all that left archived and a search, all threads: {report.spread(Figure.of(archived[1:]))}",
        *steps_of(path, timings[1:]),
    ]
    rows = [Row(path, mine, f"relevance trim in {plain_trim.NAME}", Figure.of(plain[1:]), 0.1)]
    if lengths:
        rows.append(Row(path, mine, langchain.NAME, Figure.of(lengths[1:]), None))
    benchmark.enter(*rows)


def steps_of(path: str, timings: list[dict[str, float]]) -> list[str]:
    """Return the median time of each step, from the reports of the turns."""
    names = {name: None for timing in timings for name in timing}
    middle = {name: median(timing.get(name, 0.0) for timing in timings) for name in names}
    words = ", ".join(f"{name} {value * 1e3:.0f} µs" for name, value in middle.items())
    return [f"{path}, steps: {words}"]


def test_growth_with_messages(
    benchmark: Benchmark, material: list[str], filled: Path, tmp_path: Path
) -> None:
    """First and steady turns of conversations that get longer, over one store."""
    columns: dict[str, list[float]] = {"first turn": [], "steady turn": []}
    for count in LENGTHS:
        first, steady = one_size(shutil.copytree(filled, tmp_path / f"{count}"), material, count)
        columns["first turn"].append(first)
        columns["steady turn"].append(steady)
    benchmark.ledger.notes.append(growth("messages", LENGTHS, columns))


def test_growth_with_segments(benchmark: Benchmark, material: list[str], tmp_path: Path) -> None:
    """The same for one conversation over stores that get larger."""
    source = tmp_path / "corpus.jsonl"
    corpora.generate(source, SEGMENTS[-1])
    columns: dict[str, list[float]] = {"first turn": [], "steady turn": []}
    for size in SEGMENTS:
        path = tmp_path / "memory"
        fill(path, segments_of(source, size))
        first, steady = one_size(path, material, 1_000)
        columns["first turn"].append(first)
        columns["steady turn"].append(steady)
        shutil.rmtree(path)
    benchmark.ledger.notes.append(growth("segments", SEGMENTS, columns))


def one_size(path: Path, material: list[str], count: int) -> tuple[float, float]:
    """Return the seconds of the first turn and the median of the next ones."""
    source = iter(material)
    messages = contexts.context(source, count)
    with opened(path, messages) as memory:
        conversation = Conversation(memory, messages, source)
        start = process_time()
        conversation.turn()
        first = process_time() - start
        conversation.timed()
        return first, median(conversation.timed())


def segments_of(source: Path, count: int) -> Iterator[str]:
    """Return the texts of the first segments of a generated corpus."""
    from test_store import texts_of  # noqa: PLC0415 - where the others read them, too

    return islice(texts_of(source, count), count)


def growth(what: str, sizes: Any, columns: dict[str, list[float]]) -> str:
    """Format the figures with the exponent of their growth; 1 is linear."""
    span = math.log(sizes[-1] / sizes[0]) if len(sizes) > 1 else math.nan
    lines = [f"| {what} | " + " | ".join(map(str, sizes)) + " | exponent |"]
    lines.append("| --- " * (len(sizes) + 2) + "|")
    for name, values in columns.items():
        cells = [report.spread(Figure(value, value, value)) for value in values]
        exponent = math.log(values[-1] / values[0]) / span
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {exponent:.2f} |")
    return "\n".join(lines)

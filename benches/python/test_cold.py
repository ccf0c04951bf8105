"""Disk index: a benchmark of bounded size against hand-built combinations of engines, and its effect on turns.

`python -m cold` runs the same benchmark at a million segments.
"""

from __future__ import annotations

import gc
import importlib
import os
import shutil
from itertools import islice
from statistics import mean, quantiles
from time import perf_counter, sleep, thread_time
from typing import TYPE_CHECKING

import contexts
import pytest
from benchmark import Figure, Row
from cold import engine, talk
from cold.contest import Contest
from cold.figures import MEASURES

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark import Benchmark

    Times = dict[str, list[float]]
    """Seconds of each turn, by clock."""

SIZE = 20_000
PART = 1_000
OLDER = 100_000
WARM = 20_000
MESSAGES = 400
ROUNDS = 10
TURNS = 60
PAUSE = 0.03
"""Seconds between turns: the answer of a model takes at least ten times as long."""
RECALL = 0.95
FIGURES = (("thread", 50), ("thread", 99), ("wall", 50), ("wall", 95), ("wall", 99))
MOST = {("indexing", "wall", 99): 1.3}
"""Times as long as without."""
RACED = ("p50", "p99")


def test_generated_conversations_are_as_documented() -> None:
    """The conversations have the documented properties, and their beginning does not depend on their length."""
    said = list(talk.messages(10 * PART))
    assert said[:PART] == list(talk.messages(PART))
    assert len({each.text for each in said}) == len(said)
    assert {each.role for each in said} == {"user", "assistant", "tool"}
    assert 250 < mean(len(each.text) for each in said) < 350
    foreign = {n for n in range(said[-1].episode + 1) if talk.Episode(n).language != "en"}
    assert 0.15 < mean(each.episode in foreign for each in said) < 0.3
    assert len({talk.session(each.episode, len(said)) for each in said}) > 100
    assert talk.moment(len(said) - 1, len(said)) - talk.BEGAN > 0.99 * talk.YEAR


def test_engines(benchmark: Benchmark, tmp_path: Path) -> None:
    """Hybrid search over 20,000 segments, a process for each engine; the other figures are notes."""
    names = [name for name in engine.ENGINES if is_installed(benchmark, name)]
    contest = Contest(tmp_path, names, reuse=False)
    contest.material.make([SIZE])
    contest.build(SIZE)
    found = contest.search(SIZE, rounds=3, seconds=20)
    ours = found.pop(engine.OURS)
    assert ours["recall"] >= RECALL, ours["recall"]
    for measure in MEASURES:
        peers = {engine.load(name).NAME: rows[measure.key] for name, rows in found.items()}
        words = ", ".join(f"{name} {value:,.{measure.digits}f}" for name, value in peers.items())
        mine = f"{ours[measure.key]:,.{measure.digits}f}"
        benchmark.ledger.notes.append(f"search on disk, {measure.name}: {mine}; {words}")
    benchmark.enter(
        *(
            Row(
                f"search on disk, {SIZE:,} segments, {part}",
                Figure.of(ours[f"{part}_rounds"]),
                engine.load(name).NAME,
                Figure.of(rows[f"{part}_rounds"]),
                None,
            )
            for part in RACED
            for name, rows in found.items()
        )
    )


def is_installed(benchmark: Benchmark, name: str) -> bool:
    """Return whether an engine is installed; note why not."""
    try:
        importlib.import_module(f"cold.{name}")
    except ImportError as error:
        benchmark.ledger.notes.append(f"{name} left out: {error}")
        return False
    return True


@pytest.fixture(scope="module")
def said() -> list[str]:
    """Return the texts of the store, oldest first, then those of the conversation."""
    count = OLDER + WARM + 2 * MESSAGES + (ROUNDS + 1) * TURNS
    return [each.text for each in talk.messages(count)]


@pytest.fixture(scope="module")
def filled(said: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a store of several sessions, of which memory holds a sixth; nothing is indexed on disk."""
    path = tmp_path_factory.mktemp("cold") / "memory"
    texts, part = said[: OLDER + WARM], (OLDER + WARM) // 10
    for at in range(0, len(texts), part):
        store = memctx.lowlevel.Store(
            path,
            memctx.lowlevel.StoreOptions(
                session_id=f"s{at}", cross_session=True, durability="os", disk_index=False
            ),
        )
        for first in range(at, at + part, 1_000):
            store.add([("user", text, None, None) for text in texts[first : first + 1_000]])
        store.close()
    return path


@pytest.fixture
def all_cores() -> Iterator[None]:
    """Let indexing run beside the turns, as it does for users; the benchmark has one core."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    yield
    os.sched_setaffinity(0, before)


class Side:
    """A copy of the store, opened for a round of turns and closed after it."""

    def __init__(self, path: Path, *, cold: bool, rebuild: bool) -> None:
        self._path, self._cold, self._rebuild = path, cold, rebuild

    def round(self, messages: list[contexts.Message], questions: list[str]) -> Times:
        """Return the times of the turns; the conversation has the same length before and after."""
        if self._rebuild:
            shutil.rmtree(self._path / "index" / "cold", ignore_errors=True)
        with memctx.open(
            self._path,
            session_id="bench",
            cross_session=True,
            # The effect of the index beside a turn; the wait for its answer is limited by the setting.
            disk={
                "max_segments": WARM,
                "durability": "os",
                "index": self._cold,
                "turn_deadline_ms": 0.0,
            },
            context_window=2_000_000,
            pruning="off",
        ) as memory:
            len(memory.store)  # waits until it has loaded
            memory.prepare(messages, format="anthropic")
            times = turns(memory, messages, questions)
            status = memory.store.disk_index()
        if self._rebuild:
            assert status is not None
            assert status.indexed_bytes < status.log_bytes, "indexing was over before the turns"
        return times


def turns(memory: memctx.Memory, messages: list[contexts.Message], questions: list[str]) -> Times:
    """Return wall and thread seconds of each turn; indexing has its own thread."""
    walls, thread = [], []
    gc.collect()
    for question in questions:
        more = [*messages, {"role": "user", "content": question[:600]}]
        start, spent = perf_counter(), thread_time()
        turn = memory.prepare(more, format="anthropic")
        walls.append(perf_counter() - start)
        thread.append(thread_time() - spent)
        assert not turn.report.errors, turn.report.errors
        sleep(PAUSE)
    return {"wall": walls, "thread": thread}


@pytest.mark.usefixtures("all_cores")
def test_turns_beside_the_index(
    benchmark: Benchmark, said: list[str], filled: Path, tmp_path: Path
) -> None:
    """Turns while 100,000 older segments are being indexed, and once they are, against none of it.

    The median and the slowest hundredth of the turns of all rounds: that of one round would hang on a single turn, and
    machines that others use as well stand still for longer than a turn takes, now and then.
    """
    source = iter(said[OLDER + WARM :])
    messages = contexts.context(source, MESSAGES)
    sides = {
        "indexing": Side(copied(filled, tmp_path / "indexing"), cold=True, rebuild=True),
        "indexed": Side(indexed(filled, tmp_path / "indexed"), cold=True, rebuild=False),
        "switched off": Side(copied(filled, tmp_path / "off"), cold=False, rebuild=False),
    }
    found: dict[str, list[Times]] = {name: [] for name in sides}
    for _ in range(ROUNDS + 1):
        questions = list(islice(source, TURNS))
        for name, side in sides.items():
            found[name].append(side.round(messages, questions))
    for clock, part in FIGURES:
        figures = {name: slowest(part, clock, rounds[1:]) for name, rounds in found.items()}
        off = figures.pop("switched off")
        benchmark.enter(
            *(
                Row(
                    f"turn, search on disk {name}, {clock} p{part}",
                    mine,
                    "switched off",
                    off,
                    MOST.get((name, clock, part)),
                )
                for name, mine in figures.items()
            )
        )


def slowest(part: int, clock: str, rounds: list[Times]) -> Figure:
    """Return a percentile of the turns of all rounds, with the minimum and maximum of a round."""

    def figure(seconds: list[float]) -> float:
        return quantiles(seconds, n=100)[part - 1]

    each = [figure(times[clock]) for times in rounds]
    return Figure(figure([one for times in rounds for one in times[clock]]), min(each), max(each))


def copied(filled: Path, to: Path) -> Path:
    """Return a copy of the store."""
    return shutil.copytree(filled, to)


def indexed(filled: Path, to: Path) -> Path:
    """Return a fully indexed copy of the store."""
    copied(filled, to)
    store = memctx.lowlevel.Store(
        to, memctx.lowlevel.StoreOptions(session_id="bench", cross_session=True, durability="os")
    )
    status = store.catch_up()
    assert status is not None
    assert status.segments >= OLDER, status.segments
    store.close()
    return to

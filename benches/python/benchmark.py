"""Benchmark runner: runs entries in turn and compares the medians of their processor time."""

from __future__ import annotations

import gc
import importlib
from collections import deque
from dataclasses import dataclass, field, replace
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

REPEATS = 7
Item = TypeVar("Item")


@dataclass(frozen=True)
class Entry:
    """One entry: the function of a repeat, and the factor that turns its time into the figure of the table."""

    run: Callable[[], object]
    scale: float = 1.0
    limit: float | None = None


@dataclass(frozen=True)
class Figure:
    """Median, minimum and maximum of the repeats, in seconds or another unit."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Figure:
        """Return the figure of some repeats."""
        return cls(median(seconds), min(seconds), max(seconds))


@dataclass(frozen=True)
class Row:
    """Ours against one peer, or against a time alone when there is no peer."""

    path: str
    ours: Figure
    peer: str
    theirs: Figure
    limit: float | None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """Ours divided by theirs."""
        return self.ours.median / self.theirs.median

    @property
    def holds(self) -> bool:
        """Return True if the ratio is within the limit, if there is one."""
        return self.limit is None or self.ratio <= self.limit


@dataclass
class Ledger:
    """All rows of a run, and notes on what was left out."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Benchmark:
    """Runs benchmarks, enters them in the ledger, and fails the test when a limit is broken.

    On a corpus of another size than the limits were set for, they are left out.
    """

    ledger: Ledger
    has_limits: bool

    def __call__(
        self, path: str, ours: Entry, peers: Mapping[str, Entry], repeats: int = REPEATS
    ) -> None:
        """Measure ours and every peer in turn, ``repeats`` times, after one turn to warm up."""
        if not peers:
            pytest.skip("no peer is installed")
        mine, *others = measure([ours, *peers.values()], repeats)
        self._enter(
            Row(path, mine, name, theirs, self._limit(peer.limit))
            for (name, peer), theirs in zip(peers.items(), others, strict=True)
        )

    def enter(self, *rows: Row) -> None:
        """Enter rows that were measured elsewhere."""
        self._enter(replace(row, limit=self._limit(row.limit)) for row in rows)

    def against_time(self, path: str, seconds: Sequence[float], most: float) -> None:
        """Compare figures that were measured elsewhere with a time limit."""
        bound = Figure(most, most, most)
        self.enter(Row(path, Figure.of(seconds), "the time allowed", bound, 1.0))

    def peer(self, module: str) -> ModuleType | None:
        """Return the module of `peers`, or None, with a note, when its library is not installed."""
        try:
            return importlib.import_module(f"peers.{module}")
        except ImportError as error:
            note = f"{module} left out: {error}"
            if note not in self.ledger.notes:
                self.ledger.notes.append(note)
            return None

    def _limit(self, limit: float | None) -> float | None:
        return limit if self.has_limits else None

    def _enter(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self.ledger.rows += rows
        broken = [
            f"{row.ratio:.4f} x {row.peer} > {row.limit:.4f}" for row in rows if not row.holds
        ]
        assert not broken, "; ".join(broken)


def measure(entries: Sequence[Entry], repeats: int) -> list[Figure]:
    """Return the figure of each entry, run in turn: A B C, A B C, and so on."""
    seconds: list[list[float]] = [[] for _ in entries]
    for entry in entries:
        entry.run()
    for _ in range(repeats):
        for entry, times in zip(entries, seconds, strict=True):
            times.append(_time(entry.run) * entry.scale)
    return [Figure.of(times) for times in seconds]


def each(function: Callable[[Item], object], items: Sequence[Item]) -> Callable[[], object]:
    """Return a repeat that calls the function on every item and drops the results."""
    return lambda: deque(map(function, items), maxlen=0)


def _time(run: Callable[[], object]) -> float:
    """Return seconds of processor time; the result is dropped after the clock has stopped."""
    gc.disable()
    try:
        start = process_time()
        result = run()
        seconds = process_time() - start
    finally:
        gc.enable()
    del result
    return seconds

"""`Player`: plays turns, searches, archiving and facts over a store that may be written to, and times their steps."""

from __future__ import annotations

import cProfile
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memctx import _core
from memctx.embeddings import Resolution
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from memctx.cli.profiling.synthetic import Message
    from memctx.context import Turn
    from memctx.memory import Memory

Supply: TypeAlias = "Callable[[int, int], list[Message]]"
"""Returns messages of a conversation, from the number of the first and how many are wanted."""

SESSION = "memctx-profile"
START_SHARE = 0.9
"""Share of the limit that the messages of a first turn take."""
APART = 10**9
"""Distance between the numbers of two conversations: no message comes twice, so that no decision is reused."""
NEWEST = 2_000
"""Number of a store's newest messages that conversations over it are made of."""
LEAST = 20
"""Least number of messages that a conversation can be made of."""
QUERY_CHARS = 60
QUERY_STRIDE = 14
IN_PYTHON = "in Python"
CORE_FUNCTION = re.compile(r"'(\w+)' of 'memctx\._core\.(\w+)'|memctx\._core\.(\w+)")


class Spread(NamedTuple):
    """Percentiles of durations, in milliseconds."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, taken: Iterable[float]) -> Spread:
        """Return the percentiles by nearest rank.

        >>> Spread.of([4.0, 1.0, 3.0, 2.0])
        Spread(p50=2.0, p95=4.0, p99=4.0)
        """
        known = sorted(taken)
        p50, p95, p99 = (known[ceil(share * len(known)) - 1] for share in (0.5, 0.95, 0.99))
        return cls(p50, p95, p99)


@dataclass(slots=True)
class Operation:
    """Durations of one kind of call, in milliseconds."""

    taken: list[float] = field(default_factory=list[float])
    """Durations of the calls."""
    steps: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """Steps of each call."""
    core: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """Functions of the core in further calls, which ran under a profiler."""

    def add(self, took: float, steps: dict[str, float]) -> None:
        """Add a call; what its steps leave is Python."""
        self.taken.append(took)
        self.steps.append({**steps, IN_PYTHON: max(took - sum(steps.values()), 0.0)})


class Player:
    """Plays over an open memory; ``operations`` has what was measured."""

    def __init__(self, memory: Memory, supply: Supply) -> None:
        self._memory = memory
        self._supply = supply
        self._embedder = Resolution.of(memory.config).any_embedder
        self._fresh = count(APART // 2, 2)
        self.operations: defaultdict[str, Operation] = defaultdict(Operation)
        # Any turn has the limit; the first one of a process imports modules, too.
        self._limit = memory.prepare(supply(0, 1)).report.tokens.limit or 0

    def play_turns(self, turns: int, *, number: int, is_profiled: bool = False) -> None:
        """Play a conversation that soon outgrows its window, two more messages with every turn."""
        start = number * APART
        said = self._begin(start)
        for place in range(turns):
            if place:
                said = [*said, *self._supply(start + len(said), 2)]
            self._rest()
            if is_profiled:
                turn, _, core = _profile(self._memory.prepare, said)
                self.operations[_kind(turn, place)].core.append(core)
            else:
                turn, took = _time(self._memory.prepare, said)
                self.operations[_kind(turn, place)].add(took, turn.report.milliseconds)

    def play_searches(self, calls: int) -> None:
        """Search for what was said. The core makes the vector of a query: its time is that of the same work alone."""
        for query in self._queries(calls):
            _, took, core = _profile(self._memory.search, query)
            found = core["Store.search"]
            vector = 0.0
            if self._embedder is not None:
                vector = min(_time(self._embedder.embed, query)[1], found)
            steps = {"vector of the query": vector, "words, vectors, ranking": found - vector}
            self.operations["search"].add(took, steps)

    def play_archiving(self, calls: int) -> None:
        """Archive two messages at a time, as many hosts do."""
        for _ in range(calls):
            said = self._supply(next(self._fresh), 2)
            self._rest()
            _, took, core = _profile(self._memory.archive, said)
            self.operations["archive"].add(took, core)

    def play_facts(self, calls: int) -> None:
        """Add facts and search them."""
        facts = self._memory.facts
        for query in self._queries(calls):
            _, took, core = _profile(lambda text: facts.add("config", text), query)
            self.operations["add a fact"].add(took, core)
            _, took, core = _profile(facts.search, query)
            self.operations["search facts"].add(took, core)

    def _begin(self, start: int) -> list[Message]:
        """Return messages that nearly reach the limit, the last one a user's."""
        said, tokens = self._supply(start, 1), 0
        while True:
            new = self._supply(start + len(said), 2)
            tokens += sum(_core.estimate_tokens(each["content"], "script") for each in new)
            if tokens > self._limit * START_SHARE:
                return said
            said = [*said, *new]

    def _queries(self, calls: int) -> Iterator[str]:
        """Yield beginnings of messages, each with a number, so that none comes twice."""
        for number in range(calls):
            (message,) = self._supply(QUERY_STRIDE * number, 1)
            yield f"{message['content'][:QUERY_CHARS]} {number}"

    def _rest(self) -> None:
        """Do what the last call left to the background: a model's answer takes longer."""
        self._memory.stats()
        if self._memory.store.embedding().lacking:
            self._memory.reembed()


def supply_from(path: Path) -> Supply:
    """Return conversations of a store's newest messages, so that their texts resemble those that are searched.

    Raises:
        ConfigError: the store has too few messages.
    """
    newest: list[str] = []
    for segment in _core.LogReader(path).scan():
        newest.append(segment.content)
        del newest[:-NEWEST]
    if len(newest) < LEAST:
        raise ConfigError(f"the store has {len(newest)} messages; expected at least {LEAST}")

    def supply(start: int, count: int) -> list[Message]:
        return [
            {
                "role": "assistant" if number % 2 else "user",
                "content": f"{newest[number % len(newest)]} ({number})",
            }
            for number in range(start, start + count)
        ]

    return supply


def play_all(player: Player, turns: int, *, conversations: int) -> None:
    """Play conversations of ``turns`` turns each, the last of them under a profiler, and as many other calls."""
    for number in range(1, conversations + 1):
        player.play_turns(turns, number=number, is_profiled=number == conversations)
    player.play_searches(turns)
    player.play_archiving(turns)
    player.play_facts(turns)


def _kind(turn: Turn, place: int) -> str:
    is_trimmed = any(unit.is_new for unit in turn.report.trimmed)
    return "trimming turn" if is_trimmed else "steady turn" if place else "first turn"


def _time(call: Callable[[Any], Any], argument: object) -> tuple[Any, float]:
    start = time.perf_counter()
    found = call(argument)
    return found, (time.perf_counter() - start) * 1000


def _profile(call: Callable[[Any], Any], argument: object) -> tuple[Any, float, dict[str, float]]:
    """Return what a call returns, its milliseconds, and those of each function of the core."""
    profile = cProfile.Profile()
    start = time.perf_counter()
    found = profile.runcall(call, argument)
    took = (time.perf_counter() - start) * 1000
    core: dict[str, float] = {}
    for entry in profile.getstats():
        name = CORE_FUNCTION.search(entry.code) if isinstance(entry.code, str) else None
        if name is not None:
            method, owner, function = name.groups()
            core[function or f"{owner}.{method}"] = entry.inlinetime * 1000
    return found, took, core

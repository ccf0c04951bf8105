"""The breaker against a naive twin, and among threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.embeddings.breaker import Breaker

FAILURES, COOL_DOWN, LONGEST = 3, 4, 20

steps = st.lists(
    st.one_of(
        st.just(("admit", 0, False)),
        st.tuples(st.just("settle"), st.integers(0, 30), st.booleans()),
        st.integers(1, 25).map(lambda seconds: ("wait", seconds, False)),
    ),
    max_size=60,
)


@dataclass
class Event:
    """What happened, and when."""

    at: int
    kind: str
    permit: int = -1
    is_success: bool = False


@dataclass
class Naive:
    """The same by looking at the whole past every time: slow, but each rule is one line."""

    past: list[Event] = field(default_factory=list[Event])
    permits: int = 0

    def told(self) -> tuple[str, int, int, set[int]]:
        """The state, since when, the cool-down, and whose outcome counts."""
        state, since, cool_down, streak, counting = "closed", 0, COOL_DOWN, 0, set[int]()
        for event in self.past:
            if event.kind == "probe":
                state, since, counting = "half-open", event.at, {event.permit}
            elif event.kind == "pass":
                counting.add(event.permit)
            elif event.permit in counting and event.is_success:
                streak, cool_down = 0, COOL_DOWN
                if state == "half-open":
                    state, since, counting = "closed", event.at, set()
            elif event.permit in counting:
                streak += 1
                if state == "half-open":
                    cool_down = min(2 * cool_down, LONGEST)
                if state == "half-open" or streak >= FAILURES:
                    state, since, counting = "open", event.at, set()
        return state, since, cool_down, counting

    def admit(self, now: int) -> int | None:
        state, since, cool_down, _ = self.told()
        if state != "closed" and now - since < cool_down:
            return None
        self.permits += 1
        self.past.append(Event(now, "pass" if state == "closed" else "probe", self.permits))
        return self.permits


@given(steps)
def test_it_does_what_the_naive_one_does(steps: list[tuple[str, int, bool]]) -> None:
    now = 0
    breaker = Breaker(FAILURES, COOL_DOWN, LONGEST, clock=lambda: now)
    naive = Naive()
    given_out: list[tuple[int, int]] = []
    for kind, number, is_success in steps:
        if kind == "wait":
            now += number
        elif kind == "admit":
            permit, expected = breaker.admit(), naive.admit(now)
            assert (permit is None) == (expected is None)
            if permit is not None and expected is not None:
                given_out.append((permit, expected))
        elif given_out:
            permit, expected = given_out[number % len(given_out)]
            # A permit says how one call went, once.
            given_out.remove((permit, expected))
            breaker.settle(permit, is_success=is_success)
            naive.past.append(Event(now, "settle", expected, is_success))
        assert breaker.state == naive.told()[0]


def failed(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        permit = breaker.admit()
        assert permit is not None
        breaker.settle(permit, is_success=False)


def test_the_cool_down_doubles_up_to_a_limit_and_begins_anew_after_a_success() -> None:
    now = 0.0
    breaker = Breaker(1, 1.0, 5.0, clock=lambda: now)
    waits: list[float] = []
    for _ in range(5):
        failed(breaker)
        start = now
        while breaker.admit() is None:
            now += 0.5
        waits.append(now - start)
        breaker.settle(None, is_success=True)  # says nothing of any call
        assert breaker.state == "half-open"
        now += 100  # the probe never came back, so the next failure is that of another
    assert waits == [1, 2, 4, 5, 5]
    probe = breaker.admit()
    breaker.settle(probe, is_success=True)
    failed(breaker)
    now += 1
    assert breaker.admit() is not None


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker(failures=2)
    for _ in range(5):
        failed(breaker)
        breaker.settle(breaker.admit(), is_success=True)
    assert breaker.state == "closed"


def test_what_began_before_it_opened_counts_no_more() -> None:
    now = 0.0
    breaker = Breaker(1, 1.0, clock=lambda: now)
    early = breaker.admit()
    failed(breaker)
    breaker.settle(early, is_success=True)
    states: list[str] = [breaker.state]
    now = 1.0
    probe = breaker.admit()
    breaker.settle(early, is_success=True)
    states.append(breaker.state)
    breaker.settle(probe, is_success=True)
    breaker.settle(early, is_success=False)
    states.append(breaker.state)
    assert states == ["open", "half-open", "closed"]


def test_one_probe_among_many_threads() -> None:
    now = 0.0
    breaker = Breaker(1, 1.0, clock=lambda: now)
    failed(breaker)
    for _ in range(50):
        now += 200
        together = threading.Barrier(8)

        def admit(barrier: threading.Barrier = together) -> int | None:
            barrier.wait()
            return breaker.admit()

        with ThreadPoolExecutor(8) as pool:
            permits = list(pool.map(lambda _, run=admit: run(), range(8)))
        (probe,) = [permit for permit in permits if permit is not None]
        breaker.settle(probe, is_success=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 1.0, 2.0), "failures must be at least 1, not 0"),
        ((1, 0.0, 2.0), "cool_down must be above 0"),
        ((1, 3.0, 2.0), "at most longest"),
        ((1, float("nan"), 2.0), "not nan"),
    ],
)
def test_settings_that_make_no_sense(arguments: tuple[int, float, float], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Breaker(*arguments)

"""CircuitBreaker against a reference implementation, among threads, and with a single caller."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.providers.breaker import BreakerPolicy, CircuitBreaker

FAILURES, COOL_DOWN, MAX_COOL_DOWN = 3, 4, 20

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
    """An admitted call or its outcome, with its time."""

    at: int
    kind: str
    permit: int = -1
    is_success: bool = False


@dataclass
class Reference:
    """A breaker that replays its whole history each time: slow, but each rule is one line."""

    past: list[Event] = field(default_factory=list[Event])
    permits: int = 0

    def replay(self) -> tuple[str, int, int, set[int]]:
        """Return the state, its start, the cool-down and the permits whose outcome counts."""
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
                    cool_down = min(2 * cool_down, MAX_COOL_DOWN)
                if state == "half-open" or streak >= FAILURES:
                    state, since, counting = "open", event.at, set()
        return state, since, cool_down, counting

    def admit(self, now: int) -> int | None:
        state, since, cool_down, _ = self.replay()
        if state != "closed" and now - since < cool_down:
            return None
        self.permits += 1
        self.past.append(Event(now, "pass" if state == "closed" else "probe", self.permits))
        return self.permits


@given(steps)
def test_the_breaker_agrees_with_the_reference_implementation(
    steps: list[tuple[str, int, bool]],
) -> None:
    now = 0
    breaker = CircuitBreaker(BreakerPolicy(FAILURES, COOL_DOWN, MAX_COOL_DOWN), clock=lambda: now)
    reference = Reference()
    given_out: list[tuple[int, int]] = []
    for kind, number, is_success in steps:
        if kind == "wait":
            now += number
        elif kind == "admit":
            permit, expected = breaker.admit(), reference.admit(now)
            assert (permit is None) == (expected is None)
            if permit is not None and expected is not None:
                given_out.append((permit, expected))
        elif given_out:
            permit, expected = given_out[number % len(given_out)]
            # A permit settles one call, once.
            given_out.remove((permit, expected))
            breaker.settle(permit, is_success=is_success)
            reference.past.append(Event(now, "settle", expected, is_success))
        assert breaker.state == reference.replay()[0]


def fail_call(breaker: CircuitBreaker, times: int = 1) -> None:
    for _ in range(times):
        permit = breaker.admit()
        assert permit is not None
        breaker.settle(permit, is_success=False)


def test_the_cool_down_doubles_up_to_its_maximum_and_resets_after_a_success() -> None:
    now = 0.0
    breaker = CircuitBreaker(BreakerPolicy(1, 1.0, 5.0), clock=lambda: now)
    waits: list[float] = []
    for _ in range(5):
        fail_call(breaker)
        start = now
        while breaker.admit() is None:
            now += 0.5
        waits.append(now - start)
        breaker.settle(None, is_success=True)  # no permit, so no outcome
        assert breaker.state == "half-open"
        now += 100  # the probe never came back, so the next failure is that of another
    assert waits == [1, 2, 4, 5, 5]
    probe = breaker.admit()
    breaker.settle(probe, is_success=True)
    fail_call(breaker)
    now += 1
    assert breaker.admit() is not None


def test_a_success_between_failures_keeps_the_breaker_closed() -> None:
    breaker = CircuitBreaker(BreakerPolicy(failures=2))
    for _ in range(5):
        fail_call(breaker)
        breaker.settle(breaker.admit(), is_success=True)
    assert breaker.state == "closed"


def test_calls_that_began_before_the_breaker_opened_are_ignored() -> None:
    now = 0.0
    breaker = CircuitBreaker(BreakerPolicy(1, 1.0), clock=lambda: now)
    early = breaker.admit()
    fail_call(breaker)
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


def test_one_thread_of_many_gets_the_probe() -> None:
    now = 0.0
    breaker = CircuitBreaker(BreakerPolicy(1, 1.0), clock=lambda: now)
    fail_call(breaker)
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
        ((1, 3.0, 2.0), "at most max_cool_down"),
        ((1, float("nan"), 2.0), "not nan"),
    ],
)
def test_policies_out_of_range_are_rejected(
    arguments: tuple[int, float, float], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        BreakerPolicy(*arguments)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


WORKER = BreakerPolicy(failures=3, cool_down=60.0, max_cool_down=1800.0, delay=1.0, jitter=0.25)


def test_a_single_caller_backs_off_before_and_after_the_breaker_opens() -> None:
    clock = Clock()
    breaker = CircuitBreaker(WORKER, clock=clock, seed=1)
    assert (breaker.is_open, breaker.wait) == (False, 0.0)
    waits = [breaker.fail() for _ in range(2)]
    assert 0.75 <= waits[0] <= 1.25
    assert 1.5 <= waits[1] <= 2.5
    assert breaker.state == "closed"
    assert 45 <= breaker.fail() <= 75
    assert breaker.is_open
    clock.now += 80
    assert (breaker.is_open, breaker.wait) == (True, 0.0), "a probe is due"
    assert 90 <= breaker.fail() <= 150
    breaker.reset()
    assert (breaker.is_open, breaker.wait) == (False, 0.0)


def test_a_permanent_failure_and_a_long_retry_after_open_the_breaker_at_once() -> None:
    permanent, limited = (CircuitBreaker(WORKER, clock=Clock()) for _ in range(2))
    assert permanent.fail(is_permanent=True) >= 1800 * 0.75
    assert permanent.is_open
    assert limited.fail(retry_after=90) >= 90
    assert limited.is_open


@given(
    st.lists(st.tuples(st.booleans(), st.none() | st.floats(0, 1e9)), min_size=1, max_size=60),
    st.integers(0, 9),
)
def test_waits_are_bounded(failures: list[tuple[bool, float | None]], seed: int) -> None:
    """At least the server's delay, at most the maximum, and never 0: that would be a busy loop."""
    breaker = CircuitBreaker(WORKER, clock=Clock(), seed=seed)
    for number, (is_permanent, asked) in enumerate(failures, 1):
        wait = breaker.fail(is_permanent=is_permanent, retry_after=asked)
        assert 0.75 <= wait <= 1800 * 1.25
        assert wait >= min(asked or 0, 1800)
        assert breaker.wait > 0
        assert breaker.is_open or number < 3

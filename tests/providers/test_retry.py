"""Retry policies: delays, limits and cancellation."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.providers import retry
from memctx.providers.failures import Failure
from memctx.providers.retry import RetryPolicy

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

BUSY = Failure("busy", "transient", retry_after=0.0)


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.001)


class Script:
    """Attempts that return one outcome after the other, the last one repeatedly."""

    def __init__(self, *outcomes: Failure | str) -> None:
        self.outcomes = list(outcomes)
        self.calls = 0

    def __call__(self) -> Failure | str:
        self.calls += 1
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]

    async def call(self) -> Failure | str:
        return self()


def test_an_attempt_may_be_a_plain_function_that_returns_an_awaitable() -> None:
    script = Script(BUSY, "done")
    attempt = lambda: script.call()  # noqa: E731, PLW0108 - not a coroutine function
    assert asyncio.run(RetryPolicy(1).run_async(attempt)) == "done"


def run_both(policy: RetryPolicy, *outcomes: Failure | str) -> tuple[Failure | str, int]:
    """Return the outcome and the number of calls, which are the same with and without an event loop."""
    blocking, awaited = Script(*outcomes), Script(*outcomes)
    found = policy.run(blocking, threading.Event())
    assert asyncio.run(policy.run_async(awaited.call)) == found
    assert awaited.calls == blocking.calls
    return found, blocking.calls


def test_retries_end_with_the_first_result() -> None:
    assert run_both(RetryPolicy(3), BUSY, BUSY, "done") == ("done", 3)


@pytest.mark.parametrize("max_retries", [0, 1, 3])
def test_retries_are_limited(max_retries: int) -> None:
    assert run_both(RetryPolicy(max_retries), BUSY) == (BUSY, max_retries + 1)


@pytest.mark.parametrize("kind", ["permanent", "rejected", "overflow"])
def test_failures_that_cannot_pass_are_not_retried(kind: str) -> None:
    failure = Failure("no", kind)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert run_both(RetryPolicy(3), failure) == (failure, 1)


def test_timeouts_are_retried_unless_the_policy_says_otherwise() -> None:
    timeout = Failure("late", "timeout", retry_after=0.0)
    assert run_both(RetryPolicy(1), timeout)[1] == 2
    assert run_both(RetryPolicy(1, retries_timeouts=False), timeout)[1] == 1


def test_a_long_wait_is_left_to_the_caller() -> None:
    limited = Failure("busy", "rate_limited", retry_after=16.0)
    assert run_both(RetryPolicy(3), limited) == (limited, 1)


@given(st.integers(1, 60), st.none() | st.floats(0, 15))
def test_delays_are_bounded(attempt: int, asked: float | None) -> None:
    policy = RetryPolicy(3)
    delay = policy.delay(Failure("busy", "transient", asked), attempt)
    if asked is None:
        assert 0 < delay <= policy.max_delay
    else:
        assert asked <= delay <= asked + retry.FIRST_DELAY


def test_a_long_wait_may_be_cut_to_the_longest_delay() -> None:
    policy = RetryPolicy(3, 5.0, max_retry_after=None)
    limited = Failure("busy", "rate_limited", retry_after=3600.0)
    assert policy.should_retry(limited)
    assert policy.delay(limited, 1) == 5.0


def test_a_cancellation_ends_the_wait_with_the_last_failure() -> None:
    cancelled = threading.Event()
    limited = Failure("busy", "rate_limited", retry_after=14.0)
    script = Script(limited)
    threading.Timer(0.02, cancelled.set).start()
    start = time.monotonic()
    assert RetryPolicy(3).run(script, cancelled) == limited
    assert time.monotonic() - start < 5
    assert script.calls == 1

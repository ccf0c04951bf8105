"""When an extractor that fails is tried again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memctx.extraction import Patience
from memctx.extraction.breaker import Breaker


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def state_of(breaker: Breaker) -> tuple[bool, float]:
    return breaker.is_open, breaker.wait


def test_it_opens_after_failures_in_a_row_and_closes_after_one_success() -> None:
    clock = Clock()
    breaker = Breaker(Patience(1.0, 3, 60.0, 1800.0), clock=clock, seed=1)
    assert state_of(breaker) == (False, 0.0)
    waits = [breaker.fail() for _ in range(2)]
    assert 0.75 <= waits[0] <= 1.25
    assert 1.5 <= waits[1] <= 2.5
    assert not state_of(breaker)[0]
    assert 45 <= breaker.fail() <= 75
    assert state_of(breaker)[0]
    clock.now += 80
    assert state_of(breaker) == (True, 0.0), "a probe is due"
    assert 90 <= breaker.fail() <= 150
    breaker.close()
    assert state_of(breaker) == (False, 0.0)


def test_it_opens_at_once_for_the_dead_and_for_those_who_ask_for_long() -> None:
    dead, asking = (Breaker(Patience(), clock=Clock()) for _ in range(2))
    assert dead.fail(is_dead=True) >= 1800 * 0.75
    assert dead.is_open
    assert asking.fail(retry_after=90) >= 90
    assert asking.is_open


@given(
    st.lists(
        st.tuples(st.booleans(), st.none() | st.floats(0, 1e9)),
        min_size=1,
        max_size=60,
    ),
    st.integers(0, 9),
)
def test_it_never_waits_too_short_or_too_long(
    failures: list[tuple[bool, float | None]], seed: int
) -> None:
    """Never less than asked for, never more than the longest, and never nothing: that would be a busy loop."""
    patience = Patience(1.0, 3, 60.0, 1800.0)
    breaker = Breaker(patience, clock=Clock(), seed=seed)
    for number, (is_dead, asked) in enumerate(failures, 1):
        wait = breaker.fail(is_dead=is_dead, retry_after=asked)
        assert 0.75 <= wait <= 1800 * 1.25
        assert wait >= min(asked or 0, 1800)
        assert breaker.wait > 0
        assert breaker.is_open or number < 3

"""Arithmetic of the cache simulator, on a hand-made session with known costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from cache_sim import Price, Request, Run, Simulator, load_prices
from peers.recency import Recency, truncate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USER_TURNS, CALLS, FIXED = 60, 4, 20_000
SAID = "x" * (3 * 1_500 - 40)
BLOCK = "y" * (3 * 2_000 - 40)
CHEAP = Price("0.1 / 1.25", 0.1, 1.25, 1024)
CHEAPER = Price("0.05 / 1.25", 0.05, 1.25, 1024)
FREE = Price("0.1 / 1.0", 0.1, 1.0, 1024)


def message(text: str, number: int = 0) -> dict[str, Any]:
    return {"role": "user", "content": text, "x": f"{number:06}"}


def turns() -> Iterator[list[dict[str, Any]]]:
    """Yield requests with 1,500 new tokens each."""
    messages: list[dict[str, Any]] = []
    for number in range(USER_TURNS * CALLS):
        messages.append(message(SAID, number))
        yield list(messages)


def user_turn(messages: list[dict[str, Any]]) -> int:
    return (len(messages) - 1) // CALLS


def head(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put a block in front of everything, another one for each user turn."""
    return [message(BLOCK, user_turn(messages)), *messages]


def tail(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put a block before the newest user turn, removed with the next."""
    place = user_turn(messages) * CALLS
    return [*messages[:place], message(BLOCK, user_turn(messages)), *messages[place:]]


@pytest.mark.parametrize(("way", "costs"), [(head, (3.43, 5.72, 2.93)), (tail, (1.11, 1.21, 1.09))])
def test_costs_of_a_session_made_by_hand(
    way: Callable[..., Any], costs: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare with figures that were calculated independently."""
    monkeypatch.setattr("memctx.validate", lambda *_: [], raising=False)
    simulator = Simulator("anthropic", FIXED)
    base = simulator.play(Run("", "", "no memory"), turns(), list)
    run = simulator.play(Run("", "", ""), turns(), way)
    ratios = [run.cost(price) / base.cost(price) for price in (CHEAP, CHEAPER, FREE)]
    assert ratios == pytest.approx(costs, rel=0.05)
    assert base.breaks == 0
    assert run.breaks == USER_TURNS - 1


def test_a_prefix_that_is_too_short_or_too_old_is_not_read() -> None:
    price = Price("", read=0.1, write=1.25, minimum=1000, minutes=5)
    assert price.of(Request(tokens=900, shared=500)) == 900
    assert price.of(Request(tokens=2000, shared=900)) == 2500
    assert price.of(Request(tokens=2000, shared=1000)) == 1350
    assert price.of(Request(tokens=2000, shared=1000, gap=6)) == 2500


def test_all_prices_are_read() -> None:
    prices = load_prices()
    assert len(prices) >= 6
    assert all(0 < price.read < 1 <= price.write for price in prices)


def test_truncation_keeps_the_task_and_starts_where_it_may() -> None:
    numbers = list(range(10))
    assert truncate(numbers, lambda _: 1, 10, lambda _: True) == numbers
    assert truncate(numbers, lambda _: 1, 4, lambda _: True) == [0, 7, 8, 9]
    assert truncate(numbers, lambda _: 1, 4, lambda n: n % 4 == 0) == [0, 8, 9]
    assert truncate(numbers, lambda _: 1, 1, lambda n: n == 8) == [0, 8, 9]


def test_truncation_in_steps_keeps_its_cut() -> None:
    cut = Recency(lambda _: 1, 10, lambda _: True, 0.5)
    lengths = [len(cut(list(range(count)))) for count in range(8, 18)]
    assert lengths == [8, 9, 10, 5, 6, 7, 8, 9, 10, 5]

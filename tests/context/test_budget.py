"""The limits that the settings make."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memctx import Config
from memctx.context.budget import Budget


def test_the_limit_leaves_room_for_the_answer_and_the_recalled_block() -> None:
    budget = Budget.of(Config(context_window=200_000))
    assert budget.cap == 4_000
    assert budget.limit == 200_000 - 4_000 - 4_000
    assert budget.target == budget.limit // 2


def test_recalled_text_takes_at_most_a_tenth_of_the_window() -> None:
    assert Budget.of(Config(context_window=10_000)).cap == 1_000


def test_a_working_budget_below_the_window_counts() -> None:
    budget = Budget.of(Config(context_window=1_000_000, working_budget=100_000))
    assert budget.limit == 92_000
    assert budget.overflow == 996_000, "inside a tool loop the window is what counts"


def test_recalled_text_never_makes_the_messages_overflow() -> None:
    """Inside a tool loop the messages may be over their limit already."""
    budget = Budget.of(Config(context_window=200_000))
    assert budget.room(100_000) == 4_000
    assert budget.room(195_000) == 1_000
    assert budget.room(300_000) == 0
    assert Budget.of(Config()).room(10_000_000) == 4_000


def test_without_a_window_nothing_is_trimmed() -> None:
    budget = Budget.of(Config())
    assert budget.limit is None
    assert budget.cap == 4_000


@given(st.integers(1, 2_000_000), st.none() | st.integers(1, 2_000_000))
def test_every_window_leaves_something_for_the_messages(window: int, working: int | None) -> None:
    budget = Budget.of(Config(context_window=window, working_budget=working))
    assert budget.limit is not None
    assert budget.target is not None
    assert budget.overflow is not None
    assert 0 <= budget.target <= budget.limit <= budget.overflow <= window
    assert budget.limit >= min(window, working or window) * 0.6

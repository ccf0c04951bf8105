"""Placement of blocks: sent ones stay, the newest question has its reserve, and all stay under the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.config import Config
from memctx.context import placement
from memctx.context.budget import Budget
from memctx.context.recall import RecalledBlock
from memctx.context.report import Recalled
from memctx.context.state import Block

if TYPE_CHECKING:
    from collections.abc import Collection

CAP, RESERVE = 1000, 250


def block(tokens: int, *items: str, anchor: int | None = 1) -> Block:
    return Block("x", tokens, items, None if anchor is None else (anchor, 0))


class Store:
    """Finds all it has that is not known, at so many tokens each, as far as there is room."""

    def __init__(self, *items: str, tokens: int = 100) -> None:
        self.items = items
        self.tokens = tokens

    def block(self, known: Collection[str], room: int) -> RecalledBlock | None:
        new = [item for item in self.items if item not in known][: room // self.tokens]
        found = tuple(Recalled(item, "user", None, 1.0, 1.0, is_cut=False) for item in new)
        return RecalledBlock(" ".join(new), len(new) * self.tokens, found) if new else None


def stable(found: Store, *kept: Block, newest: int = 9, is_free: bool = False) -> placement.Blocks:
    limits = placement.Limits(CAP, RESERVE)
    return placement.stable(found, kept, (newest, 0), limits, is_free=is_free)


def add(found: Store, *kept: Block, may_change: bool = True) -> placement.Blocks:
    limits = placement.Limits(CAP, RESERVE)
    return placement.add(found, kept, (9, 0), limits, lambda _: may_change)


def test_a_new_block_goes_before_the_newest_user_message_and_the_rest_stays() -> None:
    first = block(200, "a")
    blocks = stable(Store("a", "b"), first)
    assert blocks.sent == (first, Block("b", 100, ("b",), (9, 0)))
    assert [item.id for item in blocks.recalled] == ["b"]


def test_a_question_asked_again_replaces_its_own_block() -> None:
    first, own = block(200, "a"), block(100, "b", anchor=9)
    blocks = stable(Store("b", "c"), first, own)
    assert blocks.sent == (first, Block("b c", 200, ("b", "c"), (9, 0)))
    assert stable(Store(), first, own).sent == (first, own), "nothing is found any more"


def test_a_step_of_a_tool_loop_adds_what_is_new() -> None:
    first = block(200, "a", anchor=9)
    blocks = add(Store("a", "b"), first)
    assert blocks.sent == (first, Block("b", 100, ("b",), (9, 0)))


def test_a_step_that_may_not_change_the_prompt_says_so() -> None:
    first = block(200, "a", anchor=9)
    blocks = add(Store("a", "b"), first, may_change=False)
    assert blocks.sent == (first,)
    assert blocks.is_withheld
    assert not add(Store("a"), first, may_change=False).is_withheld, "there was nothing new"


def test_a_step_retires_nothing() -> None:
    full = block(990, "a", anchor=9)
    assert add(Store("b"), full).sent == (full,)


def test_blocks_stay_if_nothing_new_is_found() -> None:
    first = block(1000, "a")
    assert stable(Store("a"), first).sent == (first,)
    assert stable(Store("a"), first, is_free=True).sent == (first,)
    assert stable(Store(), first).sent == (first,)


def test_blocks_stay_if_what_is_new_fits_beside_them() -> None:
    """However little of the reserve is left: it is for what needs it."""
    first = block(900, "a")
    blocks = stable(Store("b"), first)
    assert blocks.sent == (first, Block("b", 100, ("b",), (9, 0)))


def test_the_newest_blocks_are_retired_for_what_needs_the_reserve() -> None:
    """The further back an edit, the more of the prompt must be written again."""
    oldest, newer = block(500, "a", anchor=1), block(350, "b", anchor=2)
    blocks = stable(Store("b", "c"), oldest, newer)
    assert blocks.sent[:2] == (oldest, newer), "150 tokens are left, and 100 are needed"
    blocks = stable(Store("b", "c", "d"), oldest, newer)
    assert blocks.sent == (oldest, Block("b c", 200, ("b", "c"), (9, 0)))
    assert [item.id for item in blocks.recalled] == ["b", "c"], "b was retired and is asked for"


def test_where_it_costs_nothing_all_are_retired_together_before_they_must() -> None:
    """The question after this one would lack its reserve, and retiring blocks then would cost."""
    oldest, newer = block(300, "a", anchor=1), block(300, "b", anchor=2)
    assert stable(Store("c", "d"), oldest, newer).sent[:2] == (oldest, newer)
    blocks = stable(Store("a", "c"), oldest, newer, is_free=True)
    assert blocks.sent[:2] == (oldest, newer), "there is room for the next one"
    blocks = stable(Store("a", "c", "d"), oldest, newer, is_free=True)
    assert blocks.sent == (Block("a c d", 300, ("a", "c", "d"), (9, 0)),)


def test_a_rebuilt_block_replaces_all() -> None:
    blocks = placement.rebuild(Store("a", "b"), (9, 0), CAP)
    assert blocks.sent == (Block("a b", 200, ("a", "b"), (9, 0)),)
    assert placement.rebuild(Store(), (9, 0), CAP).sent == ()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(20, 250))
def test_every_question_gets_its_reserve(founds: list[int], tokens: int) -> None:
    """However many were asked before, and whatever was found for them."""
    kept: tuple[Block, ...] = ()
    for turn, count in enumerate(founds):
        found = Store(*(f"{turn}.{item}" for item in range(count)), tokens=tokens)
        blocks = stable(found, *kept, newest=turn)
        newest = blocks.sent[-1]
        assert newest.anchor == (turn, 0)
        assert newest.tokens >= min(count, RESERVE // tokens) * tokens
        assert sum(each.tokens for each in blocks.sent) <= CAP
        kept = blocks.sent


@given(st.lists(st.integers(1, 500), max_size=6), st.integers(1, 400), st.booleans())
def test_all_blocks_together_stay_under_the_cap(
    sizes: list[int],
    size: int,
    is_free: bool,  # noqa: FBT001 - drawn
) -> None:
    kept: list[Block] = []
    for number, tokens in enumerate(sizes):
        if sum(each.tokens for each in kept) + tokens <= CAP:
            kept.append(block(tokens, f"k{number}", anchor=number))
    found = Store("a", "b", "c", "k0", tokens=size)
    for blocks in (stable(found, *kept, is_free=is_free), add(found, *kept)):
        assert sum(each.tokens for each in blocks.sent) <= CAP
        items = [item for each in blocks.sent for item in each.items]
        assert len(items) == len(set(items)), "nothing is recalled twice"


def test_one_rebuilt_block_may_take_the_whole_cap() -> None:
    found = Store(*map(str, range(50)))
    assert placement.rebuild(found, None, CAP).sent[0].tokens == CAP


@pytest.mark.parametrize(
    ("window", "reserve"),
    [(8_000, 200), (15_900, 397), (16_000, 800), (34_000, 850), (200_000, 1_000)],
)
def test_the_reserve_is_a_quarter_of_the_cap_and_holds_several_passages(
    window: int, reserve: int
) -> None:
    assert Budget.of(Config(context_window=window)).reserve == reserve

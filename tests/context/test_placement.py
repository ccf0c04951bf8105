"""Placement of blocks: sent ones stay, and all of them stay under the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from memctx.context import placement
from memctx.context.recall import RecalledBlock
from memctx.context.report import Recalled
from memctx.context.state import Block, State

if TYPE_CHECKING:
    from collections.abc import Collection

CAP = 1000


def block(tokens: int, *items: str, anchor: int | None = 1) -> Block:
    return Block("x", tokens, items, None if anchor is None else (anchor, 0))


class Store:
    """Finds all it has that is not known, at so many tokens each, as far as there is room."""

    def __init__(self, *items: str, tokens: int = 100) -> None:
        self.items = items
        self.tokens = tokens
        self.searches = 0

    def __call__(self) -> Store:
        self.searches += 1
        return self

    def size(self, known: Collection[str]) -> int:
        return sum(self.tokens for item in self.items if item not in known)

    def block(self, known: Collection[str], room: int) -> RecalledBlock | None:
        new = [item for item in self.items if item not in known][: room // self.tokens]
        found = tuple(Recalled(item, "user", None, 1.0, 1.0, is_cut=False) for item in new)
        return RecalledBlock(" ".join(new), len(new) * self.tokens, found) if new else None


def stable(  # noqa: PLR0913 - all have a default
    search: Store,
    *kept: Block,
    newest: int = 9,
    last: int | None = 8,
    is_cut: bool = False,
    may_retire: bool = True,
    may_add: bool = False,
) -> placement.Blocks:
    state = State(recalled_for=None if last is None else (last, 0))
    return placement.stable(
        search,
        state,
        kept,
        newest=(newest, 0),
        cap=CAP,
        is_cut=is_cut,
        may_retire=lambda _: may_retire,
        may_add=lambda: may_add,
    )


def test_a_new_block_goes_before_the_newest_user_message_and_the_rest_stays() -> None:
    first = block(200, "a")
    blocks = stable(Store("a", "b"), first)
    assert blocks.sent == (first, Block("b", 100, ("b",), (9, 0)))
    assert [item.id for item in blocks.recalled] == ["b"]


def test_a_step_of_a_tool_loop_searches_nothing() -> None:
    search = Store("a")
    assert stable(search, newest=9, last=9).sent == ()
    assert not search.searches


def test_a_later_step_adds_what_was_found_late() -> None:
    first = block(200, "a", anchor=9)
    blocks = stable(Store("a", "b"), first, newest=9, last=9, may_add=True)
    assert blocks.sent == (first, Block("b", 100, ("b",), (9, 0)))


def test_without_room_nothing_is_searched_for() -> None:
    search, full = Store("b"), block(990, "a")
    assert stable(search, full, may_retire=False).sent == (full,)
    assert not search.searches
    assert stable(search, full, may_retire=True).recalled, "here a block can make way"


def test_blocks_stay_if_nothing_new_is_found() -> None:
    first = block(1000, "a")
    assert stable(Store("a"), first).sent == (first,)


def test_a_trim_replaces_all_blocks_by_one_before_the_newest_user_message() -> None:
    """There it can be retired again at little cost."""
    blocks = stable(Store("a", "b"), block(200, "a"), is_cut=True)
    assert blocks.sent == (Block("a b", 200, ("a", "b"), (9, 0)),)


def test_a_trim_with_nothing_to_recall_leaves_no_block() -> None:
    assert stable(Store(), block(200, "a"), is_cut=True).sent == ()


def test_the_newest_blocks_are_retired_when_the_cap_is_reached() -> None:
    """The further back an edit, the more of the prompt must be written again."""
    oldest, newer = block(600, "a", anchor=1), block(400, "b", anchor=2)
    blocks = stable(Store("b", "c", tokens=50), oldest, newer)
    assert blocks.sent[0] == oldest
    assert blocks.sent[1].anchor == (9, 0)
    assert set(blocks.sent[1].items) == {"b", "c"}, "what made way may be what is asked for now"


def test_only_fitting_details_are_added_when_a_change_costs_too_much() -> None:
    kept = block(760, "a", anchor=1)
    blocks = stable(Store("b", "c", "d", tokens=60), kept, may_retire=False)
    assert blocks.sent == (kept, Block("b c", 120, ("b", "c"), (9, 0)))
    assert stable(Store("b"), block(1000, "a"), may_retire=False).recalled == ()


def test_later_blocks_leave_room_for_those_after_them() -> None:
    """However much is found, and though nothing may be retired."""
    kept: list[Block] = []
    for turn in range(4):
        search = Store(*(f"{turn}.{item}" for item in range(50)), tokens=20)
        blocks = stable(search, *kept, newest=turn, may_retire=False)
        assert blocks.recalled, f"no room in turn {turn}"
        kept = list(blocks.sent)


def test_no_block_is_retired_if_nothing_new_is_found() -> None:
    full = block(1000, "a")
    assert stable(Store(), full, may_retire=True).sent == (full,)


@given(st.lists(st.integers(1, 500), max_size=6), st.integers(1, 400), st.booleans(), st.booleans())
def test_all_blocks_together_stay_under_the_cap(
    sizes: list[int],
    size: int,
    is_cut: bool,  # noqa: FBT001 - drawn
    may_retire: bool,  # noqa: FBT001
) -> None:
    kept: list[Block] = []
    for number, tokens in enumerate(sizes):
        if sum(each.tokens for each in kept) + tokens <= CAP:
            kept.append(block(tokens, f"k{number}", anchor=number))
    blocks = stable(
        Store("a", "b", "c", "k0", tokens=size), *kept, is_cut=is_cut, may_retire=may_retire
    )
    assert sum(each.tokens for each in blocks.sent) <= CAP
    items = [item for each in blocks.sent for item in each.items]
    assert len(items) == len(set(items)), "nothing is recalled twice"


def test_one_rebuilt_block_may_take_the_whole_cap() -> None:
    search = Store(*map(str, range(50)))
    assert placement.rebuild(search, None, CAP).sent[0].tokens == CAP

"""Which blocks of recalled text a turn sends, and before which message each stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.turn.state import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memctx.turn.recollection import Recollection
    from memctx.turn.report import Recalled
    from memctx.turn.state import Place, State

    Search = Callable[[Collection[str], int], Recollection | None]
    """What is worth recalling beside what is known, in so many tokens."""

# Of the cap: what one turn may take, so that later turns find room without an earlier block having to go.
TURN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a turn."""

    sent: tuple[Block, ...]
    recalled: tuple[Recalled, ...] = ()
    """What is new in them."""


def rebuilt(search: Search, anchor: Place | None, cap: int) -> Blocks:
    """One block, made anew in every turn: at the head, or before the newest user message."""
    found = search((), cap)
    return Blocks((_block(found, anchor),), found.items) if found else Blocks(())


def stable(
    search: Search,
    state: State,
    kept: Sequence[Block],
    *,
    newest: Place | None,
    cap: int,
    is_cut: bool,
    may_retire: Callable[[Block], bool],
) -> Blocks:
    """Blocks that stay where they were sent until a trim.

    At a trim the prompt changes anyway, so they make way for one block at the head. Between trims, what is new for a new
    user message goes before it. When the cap is reached the newest blocks go first, if ``may_retire`` allows it: of all
    edits that touches the prompt latest.
    """
    room = int(cap * TURN_SHARE)
    if is_cut:
        return rebuilt(search, None, room)
    if newest is None or newest == state.recalled_for:
        return Blocks(tuple(kept))
    found = search(_items(kept), room)
    if found is None:
        return Blocks(tuple(kept))
    left = list(kept)
    while _tokens(left) + found.tokens > cap:
        if not may_retire(left.pop()):
            return _in_what_is_left(search, kept, newest, cap)
    if len(left) < len(kept):
        # What went with them may be what is asked for now.
        found = search(_items(left), min(room, cap - _tokens(left))) or found
    return Blocks((*left, _block(found, newest)), found.items)


def _in_what_is_left(search: Search, kept: Sequence[Block], newest: Place, cap: int) -> Blocks:
    """What fits beside all blocks that are there."""
    found = search(_items(kept), cap - _tokens(kept))
    return Blocks((*kept, _block(found, newest)), found.items) if found else Blocks(tuple(kept))


def _block(found: Recollection, anchor: Place | None) -> Block:
    return Block(found.text, found.tokens, tuple(item.id for item in found.items), anchor)


def _items(blocks: Sequence[Block]) -> set[str]:
    return {item for block in blocks for item in block.items}


def _tokens(blocks: Sequence[Block]) -> int:
    return sum(block.tokens for block in blocks)

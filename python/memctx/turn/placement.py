"""Which blocks of recalled text a turn sends, and before which message each stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.turn.recollection import SMALLEST_BLOCK
from memctx.turn.state import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Protocol

    from memctx.turn.recollection import Recollection
    from memctx.turn.report import Recalled
    from memctx.turn.state import Place, State

    class Found(Protocol):
        """What is worth recalling."""

        def has_new(self, known: Collection[str]) -> bool:
            """Whether any of it is worth adding to what is known."""
            ...

        def block(self, known: Collection[str], room: int) -> Recollection | None:
            """The best of it in so many tokens."""
            ...

    Search = Callable[[], Found | None]

# Of the cap: what the first block may take, so that later turns find room without an earlier block having to go.
FIRST_SHARE = 0.25
# Of the room that is left: what a later block may take, so that there is some for those after it.
LATER_SHARE = 0.0625
# Tokens: room for one thing to say. If there is less, earlier blocks make way where that costs little.
WANTED = 120


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a turn."""

    sent: tuple[Block, ...]
    recalled: tuple[Recalled, ...] = ()
    """What is new in them."""


def rebuilt(search: Search, anchor: Place | None, cap: int) -> Blocks:
    """One block, made anew in every turn: at the head, or before the newest user message."""
    found = search()
    made = found.block((), cap) if found else None
    return Blocks((_block(made, anchor),), made.items) if made else Blocks(())


def stable(  # noqa: PLR0913 - all that decides what may stay
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

    At a trim the prompt changes anyway, so they make way for one block at the head. Between trims, what is new for a
    new user message goes before it. When room gets short the newest blocks go first, if ``may_retire`` allows it: of
    all edits that touches the prompt latest.
    """
    if is_cut:
        return rebuilt(search, None, _room((), cap))
    if newest is None or newest == state.recalled_for:
        return Blocks(tuple(kept))
    if kept and _room(kept, cap) < SMALLEST_BLOCK and not may_retire(kept[-1]):
        return Blocks(tuple(kept))  # whatever a search found, there is no room for it
    found = search()
    if found is None:
        return Blocks(tuple(kept))
    left = _made_room(kept, found, cap, may_retire)
    made = found.block(_items(left), _room(left, cap))
    return Blocks((*left, _block(made, newest)), made.items) if made else Blocks(tuple(kept))


def reach(kept: Sequence[Block], cap: int) -> int:
    """The tokens for which a stable block looks for something to say.

    The first one is smaller than that, but some of what is found is in sight. Later ones have room for little.
    """
    return _room(kept, cap) if kept else cap // 2


def _made_room(
    kept: Sequence[Block], found: Found, cap: int, may_retire: Callable[[Block], bool]
) -> list[Block]:
    """The blocks that stay: if there is something new and no room for it, the newest go as far as they may."""
    left = list(kept)
    if found.has_new(_items(kept)):
        while left and _room(left, cap) < WANTED and may_retire(left[-1]):
            left.pop()
    return left


def _room(blocks: Sequence[Block], cap: int) -> int:
    """What one turn may take beside the blocks that are there."""
    if not blocks:
        return int(cap * FIRST_SHARE)
    left = cap - _tokens(blocks)
    return min(left, max(WANTED, int(left * LATER_SHARE)))


def _block(found: Recollection, anchor: Place | None) -> Block:
    return Block(found.text, found.tokens, found.keys, anchor)


def _items(blocks: Sequence[Block]) -> set[str]:
    return {item for block in blocks for item in block.items}


def _tokens(blocks: Sequence[Block]) -> int:
    return sum(block.tokens for block in blocks)

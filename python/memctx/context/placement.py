"""Placement of recalled text: which blocks a turn sends, and before which message each stands."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from memctx.context.recall import SMALLEST_BLOCK
from memctx.context.state import Block
from memctx.providers import pricing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Protocol

    from memctx.context.budget import Budget
    from memctx.context.capture import Capture
    from memctx.context.corrections import Corrections
    from memctx.context.cut import Cut
    from memctx.context.read import MessageRef, Source
    from memctx.context.recall import Candidates, Recall, RecalledBlock
    from memctx.context.report import Recalled
    from memctx.context.state import State

    class Found(Protocol):
        """Results of a search."""

        def size(self, known: Collection[str]) -> int:
            """Return about how many tokens those take that are worth adding to the ids in ``known``."""
            ...

        def block(self, known: Collection[str], room: int) -> RecalledBlock | None:
            """Return the best of them in ``room`` tokens."""
            ...

    Search = Callable[[], Found | None]

# Share of the room left that a block may take, so that there is some for those after it.
ROOM_SHARE = 0.5
# Tokens after a block that may always be written again to retire it, as a share of the cap.
CHEAP_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a turn."""

    sent: tuple[Block, ...]
    recalled: tuple[Recalled, ...] = ()
    """Items that are new in them."""
    candidates: Candidates | None = None
    """Results of the search; None without one."""
    is_late: bool = False
    """True if the disk index has yet to answer the search of this turn or of an earlier one for the same message."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Searches and places blocks by the settings of a session."""

    recall: Recall
    budget: Budget
    corrections: Corrections
    capture: Capture

    def place(
        self, source: Source, cut: Cut, state: State, query: str, *, first_changed: int | None
    ) -> Blocks:
        """Return the blocks to send. From ``first_changed`` on, the provider's cache is lost anyway."""
        config = self.recall.config
        cap = self.budget.room(cut.tokens + max(state.excess, 0))
        source.find_all([block.anchor for block in state.blocks if block.anchor is not None])
        kept = [block for block in state.blocks if _is_anchored(block, source, cut)]
        newest = source.newest_user
        is_stable = config.placement == "stable"
        if is_stable and kept and newest != state.recalled_for:
            kept = self.corrections.revise(kept, source.conversation)
        is_repeated = newest is not None and newest == state.recalled_for
        searched: list[Candidates] = []

        def search() -> Candidates | None:
            if not config.auto_recall or len(query) < config.recall.min_query_chars:
                return None
            is_kept = is_stable and not cut.trimmed
            if is_kept and config.recall.query_messages == "auto" and not source.has_topic:
                return (
                    None  # a courtesy asks for nothing new, and what was recalled before it stays
                )
            visible = self.capture.visible(cut)
            found = self.recall.search(
                query, cut.find_visible, room=_room((), cap), visible=visible
            )
            found = self.corrections.drop_corrected(found, source.conversation)
            searched.append(found)
            if is_kept and is_repeated and found.unsearched in {"late", "unavailable"}:
                return None  # what memory has was recalled before
            return found

        may_change = partial(
            _may_change,
            source,
            cut,
            state,
            first_changed=first_changed,
            cheap=int(cap * CHEAP_SHARE),
        )
        if is_stable:
            blocks = stable(
                search,
                state,
                kept,
                newest=newest,
                cap=cap,
                is_cut=bool(cut.trimmed),
                may_retire=lambda block: may_change(block.anchor, block.tokens),
                may_add=lambda: (
                    state.is_recall_late
                    and not _has_signed_after(newest, source)
                    and may_change(newest, SMALLEST_BLOCK)
                ),
            )
        elif config.placement == "head":
            blocks = rebuild(search, None, cap)
        else:
            blocks = rebuild(search, newest, cap) if newest else Blocks(())
        if not searched:
            return replace(blocks, is_late=state.is_recall_late and is_repeated)
        (found,) = searched
        return replace(blocks, candidates=found, is_late=found.unsearched == "late")


def rebuild(search: Search, anchor: MessageRef | None, cap: int) -> Blocks:
    """Make one block, new in every turn: at the head, or before the newest user message."""
    found = search()
    made = found.block((), cap) if found else None
    return Blocks((_block(made, anchor),), made.items) if made else Blocks(())


def stable(  # noqa: PLR0913 - all that decides which blocks may stay
    search: Search,
    state: State,
    kept: Sequence[Block],
    *,
    newest: MessageRef | None,
    cap: int,
    is_cut: bool,
    may_retire: Callable[[Block], bool],
    may_add: Callable[[], bool],
) -> Blocks:
    """Return blocks that stay where they were sent until a trim.

    A trim changes the prompt anyway, so they are replaced by one block. Between trims, a block with what is new for a
    new user message goes before it; a later step adds what the disk index found late, if ``may_add`` allows it. When
    room gets short the newest blocks are retired first, if ``may_retire`` allows it: of all edits that changes the
    prompt latest.
    """
    if is_cut:
        return rebuild(search, newest, _room((), cap))
    if newest is None or (newest == state.recalled_for and not may_add()):
        return Blocks(tuple(kept))
    if kept and _room(kept, cap) < SMALLEST_BLOCK and not may_retire(kept[-1]):
        return Blocks(tuple(kept))  # there is no room for anything a search finds
    found = search()
    if found is None:
        return Blocks(tuple(kept))
    left = _make_room(kept, found, cap, may_retire)
    made = found.block(_items(left), _room(left, cap))
    return Blocks((*left, _block(made, newest)), made.items) if made else Blocks(tuple(kept))


def _make_room(
    kept: Sequence[Block], found: Found, cap: int, may_retire: Callable[[Block], bool]
) -> list[Block]:
    """Return the blocks that stay: with too little room for what is new, the newest are retired if they may be."""
    left = list(kept)
    wanted = min(found.size(_items(kept)), _room((), cap))
    while left and _room(left, cap) < wanted and may_retire(left[-1]):
        left.pop()
    return left


def _room(blocks: Sequence[Block], cap: int) -> int:
    """Return the tokens that one turn may take beside the blocks that are there."""
    return int((cap - sum(block.tokens for block in blocks)) * ROOM_SHARE)


def _block(found: RecalledBlock, anchor: MessageRef | None) -> Block:
    return Block(found.text, found.tokens, found.keys, anchor)


def _items(blocks: Sequence[Block]) -> set[str]:
    return {item for block in blocks for item in block.items}


def _may_change(  # noqa: PLR0913 - all that the cost depends on
    source: Source,
    cut: Cut,
    state: State,
    anchor: MessageRef | None,
    tokens: int,
    *,
    first_changed: int | None,
    cheap: int,
) -> bool:
    """Return whether rewriting the cache from a block of ``tokens`` tokens before ``anchor`` on costs little.

    That is at most ``cheap`` tokens or, in all turns so far, a small share of the session.
    """
    index = 0 if anchor is None else source.find(anchor) or 0
    if first_changed is not None and first_changed <= index:
        return True
    again = sum(cut.tokens_sent[bisect_left(cut.sent, index) :])
    if again <= cheap:
        return True
    cost = state.rewritten + pricing.rewrite_cost(again + tokens)
    return cost <= pricing.MAX_REWRITE_SHARE * state.spent


def _has_signed_after(message: MessageRef | None, source: Source) -> bool:
    """Return whether a message is followed by signed thinking, which is bound to all before it."""
    index = None if message is None else source.find(message)
    return index is not None and any(signed > index for signed in source.conversation.signed)


def _is_anchored(block: Block, source: Source, cut: Cut) -> bool:
    """Return whether the message that a block stands before is still sent."""
    if block.anchor is None:
        return True
    index = source.find(block.anchor)
    return index is not None and cut.sends(index)

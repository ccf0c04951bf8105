"""Placement of recalled text: which blocks a turn sends, and before which message each stands."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from memctx.context.state import Block
from memctx.providers import pricing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Protocol

    from memctx._core import VisibleSegments
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

        def block(self, known: Collection[str], room: int) -> RecalledBlock | None:
            """Return the best of them in ``room`` tokens, without the ids in ``known``."""
            ...


# Share of the free room that a block may take beyond the reserve, so that there is some for those after it.
ROOM_SHARE = 0.5
# Tokens that may always be written to the cache again for what a step of a tool loop adds: about those of one block.
CHEAP_TOKENS = 1_000

NO_PERSON = "memory was not searched: no message is from a person"
SHORT = "memory was not searched: the query has fewer than {} characters, recall.min_query_chars"
COURTESY = "memory was not searched: the newest message asks for nothing"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a turn."""

    sent: tuple[Block, ...]
    recalled: tuple[Recalled, ...] = ()
    """Items that are new in them."""
    candidates: Candidates | None = None
    """Results of the search; None without one."""
    find_unsure: Callable[[], Candidates] | None = None
    """Searches again for what was not sure enough; None if something was found."""
    unsearched: str | None = None
    """Reason why memory was not searched; None if it was, for this step or an earlier one of the same question."""
    is_withheld: bool = False
    """True if something new was found for a step of a tool loop, and adding it would rewrite too much of the prompt."""
    is_late: bool = False
    """True if the disk index has yet to answer the search of this turn or of an earlier one for the same message."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Searches and places blocks by the settings of a session."""

    recall: Recall
    budget: Budget
    corrections: Corrections
    capture: Capture

    def place(  # noqa: PLR0913 - all that decides which blocks are sent
        self,
        source: Source,
        cut: Cut,
        state: State,
        query: str,
        *,
        first_changed: int | None,
        is_new_in_store: bool,
    ) -> Blocks:
        """Return the blocks to send. From ``first_changed`` on, the provider's cache is lost anyway.

        ``is_new_in_store`` says that a search could find what that of the last turn could not.
        """
        config = self.recall.config
        limits = Limits.of(self.budget, cut.tokens + max(state.excess, 0))
        source.find_all([block.anchor for block in state.blocks if block.anchor is not None])
        kept = [block for block in state.blocks if _is_anchored(block, source, cut)]
        newest = source.newest_user
        is_stable = config.placement == "stable"
        is_kept = is_stable and not cut.trimmed
        is_repeated = newest is not None and newest == state.recalled_for
        is_step = is_repeated and source.newest != newest
        if is_stable and kept and (not is_repeated or (is_new_in_store and not is_step)):
            kept = self.corrections.revise(kept, source.conversation)
        if is_kept and is_repeated and not (state.is_recall_late or is_new_in_store):
            return Blocks(tuple(kept))
        if not config.auto_recall:
            return Blocks(tuple(kept) if is_kept else ())
        if reason := self._reason_against(source, query, is_kept=is_kept):
            late = state.is_recall_late and is_repeated
            return Blocks(tuple(kept) if is_kept else (), unsearched=reason, is_late=late)
        visible = self.capture.visible(cut)
        found = self.recall.search(
            query, cut.find_visible, room=limits.half, visible=visible, shown=len(_items(kept))
        )
        found = self.corrections.drop_corrected(found, source.conversation)
        if not is_stable:
            blocks = rebuild(found, None if config.placement == "head" else newest, limits.cap)
        elif cut.trimmed:
            blocks = rebuild(found, newest, limits.half)
        elif not is_step:
            is_free = bool(kept) and _is_lost(kept[0].anchor, source, first_changed)
            blocks = stable(found, kept, newest, limits, is_free=is_free)
        elif found.unsearched in {"late", "unavailable"}:
            blocks = Blocks(tuple(kept))  # what memory has was recalled before
        else:
            may_change = partial(_may_change, source, cut, state, first_changed)
            blocks = add(found, kept, newest, limits, may_change)
        is_unsure = not any(found.found[:2])
        return replace(
            blocks,
            candidates=found,
            is_late=found.unsearched == "late",
            find_unsure=partial(self._search_unsure, query, cut, visible) if is_unsure else None,
        )

    def _reason_against(self, source: Source, query: str, *, is_kept: bool) -> str | None:
        """Return why nothing is searched for; None if it is."""
        config = self.recall.config
        if source.newest_user is None and config.placement != "head":
            return NO_PERSON
        if len(query) < config.recall.min_query_chars:
            return SHORT.format(config.recall.min_query_chars)
        # What was recalled before a courtesy stays.
        is_courtesy = config.recall.query_messages == "auto" and not source.has_topic
        return COURTESY if is_kept and is_courtesy else None

    def _search_unsure(self, query: str, cut: Cut, visible: VisibleSegments | None) -> Candidates:
        """Search for what answers best, however unsure that is."""
        config = self.recall.config.replace(recall={"min_score": 0.0})
        recall = replace(self.recall, config=config)
        return recall.search(query, cut.find_visible, room=0, visible=visible)


@dataclass(frozen=True, slots=True)
class Limits:
    """Room of the blocks of a turn, in tokens."""

    cap: int
    """All blocks together."""
    reserve: int
    """The part that only the newest question may take."""

    @classmethod
    def of(cls, budget: Budget, tokens: int) -> Limits:
        """Return the limits beside messages of so many tokens."""
        cap = budget.room(tokens)
        return cls(cap, min(budget.reserve, cap))

    @property
    def half(self) -> int:
        """Tokens of one block at most where it replaces all others, so that there is room for those after it."""
        return int(self.cap * ROOM_SHARE)

    def free(self, blocks: Sequence[Block]) -> int:
        """Return the tokens that are left beside blocks."""
        return self.cap - sum(block.tokens for block in blocks)

    def room(self, blocks: Sequence[Block]) -> int:
        """Return the tokens that the newest question may take: a share of what is left, or its reserve."""
        return max(int(self.free(blocks) * ROOM_SHARE), self.reserve)


def rebuild(found: Found, anchor: MessageRef | None, room: int) -> Blocks:
    """Make one block in place of all others."""
    made = found.block((), room)
    return Blocks((_block(made, anchor),), made.items) if made else Blocks(())


def stable(
    found: Found,
    kept: Sequence[Block],
    newest: MessageRef | None,
    limits: Limits,
    *,
    is_free: bool,
) -> Blocks:
    """Place what was found for a new question: before it, and the blocks of earlier questions stay where they are.

    They may not take the reserve. Where what was found needs it, the newest of them are retired, as many as it takes:
    of all edits that changes the prompt latest, and a session pays no less for retiring more at once. ``is_free`` says
    that the prompt must be written to the cache again anyway. Then all are retired together, as soon as the question
    after this one would lack its reserve.
    """
    # A question that is asked again, since there is more to find now, has a block already.
    earlier = [block for block in kept if block.anchor != newest]
    made = found.block(_items(earlier), limits.room(earlier))
    if made and is_free and limits.free(earlier) - made.tokens < limits.reserve:
        earlier = []
        made = found.block((), limits.room(()))
    while made and earlier and made.tokens > limits.free(earlier):
        while earlier and made.tokens > limits.free(earlier):
            earlier.pop()
        # What made way may be what is asked for now.
        made = found.block(_items(earlier), limits.room(earlier))
    return Blocks((*earlier, _block(made, newest)), made.items) if made else Blocks(tuple(kept))


def add(
    found: Found,
    kept: Sequence[Block],
    newest: MessageRef | None,
    limits: Limits,
    may_change: Callable[[int], bool],
) -> Blocks:
    """Add what was found for a step of a tool loop, if so many tokens ``may_change`` the prompt before the question."""
    made = found.block(_items(kept), min(limits.room(kept), limits.free(kept)))
    if made is None:
        return Blocks(tuple(kept))
    if not may_change(made.tokens):
        return Blocks(tuple(kept), is_withheld=True)
    return Blocks((*kept, _block(made, newest)), made.items)


def _block(found: RecalledBlock, anchor: MessageRef | None) -> Block:
    return Block(found.text, found.tokens, found.keys, anchor)


def _items(blocks: Sequence[Block]) -> set[str]:
    return {item for block in blocks for item in block.items}


def _is_lost(anchor: MessageRef | None, source: Source, first_changed: int | None) -> bool:
    """Return whether the provider's cache is lost anyway from a message on."""
    index = 0 if anchor is None else source.find(anchor) or 0
    return first_changed is not None and first_changed <= index


def _may_change(
    source: Source, cut: Cut, state: State, first_changed: int | None, tokens: int
) -> bool:
    """Return whether a block of ``tokens`` tokens may go before the newest question, which was sent already.

    Signed thinking there would be lost. What has to be written to the cache again must be about as much as a block or,
    in all turns so far, a small share of the session.
    """
    anchor = source.newest_user
    if _has_signed_after(anchor, source):
        return False
    if _is_lost(anchor, source, first_changed):
        return True
    index = 0 if anchor is None else source.find(anchor) or 0
    again = sum(cut.tokens_sent[bisect_left(cut.sent, index) :])
    if again <= CHEAP_TOKENS:
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

"""`Cut`: what leaves the context in a turn, planned as one edit: earlier decisions, shorter results, a trim."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, MutableSequence, Sequence

    from memctx._core import Conversation, Pruned, Trim
    from memctx.config import Config
    from memctx.turn.budget import Budget
    from memctx.turn.state import Decision, State

T = TypeVar("T")

NEVER = 1 << 62


@dataclass(frozen=True)
class Cut:
    """Indices are those of the conversation that was cut."""

    replayed: Trim
    """What earlier turns decided."""
    trim: Trim
    """What this turn decided, by the places that the replay left."""
    places: MutableSequence[int]
    """For each message that the replay left, the place it had."""
    pruned: list[Pruned]
    """Shortened results, by the places that the replay left."""
    kept: Conversation
    """What the replay leaves."""
    left: Conversation
    """What the replay and the shortening leave."""
    is_due: bool
    """Whether there was more than may be sent."""

    @property
    def tokens(self) -> int:
        """What is left costs."""
        return self.trim.tokens_after

    @property
    def changed(self) -> list[int]:
        """The messages that the replay left and that are not sent as they are, by the places that it left."""
        return sorted({*self.trim.removed_messages, *(item.message for item in self.pruned)})

    def of_sent(self, column: MutableSequence[T]) -> MutableSequence[T]:
        """Of a column with an item for each message that the replay left, the items of those that are sent."""
        gone = set(self.trim.removed_messages)
        return [item for place, item in enumerate(column) if place not in gone] if gone else column

    @cached_property
    def stays(self) -> MutableSequence[int]:
        """The messages that are sent."""
        return self.of_sent(self.places)

    def sends(self, index: int) -> bool:
        """Whether a message is sent."""
        place = bisect_left(self.stays, index)
        return place < len(self.stays) and self.stays[place] == index

    @cached_property
    def tokens_sent(self) -> MutableSequence[int]:
        """What each of them costs as it came."""
        return self.of_sent(self.kept.message_tokens)

    @cached_property
    def trimmed(self) -> list[int]:
        """The messages that this turn took out."""
        return [self.places[index] for index in self.trim.removed_messages]

    def units_out(self, earlier: Mapping[int, Decision]) -> Mapping[int, Decision]:
        """By the keys of all units that are out: what took them out, and their score."""
        if len(self.replayed) == len(earlier) and len(self.trim) == 0:
            return earlier
        out = {key: earlier[key] for key in self.replayed.removed_keys}
        return out | {unit.key: (unit.layer, unit.score) for unit in self.trim.removed}


class Replay:
    """Takes out what earlier turns took out, and remembers from turn to turn what that leaves."""

    def __init__(self) -> None:
        self._replay = _core.Replay()
        self._trimmed: Mapping[int, Decision] = {}
        self._keys: Sequence[int] = ()

    def of(
        self,
        conversation: Conversation,
        trimmed: Mapping[int, Decision],
        *,
        protected_recent: int,
        pinned: Sequence[int],
    ) -> tuple[Trim, Conversation, MutableSequence[int]]:
        """The units that leave, what they leave, and for each message left the place it had."""
        if trimmed is not self._trimmed:  # which nobody changes
            self._trimmed, self._keys = trimmed, array("Q", trimmed)
        return self._replay.of(
            conversation, self._keys, protected_recent=protected_recent, pinned=pinned
        )


def cut(  # noqa: PLR0913 - all that a cut depends on
    conversation: Conversation,
    query: str,
    *,
    replay: Replay,
    config: Config,
    budget: Budget,
    state: State,
    pinned: Collection[int],
    is_cold: bool,
) -> Cut:
    """Plan what leaves. ``is_cold`` says that the provider has forgotten the prompt, so that an edit costs nothing."""
    protected_recent, pins = config.protected_recent, sorted(pinned)
    without = partial(replay.of, conversation, protected_recent=protected_recent, pinned=pins)
    replayed, kept, places = without(state.trimmed)
    if 2 * replayed.recognised < len(state.trimmed):
        # A host that keeps what was sent has none of them; what looks like one there is another that reads alike.
        state = replace(state, trimmed={}, pruned={})
        replayed, kept, places = without(state.trimmed)
    left = kept
    spare = NEVER if budget.limit is None else max(budget.limit - state.excess, 0)
    blocks = sum(block.tokens for block in state.blocks)
    ceiling = NEVER if budget.overflow is None else max(budget.overflow - blocks - state.excess, 0)
    pruned = _prune(left, config=config, budget=budget, state=state, is_free=is_cold)
    tokens = left.tokens - sum(item.tokens_before - item.tokens_after for item in pruned)
    # A running tool loop is left alone as long as it fits.
    is_due = tokens > (ceiling if left.is_running else spare)
    if is_due and not is_cold:
        pruned = _prune(left, config=config, budget=budget, state=state, is_free=True)
    if pruned:
        left = left.with_results(
            [(item.message, item.ordinal, item.text, item.tokens_after) for item in pruned]
        )
    if budget.target is None:
        trim = _core.plan_trim(
            left, "", limit=NEVER, target=NEVER, protected_recent=protected_recent
        )
        return Cut(replayed, trim, places, pruned, kept, left, is_due)
    target = max(budget.target - state.excess, 0)
    new_places = {old: new for new, old in enumerate(places)} if pins else {}
    trim = _core.plan_trim(
        left,
        query,
        # A cut goes all the way down, so that many turns follow without one.
        limit=target if is_cold or is_due else spare,
        target=target,
        ceiling=ceiling,
        protected_recent=protected_recent,
        spare_people=True,
        pinned=[new_places[index] for index in pins if index in new_places],
    )
    return Cut(replayed, trim, places, pruned, kept, left, is_due)


def _prune(
    conversation: Conversation, *, config: Config, budget: Budget, state: State, is_free: bool
) -> list[Pruned]:
    """The results to shorten. A trim that is due changes the prompt anyway, and may not be needed after this."""
    settings = config.pruning
    if settings.mode == "off" or budget.limit is None:
        return []
    return _core.plan_prune(
        conversation,
        mode=settings.mode,
        context_window=budget.limit,
        keep_last_assistants=settings.keep_last_assistants,
        soft_trim_ratio=settings.soft_trim_ratio,
        hard_clear_ratio=settings.hard_clear_ratio,
        min_prunable_tool_chars=settings.min_prunable_tool_chars,
        soft_trim_max_chars=settings.soft_trim_max_chars,
        soft_trim_head_chars=settings.soft_trim_head_chars,
        soft_trim_tail_chars=settings.soft_trim_tail_chars,
        hard_clear=settings.hard_clear,
        placeholder=settings.placeholder,
        allow=settings.allow,
        deny=settings.deny,
        sticky=state.pruned,
        is_cold=is_free,
    )

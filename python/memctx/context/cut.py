"""`Cut`: the messages that leave the context in a turn, planned as one edit: earlier decisions, pruning, a trim."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableSequence, Sequence

    from memctx._core import (
        Captured,
        Conversation,
        Pruned,
        Removed,
        SearchHit,
        Trim,
        VisibleSegments,
    )
    from memctx.config import Config
    from memctx.context.budget import Budget
    from memctx.context.read import SourceIndex
    from memctx.context.state import Decision, State

T = TypeVar("T")

UNLIMITED = 1 << 62
# Share of the limit from which on a trim is near enough to come while the cache is cold, when it costs nothing.
NEARLY_DUE = 0.8
# Layer of what left although it was protected, since the request would have been larger than the window.
OVERSIZED = "oversized"
# Newest messages that are protected then, beside the newest question.
TIGHTLY_RECENT = 1
# Reasons to protect messages that a provider accepts before the first of a person.
LEADING = {"system", "summary"}


class RemovedUnit(NamedTuple):
    """Messages that are removed together: one message, or a call with its results."""

    messages: Sequence[SourceIndex]
    key: int
    tokens: int
    layer: str
    score: float
    is_new: bool


@dataclass(frozen=True)
class Cut:
    """Outcome of a cut. Every index of its public attributes is that of the source.

    The core plans on the messages that the replayed trim leaves, and numbers those. That numbering stays in here.
    """

    _replayed: Trim
    """Removals of earlier turns."""
    _trim: Trim
    """Removals of this turn, in the numbering of ``_kept``."""
    _source_indices: MutableSequence[SourceIndex]
    """Source index of each message of ``_kept``."""
    _pruned: Sequence[Pruned]
    """Shortened results, in the numbering of ``_kept``."""
    _kept: Conversation
    """The messages that the replay leaves."""
    _shortened: Conversation
    """The same with shortened results."""
    is_due: bool
    """True if the messages were over the limit."""
    spare: int = UNLIMITED
    """Cost of the messages up to which no trim is due."""
    _oversized: frozenset[int] = frozenset()
    """Keys of the units of this turn's trim that are protected while the request fits the window."""

    @property
    def tokens(self) -> int:
        """Cost of the remaining messages."""
        return self._trim.tokens_after

    @property
    def is_over(self) -> bool:
        """True if the remaining messages are over the limit, though a trim was due."""
        return self.is_due and self.tokens > self.spare

    @property
    def is_deferred(self) -> bool:
        """True if a trim waits for the end of the tool loop."""
        return self._trim.is_deferred

    @cached_property
    def pruned(self) -> list[tuple[SourceIndex, Pruned]]:
        """Shortened results, each with the index of its message."""
        indices = self._source_indices
        return [(indices[item.message], item) for item in self._pruned]

    @cached_property
    def sent(self) -> MutableSequence[SourceIndex]:
        """Indices of the messages that are sent, ascending."""
        return self._of_sent(self._source_indices)

    @property
    def keys_sent(self) -> MutableSequence[int]:
        """Key of each message that is sent, before pruning."""
        return self._of_sent(self._kept.keys)

    @cached_property
    def tokens_sent(self) -> MutableSequence[int]:
        """Cost of each message that is sent, before pruning."""
        return self._of_sent(self._kept.message_tokens)

    def sends(self, index: SourceIndex) -> bool:
        """Return whether a message is sent."""
        at = bisect_left(self.sent, index)
        return at < len(self.sent) and self.sent[at] == index

    @cached_property
    def trimmed(self) -> list[SourceIndex]:
        """Indices of the messages that this turn removed."""
        return [self._source_indices[index] for index in self._trim.removed_messages]

    def protected(self) -> Iterator[tuple[SourceIndex, str]]:
        """Yield the messages that the trim had to keep, with the reason."""
        for index, reason in self._trim.protected:
            yield self._source_indices[index], reason

    def removed(self, earlier: Mapping[int, Decision]) -> Iterator[RemovedUnit]:
        """Yield the units that are not sent; ``earlier`` are the decisions of earlier turns."""
        for unit in self._replayed.removed:
            messages = cast("Sequence[SourceIndex]", unit.messages)
            yield RemovedUnit(messages, unit.key, unit.tokens, *earlier[unit.key], is_new=False)
        for unit in self._trim.removed:
            messages = [self._source_indices[index] for index in unit.messages]
            layer = self._layer(unit)
            yield RemovedUnit(messages, unit.key, unit.tokens, layer, unit.score, is_new=True)

    def decisions(self, earlier: Mapping[int, Decision]) -> Mapping[int, Decision]:
        """Return the decision for each removed unit, by its key."""
        if len(self._replayed) == len(earlier) and len(self._trim) == 0:
            return earlier
        out = {key: earlier[key] for key in self._replayed.removed_keys}
        return out | {unit.key: (self._layer(unit), unit.score) for unit in self._trim.removed}

    def _layer(self, unit: Removed) -> str:
        return OVERSIZED if unit.key in self._oversized else unit.layer

    def find_visible(self, contents: Sequence[SearchHit | str]) -> list[bool]:
        """Return for each text whether the model reads it in a message that is sent whole."""
        return _core.visible(self._kept, self._hidden, contents)

    def visible_segments(self, captured: Captured) -> VisibleSegments:
        """Return the stored messages that are sent whole."""
        return captured.visible(self._kept, self._hidden)

    def find_problems(self) -> list[tuple[int, str, str, str | None]]:
        """Return what a provider would refuse in the messages that the replay and the pruning leave."""
        return _core.problems(self._shortened)

    @cached_property
    def _hidden(self) -> list[int]:
        """Messages of ``_kept`` that are not sent whole."""
        return sorted({*self._trim.removed_messages, *(item.message for item in self._pruned)})

    def _of_sent(self, column: MutableSequence[T]) -> MutableSequence[T]:
        """Return the items of the messages that are sent, from a column with one for each message of ``_kept``."""
        gone = set(self._trim.removed_messages)
        return [item for index, item in enumerate(column) if index not in gone] if gone else column


class Replay:
    """Repeats the removals of earlier turns, with a cache from turn to turn."""

    def __init__(self) -> None:
        self._replay = _core.Replay()
        self._trimmed: Mapping[int, Decision] = {}
        self._keys: Sequence[int] = ()
        self._is_tight = False

    def apply(
        self,
        conversation: Conversation,
        trimmed: Mapping[int, Decision],
        *,
        protected_recent: int,
        pinned: Sequence[SourceIndex],
    ) -> tuple[Trim, Conversation, MutableSequence[SourceIndex]]:
        """Return the removed units, the remaining messages, and the source index of each."""
        if trimmed is not self._trimmed:  # never changed in place
            self._trimmed, self._keys = trimmed, array("Q", trimmed)
            self._is_tight = any(layer == OVERSIZED for layer, _ in trimmed.values())
        if self._is_tight:
            protected_recent = min(protected_recent, TIGHTLY_RECENT)
            pinned = _with_newest(conversation, pinned)
        replayed, kept, indices = self._replay.of(
            conversation,
            self._keys,
            protected_recent=protected_recent,
            protect_task=not self._is_tight,
            pinned=pinned,
        )
        return replayed, kept, cast("MutableSequence[SourceIndex]", indices)


@dataclass(frozen=True, slots=True)
class CutPlanner:
    """Plans cuts by the settings and limits of a session."""

    config: Config
    budget: Budget

    def plan(  # noqa: PLR0913 - all that a cut depends on
        self,
        conversation: Conversation,
        query: str,
        state: State,
        replay: Replay,
        *,
        pinned: Sequence[SourceIndex],
        is_cold: bool,
    ) -> Cut:
        """Plan a cut; ``is_cold`` says that the provider's cache has expired, so that an edit costs nothing."""
        recent = self.config.trim.protected_recent
        apply = partial(replay.apply, conversation, protected_recent=recent, pinned=pinned)
        replayed, kept, indices = apply(state.trimmed)
        if 2 * replayed.recognized < len(state.trimmed):
            # A host that keeps the sent messages has none of the removed ones; those that match only read alike.
            state = replace(state, trimmed={}, pruned={})
            replayed, kept, indices = apply(state.trimmed)
        blocks = sum(block.tokens for block in state.blocks)
        # However little the provider counts, no more is sent than fits the window by our estimate.
        ceiling = _subtract(self.budget.overflow, blocks, max(state.excess, 0))
        spare = min(_subtract(self.budget.limit, 0, state.excess), ceiling)
        pruned = self._prune(kept, state, is_free=is_cold)
        tokens = kept.tokens - sum(item.tokens_before - item.tokens_after for item in pruned)
        # A running tool loop is left alone as long as it fits.
        is_due = tokens > (ceiling if kept.is_running else spare)
        if is_due and not is_cold:
            # A trim changes the prompt anyway, and may not be needed after this.
            pruned = self._prune(kept, state, is_free=True)
        kept_indices = {old: new for new, old in enumerate(indices)} if pinned else {}
        target = min(_subtract(self.budget.target, 0, state.excess), spare)
        places = [kept_indices[index] for index in pinned if index in kept_indices]
        trim_to_fit = partial(self._trim, query=query, target=target, pinned=places)
        shortened = _shorten(kept, pruned)
        nearly_due = max(target, int(spare * NEARLY_DUE))
        # A cut goes all the way down, so that many turns follow without one.
        limit = target if is_due else nearly_due if is_cold else spare
        trim = trim_to_fit(shortened, limit=limit, ceiling=ceiling)
        oversized: frozenset[int] = frozenset()
        if is_due and trim.tokens_after > spare and self._may_trim(query):
            # Everything left is protected: it must get shorter, or the provider refuses the request.
            whole = pruned, shortened
            above_target, above_limit = trim.tokens_after - target, trim.tokens_after - spare
            overflow = (above_target, above_limit, trim.removed_messages)
            pruned = self._prune(kept, state, is_free=True, overflow=overflow)
            shortened = _shorten(kept, pruned)
            trim = trim_to_fit(shortened, limit=target, ceiling=target)
            most = max(ceiling - self.budget.reserve, 0)
            for pruned_so, shortened_so in (whole, (pruned, shortened)):
                if trim.tokens_after <= most:
                    break
                if tight := self._trim_tightly(shortened_so, query, target, most, places):
                    protected = {index for index, _ in trim.protected}
                    oversized = frozenset(
                        unit.key for unit in tight.removed if protected.intersection(unit.messages)
                    )
                    pruned, shortened, trim = pruned_so, shortened_so, tight
        return Cut(replayed, trim, indices, pruned, kept, shortened, is_due, spare, oversized)

    def _trim(  # noqa: PLR0913 - all that a trim depends on
        self,
        conversation: Conversation,
        query: str,
        *,
        limit: int,
        target: int,
        ceiling: int,
        pinned: Sequence[int],
    ) -> Trim:
        """Plan a trim of what costs more than ``limit``; while tools are at work it waits up to ``ceiling``."""
        recent = self.config.trim.protected_recent
        if not self._may_trim(query):
            return _core.plan_trim(
                conversation, "", limit=UNLIMITED, target=UNLIMITED, protected_recent=recent
            )
        return _core.plan_trim(
            conversation,
            query,
            limit=limit,
            target=target,
            ceiling=ceiling,
            protected_recent=recent,
            spare_people=True,
            pinned=pinned,
        )

    def _trim_tightly(
        self,
        conversation: Conversation,
        query: str,
        target: int,
        most: int,
        pinned: Sequence[int],
    ) -> Trim | None:
        """Plan a trim that keeps what the newest question needs and the task or, if that is too large, nothing else.

        Return None if more than ``most`` tokens would be left all the same.
        """
        recent = min(self.config.trim.protected_recent, TIGHTLY_RECENT)
        pinned = _with_newest(conversation, pinned)
        for keeps_task in (True, False):
            trim = _core.plan_trim(
                conversation,
                query,
                limit=target if keeps_task else 0,
                protected_recent=recent,
                protect_task=keeps_task,
                spare_people=True,
                pinned=pinned,
            )
            # Without the task the question must be the first message of the conversation.
            newest = conversation.newest_user or 0
            ahead = {reason for index, reason in trim.protected if index < newest}
            if trim.tokens_after <= most and (keeps_task or ahead <= LEADING):
                return trim
        return None

    def _may_trim(self, query: str) -> bool:
        # By relevance to a query of a word or two, a trim would remove what the next question is about.
        config = self.config
        is_clear = config.trim.short_queries or len(query) >= config.recall.min_query_chars
        return self.budget.target is not None and is_clear

    def _prune(
        self,
        conversation: Conversation,
        state: State,
        *,
        is_free: bool,
        overflow: tuple[int, int, Sequence[int]] | None = None,
    ) -> list[Pruned]:
        """Plan which results are shortened; ``overflow`` is what a trim leaves too much."""
        settings = self.config.pruning
        if settings.mode == "off" or self.budget.limit is None:
            return []
        return _core.plan_prune(
            conversation,
            settings,
            context_window=self.budget.limit,
            sticky=state.pruned,
            is_cold=is_free,
            overflow=overflow,
        )


def _with_newest(conversation: Conversation, pinned: Sequence[T]) -> Sequence[T]:
    """Return the messages that stay, with the newest one of a person."""
    newest = conversation.newest_user
    return pinned if newest is None else [*pinned, cast("T", newest)]


def _shorten(conversation: Conversation, pruned: Sequence[Pruned]) -> Conversation:
    """Return a conversation with shortened results."""
    if not pruned:
        return conversation
    return conversation.with_results(
        [(item.message, item.ordinal, item.text, item.tokens_after) for item in pruned]
    )


def _subtract(limit: int | None, blocks: int, excess: int) -> int:
    """Return the cost of messages that fits a limit beside blocks and the provider's excess over the estimate."""
    return UNLIMITED if limit is None else max(limit - blocks - excess, 0)

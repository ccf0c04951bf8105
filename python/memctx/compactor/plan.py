"""`Plan`: what of a conversation leaves in a compaction, and what stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.compact import NoCut, file_operations, find_cut, latest_ask, tool_failures
from memctx.compactor import envelope
from memctx.errors import ConfigError
from memctx.messages import edit
from memctx.session.spoken import summary_in
from memctx.turn.binding import SHAPES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memctx._core import Conversation
    from memctx.compact import Cut, Failure, Files


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a conversation leaves in a compaction, and what stays. All places are those of its messages."""

    messages: list[Any]
    conversation: Conversation
    cut: Cut
    pinned: tuple[tuple[int, ...], ...]
    """Units before the cut that stay because somebody wants them to."""
    previous_summary: str | None
    ask: str
    """What the person asked for last, if that leaves; else it is empty."""
    history: list[Any]
    """The messages to summarise."""
    prefix: list[Any]
    """The beginning of the turn that the cut goes through."""
    files: Files
    """The files that were read and changed in both."""
    failures: tuple[Failure, ...]
    """The tools that failed in them."""

    @property
    def leaving(self) -> list[Any]:
        """All messages that the summary will stand for."""
        return [*self.history, *self.prefix]

    @property
    def signed(self) -> set[int]:
        """The messages whose thinking its provider would refuse behind anything but what it was written behind."""
        is_bound = self.conversation.shape in SHAPES
        return set(self.conversation.signed) if is_bound else set[int]()

    def around(self, summary: dict[str, Any], *, strips: bool) -> list[Any]:
        """The new list: system prompts, the summary, what is pinned, and the newest messages.

        What stays is the very same objects, but for those whose thinking no longer holds, if it ``strips`` that.
        """
        head = [self.messages[place] for place in self.cut.head]
        parts = [[*head, summary]]
        for unit in (*self.pinned, range(self.cut.first_kept, len(self.messages))):
            parts += self._parts(unit, self.signed if strips else set[int]())
        return envelope.joined(parts, self.conversation.shape)

    def _parts(self, places: Sequence[int], stale: set[int]) -> list[list[Any]]:
        """The messages at some places; a new part begins where one was nothing but stale thinking."""
        parts: list[list[Any]] = [[]]
        for place in places:
            message = self.messages[place]
            if place in stale:
                message = edit.without_thinking(message, self.conversation.shape)
            if message is None:
                parts.append([])
            else:
                parts[-1].append(message)
        return parts


def plan_of(
    messages: Sequence[Any],
    conversation: Conversation,
    *,
    keep: int,
    pinned: Collection[int],
    is_urgent: bool,
) -> Plan | NoCut:
    """What to do with a conversation; an urgent compaction keeps less rather than to do nothing."""
    if pinned and not 0 <= min(pinned) <= max(pinned) < len(messages):
        raise ConfigError(
            f"pinned are {sorted(pinned)}; expected places of {len(messages)} messages"
        )
    places = envelope.summary_places(conversation)
    cut = find_cut(conversation, keep, summaries=places)
    while not cut and is_urgent and keep > 1:
        keep //= 2
        cut = find_cut(conversation, keep, summaries=places)
    if isinstance(cut, NoCut):
        return cut
    units = tuple(unit for unit in conversation.units if _stays(unit, cut, pinned))
    stays = {*cut.skipped, *(place for unit in units for place in unit)}
    history = [messages[place] for place in cut.summarized if place not in stays]
    prefix = [messages[place] for place in cut.prefix if place not in stays]
    if not history and not prefix:
        return NoCut("all before the recent messages is pinned")
    first, count = cut.first_kept, len(conversation)
    leaving = conversation.without(sorted({*stays, *range(first, count)}))
    left, shape = [*history, *prefix], conversation.shape
    previous = envelope.previous_summary(conversation, cut.summaries)
    return Plan(
        messages=list(messages),
        conversation=conversation,
        cut=cut,
        pinned=units,
        previous_summary=previous,
        ask=_ask(messages, conversation, cut, previous),
        history=history,
        prefix=prefix,
        files=file_operations(left, shape, conversation=leaving),
        failures=tool_failures(left, shape, conversation=leaving),
    )


def _stays(unit: Sequence[int], cut: Cut, pinned: Collection[int]) -> bool:
    """Whether a unit before the cut is pinned."""
    is_before = unit[-1] < cut.first_kept and not any(place in cut.skipped for place in unit)
    return is_before and any(place in pinned for place in unit)


def _ask(
    messages: Sequence[Any], conversation: Conversation, cut: Cut, previous: str | None
) -> str:
    """What was asked last, if that is not in what stays: it may stand in the last summary only."""
    shape, first = conversation.shape, cut.first_kept
    count = len(conversation)
    kept = conversation.without(list(range(first)))
    if latest_ask(messages[first:], shape, conversation=kept) is not None:
        return ""
    before = conversation.without(list(range(first, count)))
    found = latest_ask(messages[:first], shape, conversation=before)
    if found is not None and summary_in(found) is None:
        return found
    return envelope.ask_in(previous or "") or ""

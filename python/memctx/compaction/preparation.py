"""`Preparation`: what a compaction removes and keeps, and the message list that it leaves."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.compaction.plan import NoCut, file_operations, find_cut, latest_ask, tool_failures
from memctx.errors import ConfigError
from memctx.hosts.pi import format_summary, parse_summary
from memctx.messages import FORMATS, edit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memctx._core import Conversation
    from memctx.compaction.plan import Cut, Failure, Files
    from memctx.messages import FormatName

ASSISTANTS = frozenset(each.assistant_role for each in FORMATS.values())
# Fillers for formats in which the roles must alternate.
ACKNOWLEDGED = "[memctx] The summary is read; the conversation goes on."
LEFT_OUT = "[memctx] Messages that stood here are in the summary."
_ASK = re.compile(r"^<latest-ask>\n(.*?)\n</latest-ask>", re.DOTALL | re.MULTILINE)


def summary_message(summary: str, format: FormatName, tokens_before: int) -> dict[str, Any]:
    """Return the message that holds a summary.

    >>> summary_message("Port 8443.", "pi", 51_234)["role"]
    'compactionSummary'
    """
    role = FORMATS[format].summary_role
    if role is not None:
        now = time.time_ns() // 1_000_000
        return {"role": role, "summary": summary, "tokensBefore": tokens_before, "timestamp": now}
    # In a block, as in `Context.for_model`.
    return edit.user_message(format_summary(summary), format, in_blocks=True)


def find_summaries(conversation: Conversation) -> list[int] | None:
    """Return the indices of earlier summaries; None where the reader alone knows them.

    A summary of memctx is the first message behind the system prompts, and contains nothing else.
    """
    if FORMATS[conversation.format].summary_role is not None:
        return None
    indices = set(conversation.summaries)
    roles, recalled = conversation.roles, set(conversation.recalled)
    spoken = (at for at, role in enumerate(roles) if role != "system" and at not in recalled)
    first = next(spoken, None)
    if first is not None and _is_summary(conversation, first):
        indices.add(first)
        after = first + 1
        if after < len(roles) and _texts_at(conversation, [after]) == [ACKNOWLEDGED]:
            indices.add(after)
    return sorted(indices)


def previous_summary(conversation: Conversation, indices: Sequence[int]) -> str | None:
    """Return the texts of earlier summaries without their envelope; None if there are none."""
    texts = [text for text in _texts_at(conversation, indices) if text != ACKNOWLEDGED]
    return "\n\n".join(parse_summary(text) or text for text in texts) or None


def parse_ask(summary: str) -> str | None:
    r"""Return the latest ask that a summary preserves; None if it has none.

    >>> parse_ask("## Latest user ask\n<latest-ask>\nWhich port?\n</latest-ask>")
    'Which port?'
    """
    found = _ASK.findall(summary)
    return found[-1].replace("<\\/latest-ask", "</latest-ask") if found else None


def join_parts(parts: Sequence[Sequence[Any]], format: FormatName) -> list[Any]:
    """Join the parts into one list; where roles must alternate, insert a message between those that do not."""
    messages: list[Any] = []
    for part in parts:
        if messages and part and FORMATS[format].roles_alternate:
            is_person, is_next = (_is_person(each) for each in (messages[-1], part[0]))
            if is_person and is_next:
                messages.append(edit.assistant_message(ACKNOWLEDGED, format))
            elif not is_person and not is_next:
                messages.append(edit.user_message(LEFT_OUT, format))
        messages += part
    return messages


def _is_person(message: object) -> bool:
    return edit.role(message) not in ASSISTANTS


def _is_summary(conversation: Conversation, index: int) -> bool:
    """Return whether a message is a summary of memctx and nothing else."""
    texts = _texts_at(conversation, [index])
    return len(texts) == 1 and parse_summary(texts[0]) is not None


def _texts_at(conversation: Conversation, indices: Sequence[int]) -> list[str]:
    return [record[1] for records in conversation.records(indices) for record in records]


@dataclass(frozen=True, slots=True)
class Preparation:
    """The messages that a compaction removes and keeps. All indices are those of ``messages``."""

    messages: list[Any]
    conversation: Conversation
    cut: Cut
    pinned: tuple[tuple[int, ...], ...]
    """Pinned units before the cut, which stay."""
    previous_summary: str | None
    ask: str
    """Latest ask of the person, if it leaves; else empty."""
    history: list[Any]
    """Messages to summarize."""
    prefix: list[Any]
    """First messages of the turn that the cut splits."""
    files: Files
    """Files read and changed in both."""
    failures: tuple[Failure, ...]
    """Tool failures in both."""

    @property
    def leaving(self) -> list[Any]:
        """All messages that the summary replaces."""
        return [*self.history, *self.prefix]

    @property
    def signed(self) -> set[int]:
        """Indices of messages with signed thinking, which the provider refuses behind a summary."""
        return set(self.conversation.signed)

    def build_messages(self, summary: dict[str, Any], *, strips: bool) -> list[Any]:
        """Build the new list: system prompts, the summary, pinned messages and the newest messages.

        Kept messages are the same objects, except those whose stale thinking is removed if ``strips`` is true.
        """
        head = [self.messages[index] for index in self.cut.head]
        parts = [[*head, summary]]
        for unit in (*self.pinned, range(self.cut.first_kept, len(self.messages))):
            parts += self._parts(unit, self.signed if strips else set[int]())
        return join_parts(parts, self.conversation.format)

    def find_stale_thinking(self, messages: Sequence[Any]) -> tuple[int, ...]:
        """Return the indices in the new list of messages with stale thinking."""
        signed = {id(self.messages[index]) for index in self.signed}
        return tuple(index for index, message in enumerate(messages) if id(message) in signed)

    def _parts(self, indices: Sequence[int], stale: set[int]) -> list[list[Any]]:
        """Return the messages at the indices; a new part begins where one held only stale thinking."""
        parts: list[list[Any]] = [[]]
        for index in indices:
            message = self.messages[index]
            if index in stale:
                message = edit.remove_thinking(message, self.conversation.format)
            if message is None:
                parts.append([])
            else:
                parts[-1].append(message)
        return parts


def prepare_compaction(
    messages: Sequence[Any],
    conversation: Conversation,
    *,
    keep: int,
    pinned: Collection[int],
    is_urgent: bool,
) -> Preparation | NoCut:
    """Prepare the compaction of a conversation; an urgent one keeps less rather than fail."""
    if pinned and not 0 <= min(pinned) <= max(pinned) < len(messages):
        raise ConfigError(
            f"pinned are {sorted(pinned)}; expected indices of {len(messages)} messages"
        )
    indices = find_summaries(conversation)
    cut = find_cut(conversation, keep, summaries=indices)
    while not cut and is_urgent and keep > 1:
        keep //= 2
        cut = find_cut(conversation, keep, summaries=indices)
    if isinstance(cut, NoCut):
        return cut
    units = tuple(unit for unit in conversation.units if _is_pinned(unit, cut, pinned))
    stays = {*cut.skipped, *(index for unit in units for index in unit)}
    history = [messages[index] for index in cut.summarized if index not in stays]
    prefix = [messages[index] for index in cut.prefix if index not in stays]
    if not history and not prefix:
        return NoCut("all before the recent messages is pinned")
    first, count = cut.first_kept, len(conversation)
    leaving = conversation.without(sorted({*stays, *range(first, count)}))
    left, message_format = [*history, *prefix], conversation.format
    previous = previous_summary(conversation, cut.summaries)
    return Preparation(
        messages=list(messages),
        conversation=conversation,
        cut=cut,
        pinned=units,
        previous_summary=previous,
        ask=_find_ask(messages, conversation, cut, previous),
        history=history,
        prefix=prefix,
        files=file_operations(left, message_format, conversation=leaving),
        failures=tool_failures(left, message_format, conversation=leaving),
    )


def _is_pinned(unit: Sequence[int], cut: Cut, pinned: Collection[int]) -> bool:
    """Return whether a unit before the cut is pinned."""
    is_before = unit[-1] < cut.first_kept and not any(index in cut.skipped for index in unit)
    return is_before and any(index in pinned for index in unit)


def _find_ask(
    messages: Sequence[Any], conversation: Conversation, cut: Cut, previous: str | None
) -> str:
    """Return the latest ask if the kept messages have none; it may be in the previous summary only."""
    message_format, first = conversation.format, cut.first_kept
    count = len(conversation)
    kept = conversation.without(list(range(first)))
    if latest_ask(messages[first:], message_format, conversation=kept) is not None:
        return ""
    before = conversation.without(list(range(first, count)))
    found = latest_ask(messages[:first], message_format, conversation=before)
    if found is not None and parse_summary(found) is None:
        return found
    return parse_ask(previous or "") or ""

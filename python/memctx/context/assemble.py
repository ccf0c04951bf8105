"""`Outgoing`: the messages that are sent, and the signed thinking in them.

Providers sign the model's thinking together with everything sent before it, and refuse it after anything else. So each
message with signed thinking is remembered with the chain of what had been sent when the model wrote it. As long as it
is sent after the same chain it stays; otherwise it is stale, from that turn on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.context.read import SourceIndex
from memctx.messages import FORMATS, edit

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

    from memctx.context.cut import Cut
    from memctx.context.read import MessageRef, Source
    from memctx.context.state import Block, State
    from memctx.messages import FormatName

# Tells the key of a message with a shortened result from that of the message with it cleared.
FORMS = {"soft": 1, "clear": 2}
# In the column of source indices: a recalled block.
NO_SOURCE = SourceIndex(-1)


@dataclass(slots=True)
class Outgoing:
    """The list under construction, as parallel columns; a position, an index into them, stays in here."""

    format: FormatName
    messages: list[Any]
    keys: MutableSequence[int]
    """Key of each message as it is sent."""
    tokens: MutableSequence[int]
    sources: MutableSequence[SourceIndex]
    """Source index of each message; `NO_SOURCE` for recalled blocks."""
    _remaining: Sequence[SourceIndex]
    """The messages that the cut left, without blocks."""
    _block_anchors: list[int] = field(default_factory=list[int])
    """For each block that is a message, the index in ``_remaining`` of the message after it; ascending."""

    @classmethod
    def after(cls, source: Source, cut: Cut) -> Outgoing:
        """Return the messages that a cut leaves of a source."""
        sent = cut.sent
        outgoing = cls(
            format=source.conversation.format,
            messages=_core.items_at(source.messages, sent),
            keys=cut.keys_sent,
            tokens=cut.tokens_sent[:],
            sources=sent[:],
            _remaining=sent,
        )
        outgoing._shorten(cut)
        return outgoing

    @property
    def alternates(self) -> bool:
        """True if the provider refuses neighbors of one role, so that a block goes inside of a message."""
        return FORMATS[self.format].roles_alternate

    def origins(self, source: Source) -> tuple[int | None, ...]:
        """Return the index of each message in the host's list; None for one that was added."""
        known = source.origins
        return tuple(None if index == NO_SOURCE else known[index] for index in self.sources)

    def insert(self, block: Block, source: Source) -> bool:
        """Insert a block before its anchor; return False if that is not sent."""
        at = self._head(source) if block.anchor is None else self._find(block.anchor, source)
        if at is None:
            return False
        position = at + bisect_right(self._block_anchors, at)
        key = _core.text_key(block.text)
        if self._must_go_inside(position, source):
            message = self.messages[position]
            self.messages[position] = edit.add_text_block(message, block.text, self.format)
            self.keys[position] = _core.chain([self.keys[position], key])[-1]
            self.tokens[position] += block.tokens
        else:
            insort(self._block_anchors, at)
            self.messages.insert(position, edit.user_message(block.text, self.format))
            self.keys.insert(position, key)
            self.tokens.insert(position, block.tokens)
            self.sources.insert(position, NO_SOURCE)
        return True

    def merge_neighbors(self, source: Source) -> None:
        """Merge neighbors of one role that were apart before, where roles must alternate."""
        if not self.alternates:
            return
        roles = [edit.role(message) for message in self.messages]
        # In the host's list, where a recalled block may have stood between them.
        given = self.origins(source)
        for position in range(len(self.messages) - 1, 0, -1):
            before, here = given[position - 1 : position + 1]
            was_apart = before is None or here is None or here != before + 1
            if roles[position] == roles[position - 1] and was_apart:
                first, second = self.messages[position - 1 : position + 1]
                # The message between them is gone, to which the thinking of the second is bound.
                second = edit.remove_thinking(second, self.format) or second
                self.messages[position - 1] = edit.merge(first, second, self.format)
                self.keys[position - 1] = _core.chain(self.keys[position - 1 : position + 1])[-1]
                self.tokens[position - 1] += self.tokens[position]
                self._delete(position)

    def bind_thinking(self, source: Source, state: State, *, strip: bool) -> Binding:
        """Find stale thinking, and remove it if ``strip`` is set."""
        signed = source.conversation.signed
        if not signed:
            return Binding(_core.chain(self.keys), {}, [])
        keys, ordinals = source.keys, source.ordinals
        links_before = _links_before(source, state)
        bound = {
            (ref := (keys[index], ordinals[index])): state.bound.get(ref, links_before[index])
            for index in signed
        }
        positions = {index: position for position, index in enumerate(self.sources)}
        checked = [
            (positions[index], bound[keys[index], ordinals[index]])
            for index in map(SourceIndex, signed)
            if index in positions
        ]
        links, stale = _core.bind(self.keys, checked, strip=strip)
        stale_sources = [self.sources[position] for position in stale]
        if strip and stale:
            self._strip_thinking(stale)
            self.merge_neighbors(source)
        return Binding(links, bound, stale_sources)

    def _shorten(self, cut: Cut) -> None:
        if not cut.pruned:
            return
        positions = {index: position for position, index in enumerate(self.sources)}
        for index, item in cut.pruned:
            position = positions.get(index)
            if position is None:  # the whole message is removed
                continue
            self.messages[position] = edit.replace_result(
                self.messages[position], item.ordinal, item.text, self.format
            )
            self.keys[position] ^= item.key ^ _number_of(item.form)
            self.tokens[position] -= item.tokens_before - item.tokens_after

    def _must_go_inside(self, position: int, source: Source) -> bool:
        """Return whether a block must go into a message, since none may come before it."""
        return self.alternates or (
            position < len(self.messages) and source.conversation.in_group(self.sources[position])
        )

    def _head(self, source: Source) -> int | None:
        """Return the index in ``_remaining`` after the system prompt and the summary of a compaction."""
        remaining, conversation = self._remaining, source.conversation
        at = 0
        while at < len(remaining) and conversation.is_preamble(remaining[at]):
            at += 1
        if not self.alternates:
            return at
        roles = conversation.roles
        rest = range(at, len(remaining))
        return next((at for at in rest if roles[remaining[at]] == "user"), None)

    def _find(self, anchor: MessageRef, source: Source) -> int | None:
        """Return the index in ``_remaining`` of the message of an anchor."""
        index = source.find(anchor)
        if index is None:
            return None
        at = bisect_left(self._remaining, index)
        return at if at < len(self._remaining) and self._remaining[at] == index else None

    def _strip_thinking(self, positions: Sequence[int]) -> None:
        """Remove the thinking of some messages; a message that was nothing else is deleted."""
        for position in reversed(positions):
            stripped = edit.remove_thinking(self.messages[position], self.format)
            if stripped is None:
                self._delete(position)
            else:
                self.messages[position] = stripped

    def _delete(self, position: int) -> None:
        for column in (self.messages, self.keys, self.tokens, self.sources):
            del column[position]


@dataclass(frozen=True, slots=True)
class Binding:
    """Signed thinking and the chain of messages that each is bound to."""

    links: Sequence[int]
    """Chain of what is sent, one link for each message."""
    bound: dict[MessageRef, int]
    """For each message with signed thinking, the link it was written after."""
    stale: list[SourceIndex]
    """Messages whose thinking is bound to another chain."""


def _number_of(form: str) -> int:
    """Return a number for a form of a result, which may end in a number of characters."""
    name, _, chars = form.partition(":")
    return FORMS[name] | int(chars or 0) << 2


def _links_before(source: Source, state: State) -> list[int]:
    """Return for each message of the source the link that it was written after, if it is new.

    Messages after the last one of the previous turn were written after what that turn sent. Without such a turn, or if
    the host changed its history since, the host sent the messages as they are.
    """
    keys = source.keys
    last = None if state.newest is None else source.find(state.newest)
    if last is None or not state.sent:
        return [0, *_core.chain(keys)][: len(keys)]
    new = _core.chain(keys[last + 1 :], start=state.sent[-1])
    return [0] * (last + 1) + [state.sent[-1], *new][: len(keys) - last - 1]

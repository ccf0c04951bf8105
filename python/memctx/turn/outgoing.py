"""`Outgoing`: the messages that are sent, put together from the host's and from what the turn decided."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.messages import edit

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

    from memctx.messages import Shape
    from memctx.turn.cut import Cut
    from memctx.turn.source import Source
    from memctx.turn.state import Block, Place

# Where neighbours of one role are refused, so that text is put into a message rather than beside it.
ALTERNATING = frozenset({"bedrock", "gemini"})
# What tells the key of a message with a shortened result from that of the message with it cleared.
FORMS = {"soft": 1, "clear": 2}


@dataclass(slots=True)
class Outgoing:
    """The list that is being put together. All lists run side by side."""

    shape: Shape
    messages: list[Any]
    keys: MutableSequence[int]
    """A key for what each message reads now."""
    tokens: MutableSequence[int]
    origins: MutableSequence[int]
    """The place each had in the source; -1 for blocks."""
    left: Sequence[int]
    """The same without the blocks, as the cut left it."""
    blocks: list[int] = field(default_factory=list[int])
    """For each block that was put before a message, the place of that message in ``left``; ascending."""

    @classmethod
    def after(cls, source: Source, cut: Cut) -> Outgoing:
        """What a cut leaves of a source."""
        left = cut.stays
        outgoing = cls(
            shape=source.conversation.shape,
            messages=_core.items_at(source.messages, left),
            keys=cut.of_sent(cut.kept.keys),
            tokens=cut.tokens_sent[:],
            origins=left[:],
            left=left,
        )
        outgoing._shorten(cut)
        return outgoing

    def _shorten(self, cut: Cut) -> None:
        if not cut.pruned:
            return
        place_of = {origin: place for place, origin in enumerate(self.origins)}
        for item in cut.pruned:
            place = place_of.get(cut.places[item.message])
            if place is None:  # it left altogether
                continue
            self.messages[place] = edit.with_result(
                self.messages[place], item.ordinal, item.text, self.shape
            )
            self.keys[place] ^= item.key ^ FORMS[item.form]
            self.tokens[place] -= item.tokens_before - item.tokens_after

    def insert(self, block: Block, source: Source) -> bool:
        """Put a block where it belongs; false if there is no such place."""
        at = self._head(source) if block.anchor is None else self._place_of(block.anchor, source)
        if at is None:
            return False
        place = at + bisect_right(self.blocks, at)
        key = _core.text_key(block.text)
        if self._goes_inside(place, source):
            message = self.messages[place]
            self.messages[place] = edit.with_text_block(message, block.text, self.shape)
            self.keys[place] = _core.chain([self.keys[place], key])[-1]
            self.tokens[place] += block.tokens
        else:
            insort(self.blocks, at)
            self.messages.insert(place, edit.user_message(block.text, self.shape))
            self.keys.insert(place, key)
            self.tokens.insert(place, block.tokens)
            self.origins.insert(place, -1)
        return True

    def _goes_inside(self, place: int, source: Source) -> bool:
        """Whether a block must go into a message, since none may come before it."""
        return self.shape in ALTERNATING or (
            place < len(self.messages) and source.conversation.in_group(self.origins[place])
        )

    def _head(self, source: Source) -> int | None:
        """The place in ``left`` behind the system prompt and the summary of a compaction."""
        left, conversation = self.left, source.conversation
        place = 0
        while place < len(left) and conversation.is_preamble(left[place]):
            place += 1
        if self.shape not in ALTERNATING:
            return place
        roles = conversation.roles
        return next((at for at in range(place, len(left)) if roles[left[at]] == "user"), None)

    def _place_of(self, anchor: Place, source: Source) -> int | None:
        """The place in ``left`` of the message of an anchor."""
        index = source.find(anchor)
        if index is None:
            return None
        place = bisect_left(self.left, index)
        return place if place < len(self.left) and self.left[place] == index else None

    def strip_thinking(self, places: Sequence[int]) -> None:
        """Take the thinking out of the messages at some places; a message that was nothing else goes."""
        for place in reversed(places):
            stripped = edit.without_thinking(self.messages[place], self.shape)
            if stripped is None:
                for column in (self.messages, self.keys, self.tokens, self.origins):
                    del column[place]
            else:
                self.messages[place] = stripped

    def merge_neighbours(self, source: Source) -> None:
        """Make one message of two neighbours of one role that were none before, where a provider asks for that."""
        if self.shape not in ALTERNATING:
            return
        roles = [edit.role(message) for message in self.messages]
        # In the host's list, where a block of ours may have stood between them.
        places = [source.origins[origin] if origin >= 0 else -1 for origin in self.origins]
        for place in range(len(self.messages) - 1, 0, -1):
            was_apart = places[place] != places[place - 1] + 1
            if roles[place] == roles[place - 1] and was_apart:
                first, second = self.messages[place - 1 : place + 1]
                # What stood between them is gone, and with it what the thinking of the second is bound to.
                second = edit.without_thinking(second, self.shape) or second
                self.messages[place - 1] = edit.merged(first, second, self.shape)
                self.keys[place - 1] = _core.chain(self.keys[place - 1 : place + 1])[-1]
                self.tokens[place - 1] += self.tokens[place]
                for column in (self.messages, self.keys, self.tokens, self.origins):
                    del column[place]

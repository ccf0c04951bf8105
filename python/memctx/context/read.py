"""`Source`: the host's messages as a turn works on them, without the recalled blocks of earlier turns.

A turn knows a message by its `SourceIndex` and nothing else. Lists with another numbering (those that a replayed trim
leaves, those that are sent) stay inside `cut` and `assemble`; the host's own indices appear in `pinned` and in the
report, translated by `Source.given` and `Source.from_given`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NewType, TypeAlias, cast

from memctx import _core
from memctx.messages import FORMATS, edit, repair_conversation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from memctx._core import Conversation, MessageReader
    from memctx.messages import Change, FormatName

SourceIndex = NewType("SourceIndex", int)
"""Index of a message in `Source.messages`."""

MessageRef: TypeAlias = tuple[int, int]
"""Key of a message and the number of earlier messages with the same key: names a message across turns."""

# A shorter message, such as "go on", is not enough to search for by itself.
FEW_TOKENS = 5


@dataclass(frozen=True)
class Source:
    """The messages that a turn works on, and their parsed form."""

    messages: Sequence[Any]
    conversation: Conversation
    origins: Sequence[int | None]
    """Index of each message in the host's list; None for one that a repair added."""
    repaired: tuple[Change, ...] = ()
    _found: dict[MessageRef, SourceIndex | None] = field(
        default_factory=dict["MessageRef", "SourceIndex | None"], repr=False
    )
    """Cache of `find`: several steps of a turn look up the same messages."""

    @classmethod
    def read(
        cls, reader: MessageReader, messages: Sequence[Any], format: FormatName | None
    ) -> Source:
        """Parse messages, remove recalled blocks, and repair invalid messages."""
        conversation = reader.read(messages, format)
        source = cls(messages, conversation, range(len(messages)))
        if conversation.recalled or conversation.carriers:
            source = source._remove_blocks(reader)
        if _core.problems(source.conversation):
            source = source._repair(reader)  # noqa: SLF001
        return source

    @cached_property
    def keys(self) -> Sequence[int]:
        """Key of each message."""
        return self.conversation.keys

    @cached_property
    def ordinals(self) -> list[int]:
        """Number of earlier messages with the same key, for each message."""
        return self.conversation.ordinals

    @property
    def newest(self) -> MessageRef | None:
        """The last message."""
        count = len(self.conversation)
        return self.conversation.occurrence(count - 1) if count else None

    @cached_property
    def newest_user(self) -> MessageRef | None:
        """The last message that a person wrote."""
        index = self.conversation.newest_user
        return None if index is None else self.conversation.occurrence(index)

    @cached_property
    def has_topic(self) -> bool:
        """True if the last message that a person wrote is about something."""
        return _core.has_topic(self.conversation.query(1))

    @cached_property
    def head(self) -> int | None:
        """Key of the first message that is neither a system prompt nor a summary."""
        conversation = self.conversation
        indices = range(len(conversation))
        first = next((index for index in indices if not conversation.is_preamble(index)), None)
        return None if first is None else conversation.occurrence(first)[0]

    def find(self, message: MessageRef) -> SourceIndex | None:
        """Return the index of a message; None if it is not there."""
        if message not in self._found:
            self.find_all([message])
        return self._found[message]

    def find_all(self, messages: Sequence[MessageRef]) -> None:
        """Look up several messages for `find` at the cost of one lookup."""
        new = [message for message in messages if message not in self._found]
        if new:
            found = cast("list[SourceIndex | None]", self.conversation.find(new))
            self._found.update(zip(new, found, strict=True))

    def given(self, indices: Iterable[SourceIndex]) -> tuple[int, ...]:
        """Return the host's indices of some messages, leaving out those that a repair added."""
        origins = self.origins
        return tuple(index for each in indices if (index := origins[each]) is not None)

    def from_given(self, indices: Collection[int]) -> list[SourceIndex]:
        """Return the messages with some of the host's indices, ascending."""
        if not indices:
            return []
        return [SourceIndex(at) for at, origin in enumerate(self.origins) if origin in indices]

    def query_count(self, setting: int | Literal["auto"]) -> int:
        """Return how many of the person's last messages make the query, by the setting ``recall.query_messages``.

        ``"auto"`` is the last one or, if that has only a word or two or is about nothing, the last three.
        """
        if setting != "auto":
            return setting
        newest = self.conversation.query(1)
        is_short = _core.estimate_tokens(newest, "script") < FEW_TOKENS
        return 3 if is_short or not self.has_topic else 1

    def _remove_blocks(self, reader: MessageReader) -> Source:
        """Return the source without recalled blocks, whether whole messages or inside of others."""
        conversation, message_format = self.conversation, self.conversation.format
        newest = conversation.newest_user
        # Every recalled block stands before something that a person wrote; others are quoted by a person.
        recalled = {
            index for index in conversation.recalled if newest is not None and index < newest
        }
        recalled -= _find_quoted(conversation, recalled)
        carriers = set(conversation.carriers)
        origins = [index for index in range(len(self.messages)) if index not in recalled]
        messages = [
            edit.remove_blocks(self.messages[index], reader.is_own_block, message_format)
            if index in carriers
            else self.messages[index]
            for index in origins
        ]
        return Source(messages, reader.read(messages, message_format), origins)

    def _repair(self, reader: MessageReader) -> Source:
        repaired = repair_conversation(self.messages, self.conversation)
        if not repaired.changes:
            return self
        origins = [None if index is None else self.origins[index] for index in repaired.origins]
        conversation = reader.read(repaired.messages, self.conversation.format)
        changes = tuple(
            replace(change, index=self._given_or_same(change.index)) for change in repaired.changes
        )
        return Source(repaired.messages, conversation, origins, changes)

    def _given_or_same(self, index: int) -> int:
        given = self.origins[index]
        return index if given is None else given


def _find_quoted(conversation: Conversation, recalled: set[int]) -> set[int]:
    """Return the seeming blocks that must be a person's, since no request may begin with the rest."""
    if not FORMATS[conversation.format].begins_with_user:
        return set()
    roles = conversation.roles
    rest = (
        index for index in range(len(roles)) if index not in recalled and roles[index] != "system"
    )
    first = next(rest, None)
    if first is None or roles[first] != "assistant" or first in conversation.summaries:
        return set()
    return {index for index in recalled if index < first}

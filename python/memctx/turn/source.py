"""`Source`: the host's messages as a turn works on them, without the blocks that earlier turns put in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.messages import edit
from memctx.messages.repair import mended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, Scanner
    from memctx.messages import Shape
    from memctx.messages.repair import Change
    from memctx.turn.state import Place

# Where the first message must be the user's.
BEGIN_WITH_USER = frozenset({"anthropic", "bedrock", "gemini"})


@dataclass(frozen=True)
class Source:
    """Messages and what was read off them."""

    messages: Sequence[Any]
    conversation: Conversation
    origins: Sequence[int]
    """For each message its place in the list that was given; -1 for one that a repair made up."""
    repaired: tuple[Change, ...] = ()
    _found: dict[Place, int | None] = field(default_factory=dict["Place", "int | None"], repr=False)
    """Where messages are that were asked for: several steps of a turn ask for the same."""

    @cached_property
    def keys(self) -> Sequence[int]:
        """The key of each message."""
        return self.conversation.keys

    @cached_property
    def ordinals(self) -> list[int]:
        """For each message how many of the same key stand before it."""
        return self.conversation.ordinals

    def find(self, place: Place) -> int | None:
        """The index of a message; None if it is not there."""
        if place not in self._found:
            self.find_all([place])
        return self._found[place]

    def find_all(self, places: Sequence[Place]) -> None:
        """Find some messages, so that `find` knows them: many at once take no longer than one."""
        self._found.update(zip(places, self.conversation.find(places), strict=True))

    def place(self, index: int) -> Place:
        """What `find` finds a message by."""
        return self.conversation.place(index)

    @classmethod
    def read(cls, scanner: Scanner, messages: Sequence[Any], shape: Shape | None) -> Source:
        """Read messages, take our own blocks out, and mend what came in broken."""
        conversation = scanner.scan(messages, shape)
        source = cls(messages, conversation, range(len(messages)))
        if conversation.recalled or conversation.carriers:
            source = source._without_blocks(scanner)
        if _core.problems(source.conversation):
            source = source._mended(scanner)  # noqa: SLF001
        return source

    def _without_blocks(self, scanner: Scanner) -> Source:
        """The messages without whole messages that are blocks of ours, and without blocks inside of others."""
        conversation, shape = self.conversation, self.conversation.shape
        newest = conversation.newest_user
        # Every block of ours stands before something that a person wrote; what does not is a person's, quoted.
        recalled = {
            index for index in conversation.recalled if newest is not None and index < newest
        }
        recalled -= _beginning(conversation, recalled)
        carriers = set(conversation.carriers)
        origins = [index for index in range(len(self.messages)) if index not in recalled]
        messages = [
            edit.without_blocks(self.messages[index], _core.is_block, shape)
            if index in carriers
            else self.messages[index]
            for index in origins
        ]
        return Source(messages, scanner.scan(messages, shape), origins)

    def _mended(self, scanner: Scanner) -> Source:
        repaired = mended(self.messages, self.conversation)
        if not repaired.changes:
            return self
        places = {
            id(message): index for message, index in zip(self.messages, self.origins, strict=True)
        }
        origins = [places.get(id(message), -1) for message in repaired.messages]
        conversation = scanner.scan(repaired.messages, self.conversation.shape)
        return Source(repaired.messages, conversation, origins, repaired.changes)


def _beginning(conversation: Conversation, recalled: set[int]) -> set[int]:
    """What looks like blocks of ours but must be a person's, since no request may begin with what follows."""
    if conversation.shape not in BEGIN_WITH_USER:
        return set()
    roles = conversation.roles
    rest = (
        index for index in range(len(roles)) if index not in recalled and roles[index] != "system"
    )
    first = next(rest, None)
    if first is None or roles[first] != "assistant" or first in conversation.summaries:
        return set()
    return {index for index in recalled if index < first}

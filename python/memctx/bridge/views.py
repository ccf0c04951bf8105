"""`Views`: the messages of a framework as memory reads them, and back.

A view is a message in OpenAI's chat format, with signed thinking in ``thinking_blocks``. Memory prunes, trims and
recalls in a list of views; messages whose views are untouched are sent as the very same objects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from memctx.context import truncate_tool_result
from memctx.errors import MessageFormatError
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx.context import Archived, Turn
    from memctx.memory import Memory

M = TypeVar("M")
View: TypeAlias = dict[str, Any]


class Views(ABC, Generic[M]):
    """Views of the messages of one framework."""

    @abstractmethod
    def view(self, message: M) -> list[View]:
        """Return the views of a message: one, or one for each result that it holds.

        Raises:
            MessageFormatError: it is not understood.
        """

    @abstractmethod
    def rebuild(self, message: M, changes: Sequence[tuple[View, View]]) -> M:
        """Return a copy of a message for those of its views that are left, each before and after its edit."""

    @abstractmethod
    def make(self, view: View) -> M:
        """Return a new message: recalled text of the user, or a result that was missing."""

    def prepare(
        self, memory: Memory, messages: Sequence[M], *, model: str | None = None
    ) -> tuple[list[M], Turn]:
        """Return the messages to send, and the turn that `Memory.prepare` made of their views."""
        groups = [self.view(message) for message in messages]
        flat = [view for group in groups for view in group]
        owners = [index for index, group in enumerate(groups) for _ in group]
        turn = memory.prepare(flat, format="openai", model=model)
        sent: list[M] = []
        for owner, pairs in _runs(flat, turn, owners):
            if owner is None:
                sent += [self.make(after) for _, after in pairs]
            elif len(pairs) == len(groups[owner]) and all(one is two for one, two in pairs):
                sent.append(messages[owner])
            else:
                sent.append(self.rebuild(messages[owner], pairs))
        return sent, turn

    def archive(self, memory: Memory, messages: Sequence[M]) -> Archived:
        """Store messages through their views."""
        flat = [view for message in messages for view in self.view(message)]
        return memory.archive(flat, format="openai")

    def truncate(self, memory: Memory, message: M, max_chars: int) -> M:
        """Return a message whose results of more than ``max_chars`` are cut to head and tail, archived whole first."""
        before = self.view(message)
        share = max_chars * 3 // 8
        after = [
            truncate_tool_result(
                view,
                max_chars=max_chars,
                head_chars=share,
                tail_chars=share,
                archive=memory,
                format="openai",
            )
            for view in before
        ]
        if all(one is two for one, two in zip(before, after, strict=True)):
            return message
        return self.rebuild(message, list(zip(before, after, strict=True)))


def _runs(
    flat: Sequence[View], turn: Turn, owners: Sequence[int]
) -> Iterator[tuple[int | None, list[tuple[View, View]]]]:
    """Yield neighbors that come from one message, with the index of it; None for what memory added."""
    sent = zip(turn.origins, turn.messages, strict=True)
    for owner, run in groupby(sent, key=lambda pair: None if pair[0] is None else owners[pair[0]]):
        yield (
            owner,
            [(after if origin is None else flat[origin], after) for origin, after in run],
        )


def refuse(message: object, *, expected: str) -> MessageFormatError:
    """Return the error for an object that is no message of the framework."""
    return MessageFormatError(f"a message is {type(message).__name__}; expected {expected}")


def calls_view(calls: Iterable[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Return calls by id, name of the tool and arguments in JSON as the field ``tool_calls`` of a view."""
    return [
        {"id": own, "type": "function", "function": {"name": name, "arguments": arguments}}
        for own, name, arguments in calls
    ]


def content_after(raw: object, before: object, after: object) -> Any:  # noqa: ANN401 - the framework's content
    """Return the content of a message after an edit of its view.

    Blocks that the edit left alone are the framework's own, ``raw``; ``before`` and ``after`` are those of the view.
    """
    if not isinstance(after, list):
        return after or ""
    pairs = zip(part.blocks(before), part.blocks(raw), strict=True)
    owners = {id(block): own for block, own in pairs}
    return [owners.get(id(block), block) for block in part.items(cast("object", after))]

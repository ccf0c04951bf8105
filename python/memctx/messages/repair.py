"""`repair`: calls and results that belong together, brought together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.messages import edit, part
from memctx.messages.altered import alike, with_fields
from memctx.messages.block import field_of, results_of, text_block
from memctx.messages.problem import SCANNER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, Shape

# What holds the place of a message of which nothing is left, where roles must take turns.
HELD = "[memctx] A tool result stood here without its call before it."


@dataclass(frozen=True, slots=True)
class Change:
    """Something that `repair` did."""

    index: int
    """The message of the call, the result or the reasoning, by its place in the list that was given."""
    code: str
    """The name of what was done, the same in every version."""
    message: str
    """What was done, in words."""
    id: str | None = None
    """The id of the call or the result."""
    removed: Any = None
    """What was dropped, as it was given: a message, or a block of one."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """Mended messages and how they were mended."""

    messages: Sequence[Any]
    """The mended list; the very list that was given if there was nothing to mend."""
    changes: tuple[Change, ...]
    """Everything that is different, in the order of the messages that were given."""


def repair(messages: Sequence[Any], shape: Shape | None = None) -> Repaired:
    """Bring calls and results together, so that the provider takes them.

    A result goes right behind its call, wherever it stands behind it. A result without a call before it and a second
    one for the same call are dropped, and are handed over in the changes. A call without a result is answered by an
    error that says so; a real result that turns up later takes its place. Reasoning items that lost what they led to
    are dropped. Turns that were cut off are left alone, and so are the calls that the list ends with: their tools may
    still be running. Ids are never changed. The list and the messages that are given stay as they are.

    The codes of changes: ``dropped-orphan``, ``dropped-duplicate``, ``moved-result``, ``added-result``,
    ``reordered-results``, ``dropped-reasoning``. Mending what was mended changes nothing.

    >>> import memctx
    >>> call = {"id": "c1", "type": "function", "function": {"name": "port", "arguments": "{}"}}
    >>> repaired = memctx.repair([
    ...     {"role": "user", "content": "Which port?"},
    ...     {"role": "assistant", "content": None, "tool_calls": [call]},
    ...     {"role": "user", "content": "Well?"},
    ...     {"role": "tool", "tool_call_id": "c1", "content": "8443"},
    ... ])
    >>> [message["role"] for message in repaired.messages]
    ['user', 'assistant', 'tool', 'user']
    >>> [(change.index, change.code) for change in repaired.changes]
    [(3, 'moved-result')]

    Raises:
        MessageShapeError: it is no list, or something in it is no message.
        ConfigError: the shape is unknown.
    """
    return mended(messages, SCANNER.scan(messages, shape))


def mended(messages: Sequence[Any], conversation: Conversation) -> Repaired:
    """`repair` of messages that were read already."""
    plan = _core.repair_plan(conversation)
    if plan is None:
        return Repaired(messages, ())
    steps, changes = plan
    mending = _Mending(messages, conversation.shape)
    return Repaired(
        [mending.laid(*step) for step in steps], tuple(mending.told(*change) for change in changes)
    )


@dataclass(frozen=True, slots=True)
class _Mending:
    messages: Sequence[Any]
    shape: Shape

    def laid(self, kind: str, index: int | None, answers: Sequence[_core.PlannedResult]) -> object:
        """One message of the mended list."""
        if index is None:
            return self._new(answers)
        message: object = self.messages[index]
        if kind == "keep":
            return message
        held = text_block(HELD, self.shape)
        results = [self._result(answer) for answer in answers] if kind == "answer" else []
        return edit.with_results(message, results, self.shape, otherwise=held)

    def told(self, index: int, ordinal: int, code: str, words: str, call_id: str | None) -> Change:
        """A change, with what was dropped by it."""
        removed: object = None
        if code.startswith("dropped"):
            removed = self.messages[index]
            if self.shape in edit.IN_BLOCKS:
                removed = results_of(part.unwrapped(removed), self.shape)[ordinal]
        return Change(index, code, words, call_id, removed)

    def _new(self, answers: Sequence[_core.PlannedResult]) -> object:
        """A message of results alone."""
        if self.shape not in edit.IN_BLOCKS:
            return self._missing(answers[0])
        caller = part.unwrapped(self.messages[answers[0][0]])
        blocks = [self._result(answer) for answer in answers]
        return alike(caller, {"role": "user", field_of(self.shape): blocks})

    def _result(self, answer: _core.PlannedResult) -> object:
        """A block of a result: one that is there, or one that stands for what is missing."""
        index, ordinal, is_given, *_ = answer
        if is_given:
            return results_of(part.unwrapped(self.messages[index]), self.shape)[ordinal]
        return results_of(self._missing(answer), self.shape)[0]

    def _missing(self, answer: _core.PlannedResult) -> object:
        """The message that stands for a missing result, as old as its call."""
        index, _, _, call_id, name = answer
        caller = part.unwrapped(self.messages[index])
        kind = part.text(caller, "type") or "function_call"
        missing = edit.missing_result(call_id, name, self.shape, kind=kind)
        timestamp = part.get(caller, "timestamp")
        if self.shape == "pi" and timestamp is not None:
            return with_fields(missing, {"timestamp": timestamp})
        return missing

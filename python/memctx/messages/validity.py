"""Validation and repair of messages by the rules of their provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx import _core, checks
from memctx.messages import edit, part
from memctx.messages.block import field_of, results_of, text_block
from memctx.messages.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation
    from memctx.messages.formats import FormatName

# Without a cache, and with the cheapest estimator: neither is used here.
READER = _core.MessageReader("utf16", capacity=0)
# Text of a message of which nothing is left, where roles must alternate.
PLACEHOLDER = "[memctx] A tool result stood here without its call before it."


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule of the provider that a message breaks."""

    index: int
    """Index of the message."""
    code: str
    """Name of the problem, the same in every version."""
    message: str
    """Description of the problem."""
    id: str | None = None
    """Id of the call or the result concerned."""


@checks.public
def validate(messages: Sequence[Any], format: FormatName | None = None) -> list[Problem]:
    """Return what the provider would refuse with status 400, in the order of the messages; nothing if it accepts them.

    ``format`` names the format of the messages where it cannot be detected. Rules that depend on the rest of the
    request, such as whether thinking is enabled, are not checked. The codes, each for providers with the rule:
    ``orphan-result``, ``duplicate-result``, ``result-not-adjacent``, ``text-before-result``, ``unanswered-call`` (the
    calls of a running turn too), ``duplicate-call``, ``call-not-after-user``, ``roles-alternate``,
    ``first-not-user``, ``reasoning-without-follower``, ``empty-content``.

    >>> import memctx
    >>> messages = [
    ...     {"role": "user", "content": "Which port?"},
    ...     {"role": "tool", "tool_call_id": "c1", "content": "8443"},
    ... ]
    >>> for problem in memctx.validate(messages):
    ...     print(problem.index, problem.code, problem.message)
    1 orphan-result a tool result whose call does not stand before it (id "c1")

    Raises:
        MessageFormatError: it is no list, or a message in it is not understood.
        ConfigError: the format is unknown.
    """
    return [Problem(*found) for found in _core.problems(READER.read(messages, format))]


@dataclass(frozen=True, slots=True)
class Change:
    """One change that `repair` made."""

    index: int
    """Index of the message with the call, the result or the reasoning, in the given list."""
    code: str
    """Name of the change, the same in every version."""
    message: str
    """Description of the change."""
    id: str | None = None
    """Id of the call or the result."""
    removed: Any = None
    """The dropped message, or the dropped block of one, as it was given."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """Repaired messages and the changes made to them."""

    messages: Sequence[Any]
    """The repaired list; the given list itself if there was nothing to repair."""
    changes: tuple[Change, ...]
    """All changes, in the order of the given messages."""
    origins: Sequence[int | None] = ()
    """Index in the given list of each repaired message; None for one that was added."""


@checks.public
def repair(messages: Sequence[Any], format: FormatName | None = None) -> Repaired:
    """Bring calls and results together, so that the provider accepts them.

    A result moves right behind its call, wherever after the call it stands. A result without a call before it and a
    second one for the same call are dropped, and returned in the changes. A call without a result is answered by an
    error that says so, until a real result turns up. Reasoning items without the item they led to are dropped. Turns
    that were cut off are left alone, and so are the calls at the end of the list: their tools may still be running. So
    is everything that may belong to a block of an unknown type: the rest of its message, and results with the id it
    names. Ids are never changed. The given list and messages stay as they are.

    The codes of changes: ``dropped-orphan``, ``dropped-duplicate``, ``moved-result``, ``added-result``,
    ``reordered-results``, ``dropped-reasoning``. Repairing a repaired list changes nothing.

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
        MessageFormatError: it is no list, or a message in it is not understood.
        ConfigError: the format is unknown.
    """
    return repair_conversation(messages, READER.read(messages, format))


def repair_conversation(messages: Sequence[Any], conversation: Conversation) -> Repaired:
    """Repair messages that are already parsed."""
    plan = _core.repair_plan(conversation)
    if plan is None:
        return Repaired(messages, ())
    steps, changes = plan
    repairer = _Repairer(messages, conversation.format)
    return Repaired(
        [repairer.apply(*step) for step in steps],
        tuple(repairer.describe(*change) for change in changes),
        [index for _, index, _ in steps],
    )


@dataclass(frozen=True, slots=True)
class _Repairer:
    """Builds the repaired messages of a plan."""

    messages: Sequence[Any]
    format: FormatName

    def apply(self, kind: str, index: int | None, answers: Sequence[_core.PlannedResult]) -> object:
        """Return one message of the repaired list."""
        if index is None:
            return self._new_message(answers)
        message: object = self.messages[index]
        if kind == "keep":
            return message
        placeholder = text_block(PLACEHOLDER, self.format)
        results = [self._result(answer) for answer in answers] if kind == "answer" else []
        return edit.replace_results(message, results, self.format, otherwise=placeholder)

    def describe(
        self, index: int, ordinal: int, code: str, words: str, call_id: str | None
    ) -> Change:
        """Return a change, with the message or block that it dropped."""
        removed: object = None
        if code.startswith("dropped"):
            removed = self.messages[index]
            if FORMATS[self.format].results_in_blocks:
                removed = results_of(part.unwrapped(removed), self.format)[ordinal]
        return Change(index, code, words, call_id, removed)

    def _new_message(self, answers: Sequence[_core.PlannedResult]) -> object:
        """Return a message of results alone."""
        if not FORMATS[self.format].results_in_blocks:
            return self._missing(answers[0])
        blocks = [self._result(answer) for answer in answers]
        fields: dict[str, object] = {"role": "user", field_of(self.format): blocks}
        # Only the class of another user's message is known to hold one.
        users = (part.unwrapped(message) for message in self.messages)
        neighbor = next((user for user in users if part.text(user, "role") == "user"), None)
        return fields if neighbor is None else part.make_like(neighbor, fields)

    def _result(self, answer: _core.PlannedResult) -> object:
        """Return the block of a result, or of the error that stands for a missing one."""
        index, ordinal, is_given, *_ = answer
        if is_given:
            return results_of(part.unwrapped(self.messages[index]), self.format)[ordinal]
        return results_of(self._missing(answer), self.format)[0]

    def _missing(self, answer: _core.PlannedResult) -> object:
        """Return the message that stands for a missing result, with the time of its call."""
        index, _, _, call_id, name = answer
        caller = part.unwrapped(self.messages[index])
        kind = part.text(caller, "type") or "function_call"
        missing = edit.missing_result(call_id, name, self.format, kind=kind)
        timestamp = part.get(caller, "timestamp")
        if FORMATS[self.format].has_timestamps and timestamp is not None:
            return part.with_fields(missing, {"timestamp": timestamp})
        return missing

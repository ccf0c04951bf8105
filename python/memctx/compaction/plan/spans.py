"""Spans of messages that a cut must not separate, and their token costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memctx import _core
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from memctx._core import Conversation
    from memctx.messages import FormatName

    Message = TypeVar("Message")


def read_conversation(
    messages: Sequence[Any], format: FormatName | None, conversation: Conversation | None
) -> Conversation:
    """Return the given conversation after a check of its length, or parse the messages.

    >>> talk = [{"role": "user", "content": "go on"}]
    >>> conversation = read_conversation(talk, None, None)
    >>> read_conversation(talk, None, conversation) is conversation
    True
    """
    if conversation is None:
        return _core.MessageReader(capacity=0).read(messages, format)
    if len(conversation) != len(messages):
        raise ConfigError(
            f"the conversation has {len(conversation)} messages; expected {len(messages)}"
        )
    return conversation


class Span(NamedTuple):
    """The messages from ``start`` up to but excluding ``stop``, and their cost."""

    start: int
    stop: int
    tokens: int


def find_spans(conversation: Conversation, costs: Sequence[int] | None = None) -> list[Span]:
    """Split a conversation into spans, in order; ``costs`` replaces the reader's costs.

    >>> from memctx import _core
    >>> call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}
    >>> result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]}
    >>> talk = _core.MessageReader().read([{"role": "user", "content": "go on"}, call, result])
    >>> [(span.start, span.stop) for span in find_spans(talk)]
    [(0, 1), (1, 3)]
    """
    costs = conversation.message_tokens if costs is None else costs
    last = list(range(len(costs)))
    for unit in conversation.units:
        last[unit[0]] = unit[-1]
    spans: list[Span] = []
    start = end = tokens = 0
    for index, cost in enumerate(costs):
        end = max(end, last[index])
        tokens += cost
        if index == end:
            spans.append(Span(start, index + 1, tokens))
            start, end, tokens = index + 1, index + 1, 0
    return spans


def measure_tokens(
    messages: Sequence[Message],
    format: FormatName | None,
    estimate: Callable[[Message], int] | None,
    conversation: Conversation | None,
) -> tuple[Conversation, list[int]]:
    """Return the conversation and the cost of each message, by the estimate or by the reader.

    >>> measure_tokens([{"role": "user", "content": "go on"}], None, lambda message: 7, None)[1]
    [7]
    """
    conversation = read_conversation(messages, format, conversation)
    if estimate is None:
        return conversation, conversation.message_tokens
    return conversation, [estimate(message) for message in messages]

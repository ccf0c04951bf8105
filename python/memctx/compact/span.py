"""`Span`: messages side by side that a cut must not part, such as a call, its results, and what stands between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memctx.compact.scan import scanned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from memctx._core import Conversation, Shape

    Message = TypeVar("Message")


class Span(NamedTuple):
    """The messages from ``start`` up to ``stop``, without it, and what they cost together."""

    start: int
    stop: int
    tokens: int


def spans_of(conversation: Conversation, costs: Sequence[int] | None = None) -> list[Span]:
    """All messages of a conversation as spans, in order; ``costs`` replaces what the scanner says each message costs.

    >>> from memctx import _core
    >>> call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}
    >>> result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]}
    >>> talk = _core.Scanner().scan([{"role": "user", "content": "go on"}, call, result])
    >>> [(span.start, span.stop) for span in spans_of(talk)]
    [(0, 1), (1, 3)]
    """
    costs = conversation.message_tokens if costs is None else costs
    last = list(range(len(costs)))
    for unit in conversation.units:
        last[unit[0]] = unit[-1]
    spans: list[Span] = []
    start = end = tokens = 0
    for place, cost in enumerate(costs):
        end = max(end, last[place])
        tokens += cost
        if place == end:
            spans.append(Span(start, place + 1, tokens))
            start, end, tokens = place + 1, place + 1, 0
    return spans


def measure(
    messages: Sequence[Message],
    shape: Shape | None,
    estimate: Callable[[Message], int] | None,
    conversation: Conversation | None,
) -> tuple[Conversation, list[int]]:
    """The messages as read, and what each costs: by the estimate, or as the scanner says.

    >>> measure([{"role": "user", "content": "go on"}], None, lambda message: 7, None)[1]
    [7]
    """
    conversation = scanned(messages, shape, conversation)
    if estimate is None:
        return conversation, conversation.message_tokens
    return conversation, [estimate(message) for message in messages]

"""Parts of a history that a model can summarise one at a time. Calls and their results stay together.

Estimates are off by some, so that whatever must fit is held to be a fifth longer than it looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memctx.compact.span import measure, spans_of
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation, Shape

Message = TypeVar("Message")

BASE_CHUNK_RATIO = 0.4
"""The share of the window that a chunk takes."""
MIN_CHUNK_RATIO = 0.15
"""What that share shrinks to where messages are large."""
SAFETY_MARGIN = 1.2
"""How much more than its estimate a text may cost."""
LARGE_SHARE = 0.1
"""Messages that take more of the window than this, in the mean, make chunks smaller."""
OVERSIZED_SHARE = 0.5
"""A message that takes more of the window than this is not summarised."""
SUMMARIZATION_OVERHEAD_TOKENS = 4_096
"""What a summariser's own prompt takes beside the messages."""
DEFAULT_PARTS = 2
"""How many parts a history is split into."""


def estimate_messages_tokens(
    messages: Sequence[Message],
    *,
    shape: Shape | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> int:
    """What messages cost a model together, about; ``estimate`` says what one of them does.

    >>> estimate_messages_tokens([{"role": "user", "content": "Which port?"}])
    8
    """
    return sum(measure(messages, shape, estimate, conversation)[1])


def compute_adaptive_chunk_ratio(
    messages: Sequence[Message],
    context_window: int,
    *,
    shape: Shape | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> float:
    """The share of the window that one chunk may take: 0.4, down to 0.15 where the mean message is large.

    >>> compute_adaptive_chunk_ratio([{"role": "user", "content": "Which port?"}], 200_000)
    0.4
    >>> messages = [{"role": "user", "content": "x"}]
    >>> round(compute_adaptive_chunk_ratio(messages, 1_000, estimate=lambda message: 100), 2)
    0.16
    """
    window = _positive("context_window", context_window)
    if not messages:
        return BASE_CHUNK_RATIO
    _, costs = measure(messages, shape, estimate, conversation)
    mean = sum(costs) / len(costs) * SAFETY_MARGIN / window
    if mean <= LARGE_SHARE:
        return BASE_CHUNK_RATIO
    reduction = min(mean * 2, BASE_CHUNK_RATIO - MIN_CHUNK_RATIO)
    return max(MIN_CHUNK_RATIO, BASE_CHUNK_RATIO - reduction)


def is_oversized(tokens: int, context_window: int) -> bool:
    """Whether a message of so many tokens is too large to be summarised: more than half of the window.

    >>> is_oversized(84_000, 200_000), is_oversized(83_000, 200_000)
    (True, False)
    """
    return tokens * SAFETY_MARGIN > _positive("context_window", context_window) * OVERSIZED_SHARE


def split_messages_by_token_share(
    messages: Sequence[Message],
    parts: int = DEFAULT_PARTS,
    *,
    shape: Shape | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> list[list[Message]]:
    """The messages in at most so many parts of about the same cost, in order.

    >>> messages = [{"role": "user", "content": text} for text in "abcd"]
    >>> [[message["content"] for message in part] for part in split_messages_by_token_share(messages)]
    [['a', 'b'], ['c', 'd']]
    """
    parts = min(_positive("parts", parts), len(messages))
    if parts <= 1:
        return [list(messages)] if messages else []
    conversation, costs = measure(messages, shape, estimate, conversation)
    target = sum(costs) / parts
    starts = [0]
    tokens = 0
    for span in spans_of(conversation, costs):
        if len(starts) < parts and span.start > starts[-1] and tokens + span.tokens > target:
            starts.append(span.start)
            tokens = 0
        tokens += span.tokens
    return _parts(messages, starts)


def chunk_messages_by_max_tokens(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    shape: Shape | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> list[list[Message]]:
    """The messages in chunks of at most so many tokens, with the margin for wrong estimates taken off.

    What is too large in itself ends its chunk, so that nothing else is lost with it.

    >>> messages = [{"role": "user", "content": text} for text in "abcd"]
    >>> chunks = chunk_messages_by_max_tokens(messages, 360, estimate=lambda message: 100)
    >>> [len(chunk) for chunk in chunks]
    [3, 1]
    """
    most = max(int(_positive("max_tokens", max_tokens) / SAFETY_MARGIN), 1)
    if not messages:
        return []
    conversation, costs = measure(messages, shape, estimate, conversation)
    starts = [0]
    tokens = 0
    for span in spans_of(conversation, costs):
        if span.start > starts[-1] and tokens + span.tokens > most:
            starts.append(span.start)
            tokens = 0
        tokens += span.tokens
    return _parts(messages, starts)


def _parts(messages: Sequence[Message], starts: Sequence[int]) -> list[list[Message]]:
    """The messages from each start up to the next."""
    stops = [*starts[1:], len(messages)]
    return [list(messages[start:stop]) for start, stop in zip(starts, stops, strict=True)]


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise ConfigError(f"{name} is {value}; expected at least 1")
    return value

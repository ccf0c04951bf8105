"""Splitting a history into chunks that a model can summarize, and dropping its oldest parts.

Calls and their results stay together. Token estimates are inexact, so limits are applied with a margin of a fifth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from memctx.compaction.plan.spans import find_spans, measure_tokens
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation
    from memctx.compaction.plan.spans import Span
    from memctx.messages import FormatName

Message = TypeVar("Message")

BASE_CHUNK_RATIO = 0.4
"""Share of the window that a chunk takes."""
MIN_CHUNK_RATIO = 0.15
"""Smallest share, for large messages."""
SAFETY_MARGIN = 1.2
"""Factor by which the real cost of a text may exceed its estimate."""
LARGE_SHARE = 0.1
"""Mean share of the window per message above which chunks get smaller."""
OVERSIZED_SHARE = 0.5
"""Share of the window above which a message is not summarized."""
SUMMARIZATION_OVERHEAD_TOKENS = 4_096
"""Tokens of a summarizer's own prompt."""
DEFAULT_PARTS = 2
"""Number of parts that a history is split into."""

MAX_HISTORY_SHARE = 0.5
"""Share of the window that a history may take."""


def estimate_messages_tokens(
    messages: Sequence[Message],
    *,
    format: FormatName | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> int:
    """Estimate the cost of messages; ``estimate`` returns the cost of one.

    >>> estimate_messages_tokens([{"role": "user", "content": "Which port?"}])
    8
    """
    return sum(measure_tokens(messages, format, estimate, conversation)[1])


def compute_adaptive_chunk_ratio(
    messages: Sequence[Message],
    context_window: int,
    *,
    format: FormatName | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> float:
    """Return the share of the window for one chunk: 0.4, down to 0.15 where the mean message is large.

    >>> compute_adaptive_chunk_ratio([{"role": "user", "content": "Which port?"}], 200_000)
    0.4
    >>> messages = [{"role": "user", "content": "x"}]
    >>> round(compute_adaptive_chunk_ratio(messages, 1_000, estimate=lambda message: 100), 2)
    0.16
    """
    window = _check_positive("context_window", context_window)
    if not messages:
        return BASE_CHUNK_RATIO
    _, costs = measure_tokens(messages, format, estimate, conversation)
    mean = sum(costs) / len(costs) * SAFETY_MARGIN / window
    if mean <= LARGE_SHARE:
        return BASE_CHUNK_RATIO
    reduction = min(mean * 2, BASE_CHUNK_RATIO - MIN_CHUNK_RATIO)
    return max(MIN_CHUNK_RATIO, BASE_CHUNK_RATIO - reduction)


def is_oversized(tokens: int, context_window: int) -> bool:
    """Return whether a message is too large to be summarized: more than half of the window.

    >>> is_oversized(84_000, 200_000), is_oversized(83_000, 200_000)
    (True, False)
    """
    return (
        tokens * SAFETY_MARGIN > _check_positive("context_window", context_window) * OVERSIZED_SHARE
    )


def split_messages_by_token_share(
    messages: Sequence[Message],
    parts: int = DEFAULT_PARTS,
    *,
    format: FormatName | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> list[list[Message]]:
    """Split the messages into at most ``parts`` parts of about the same cost, in order.

    >>> messages = [{"role": "user", "content": text} for text in "abcd"]
    >>> [[message["content"] for message in part] for part in split_messages_by_token_share(messages)]
    [['a', 'b'], ['c', 'd']]
    """
    parts = min(_check_positive("parts", parts), len(messages))
    if parts <= 1:
        return [list(messages)] if messages else []
    conversation, costs = measure_tokens(messages, format, estimate, conversation)
    target = sum(costs) / parts
    starts = [0]
    tokens = 0
    for span in find_spans(conversation, costs):
        if len(starts) < parts and span.start > starts[-1] and tokens + span.tokens > target:
            starts.append(span.start)
            tokens = 0
        tokens += span.tokens
    return _split_at(messages, starts)


def chunk_messages_by_max_tokens(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    format: FormatName | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> list[list[Message]]:
    """Split the messages into chunks of at most ``max_tokens`` tokens, less the margin for wrong estimates.

    A message that is too large by itself ends its chunk, so that no other is lost with it.

    >>> messages = [{"role": "user", "content": text} for text in "abcd"]
    >>> chunks = chunk_messages_by_max_tokens(messages, 360, estimate=lambda message: 100)
    >>> [len(chunk) for chunk in chunks]
    [3, 1]
    """
    most = max(int(_check_positive("max_tokens", max_tokens) / SAFETY_MARGIN), 1)
    if not messages:
        return []
    conversation, costs = measure_tokens(messages, format, estimate, conversation)
    starts = [0]
    tokens = 0
    for span in find_spans(conversation, costs):
        if span.start > starts[-1] and tokens + span.tokens > most:
            starts.append(span.start)
            tokens = 0
        tokens += span.tokens
    return _split_at(messages, starts)


def _split_at(messages: Sequence[Message], starts: Sequence[int]) -> list[list[Message]]:
    """Split the messages at each start."""
    stops = [*starts[1:], len(messages)]
    return [list(messages[start:stop]) for start, stop in zip(starts, stops, strict=True)]


def _check_positive(name: str, value: int) -> int:
    if value < 1:
        raise ConfigError(f"{name} is {value}; expected at least 1")
    return value


@dataclass(frozen=True, slots=True)
class PrunedHistory(Generic[Message]):
    """A history without its oldest parts."""

    messages: list[Message]
    """Kept messages in order: the same objects that were given."""
    dropped_messages_list: list[Message]
    """Dropped messages, oldest first."""
    dropped_chunks: int
    """Number of parts dropped."""
    dropped_messages: int
    """Number of messages dropped."""
    dropped_tokens: int
    """Cost of the dropped messages."""
    kept_tokens: int
    """Cost of the kept messages."""
    budget_tokens: int
    """Largest cost allowed."""


def prune_history_for_context_share(  # noqa: PLR0913 - each has a default
    messages: Sequence[Message],
    *,
    max_context_tokens: int,
    max_history_share: float = MAX_HISTORY_SHARE,
    parts: int = DEFAULT_PARTS,
    format: FormatName | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> PrunedHistory[Message]:
    """Drop the oldest of ``parts`` parts repeatedly until the rest fits its share of the window.

    Calls and their results leave together, and system prompts stay. The last call with its results, or the last
    message, stays even where it exceeds the share.

    >>> messages = [{"role": "user", "content": text} for text in "abcd"]
    >>> pruned = prune_history_for_context_share(messages, max_context_tokens=500, estimate=lambda message: 100)
    >>> [message["content"] for message in pruned.messages], pruned.dropped_tokens, pruned.budget_tokens
    (['c', 'd'], 200, 250)

    Raises:
        ConfigError: a number is out of range.
        MessageFormatError: ``messages`` is no list of messages.
    """
    budget = history_budget(max_context_tokens, max_history_share)
    if parts < 1:
        raise ConfigError(f"parts is {parts}; expected at least 1")
    conversation, costs = measure_tokens(messages, format, estimate, conversation)
    roles = conversation.roles
    spans = [span for span in find_spans(conversation, costs) if roles[span.start] != "system"]
    fixed = sum(costs) - sum(span.tokens for span in spans)
    kept, chunks, stop = sum(costs), 0, 0
    while kept > budget:
        end = _oldest_part(spans, stop, kept - fixed, parts)
        if end == len(spans):
            break
        kept -= sum(span.tokens for span in spans[stop:end])
        stop, chunks = end, chunks + 1
    gone = {index for span in spans[:stop] for index in range(span.start, span.stop)}
    dropped = [message for index, message in enumerate(messages) if index in gone]
    return PrunedHistory(
        messages=[message for index, message in enumerate(messages) if index not in gone],
        dropped_messages_list=dropped,
        dropped_chunks=chunks,
        dropped_messages=len(dropped),
        dropped_tokens=sum(costs) - kept,
        kept_tokens=kept,
        budget_tokens=budget,
    )


def history_budget(max_context_tokens: int, max_history_share: float = MAX_HISTORY_SHARE) -> int:
    """Return the token budget of a history.

    >>> history_budget(200_000)
    100000
    """
    if max_context_tokens < 1:
        raise ConfigError(f"max_context_tokens is {max_context_tokens}; expected at least 1")
    if not 0 < max_history_share <= 1:
        raise ConfigError(
            f"max_history_share is {max_history_share}; expected more than 0, up to 1"
        )
    return max(int(max_context_tokens * max_history_share), 1)


def is_crowded(
    tokens_before: int,
    summarizable_tokens: int,
    max_context_tokens: int,
    max_history_share: float = MAX_HISTORY_SHARE,
) -> bool:
    """Return whether the kept messages take so much that the history must be pruned before it is summarized.

    >>> is_crowded(150_000, 20_000, 200_000), is_crowded(150_000, 40_000, 200_000)
    (True, False)
    """
    history_budget(max_context_tokens, max_history_share)
    most = int(max_context_tokens * max_history_share * SAFETY_MARGIN)
    return tokens_before - summarizable_tokens > most


def _oldest_part(spans: Sequence[Span], start: int, tokens: int, parts: int) -> int:
    """Return the end of the first part if the spans from ``start`` on, of ``tokens`` tokens, are split into parts.

    Only that part is read, so dropping one after the other is linear in all of them.
    """
    count = len(spans)
    if count - start <= 1:
        return count
    target = tokens / min(parts, spans[-1].stop - spans[start].start)
    used = spans[start].tokens
    for index in range(start + 1, count):
        used += spans[index].tokens
        if used > target:
            return index
    return count

"""Keeping a history within its share of the window by dropping its oldest parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from memctx.compact.chunk import DEFAULT_PARTS, SAFETY_MARGIN
from memctx.compact.span import measure, spans_of
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation, Shape
    from memctx.compact.span import Span

Message = TypeVar("Message")

MAX_HISTORY_SHARE = 0.5
"""The share of the window that a history may take."""


@dataclass(frozen=True, slots=True)
class Pruned(Generic[Message]):
    """What is left of a history, what was dropped, and the numbers behind it."""

    messages: list[Message]
    """What is left, in order: the very objects that were given."""
    dropped_messages_list: list[Message]
    """What was dropped, oldest first."""
    dropped_chunks: int
    """How many parts were dropped."""
    dropped_messages: int
    """How many messages those were."""
    dropped_tokens: int
    """What they cost."""
    kept_tokens: int
    """What is left costs."""
    budget_tokens: int
    """What it may cost."""


def prune_history_for_context_share(  # noqa: PLR0913 - each has a default
    messages: Sequence[Message],
    *,
    max_context_tokens: int,
    max_history_share: float = MAX_HISTORY_SHARE,
    parts: int = DEFAULT_PARTS,
    shape: Shape | None = None,
    estimate: Callable[[Message], int] | None = None,
    conversation: Conversation | None = None,
) -> Pruned[Message]:
    """Drop the oldest of ``parts`` parts, again and again, until the rest costs no more than its share of the window.

    Calls and their results leave together, and system prompts stay. The last call with its results, or the last
    message, stays even where it is more than the share.

    >>> messages = [{"role": "user", "content": text} for text in "abcd"]
    >>> pruned = prune_history_for_context_share(messages, max_context_tokens=500, estimate=lambda message: 100)
    >>> [message["content"] for message in pruned.messages], pruned.dropped_tokens, pruned.budget_tokens
    (['c', 'd'], 200, 250)

    Raises:
        ConfigError: a number is out of range.
        MessageShapeError: ``messages`` is no list of messages.
    """
    budget = history_budget(max_context_tokens, max_history_share)
    if parts < 1:
        raise ConfigError(f"parts is {parts}; expected at least 1")
    conversation, costs = measure(messages, shape, estimate, conversation)
    roles = conversation.roles
    spans = [span for span in spans_of(conversation, costs) if roles[span.start] != "system"]
    fixed = sum(costs) - sum(span.tokens for span in spans)
    kept, chunks, stop = sum(costs), 0, 0
    while kept > budget:
        end = _oldest_part(spans, stop, kept - fixed, parts)
        if end == len(spans):
            break
        kept -= sum(span.tokens for span in spans[stop:end])
        stop, chunks = end, chunks + 1
    gone = {place for span in spans[:stop] for place in range(span.start, span.stop)}
    dropped = [message for place, message in enumerate(messages) if place in gone]
    return Pruned(
        messages=[message for place, message in enumerate(messages) if place not in gone],
        dropped_messages_list=dropped,
        dropped_chunks=chunks,
        dropped_messages=len(dropped),
        dropped_tokens=sum(costs) - kept,
        kept_tokens=kept,
        budget_tokens=budget,
    )


def history_budget(max_context_tokens: int, max_history_share: float = MAX_HISTORY_SHARE) -> int:
    """What a history may cost.

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
    """Whether what a compaction keeps takes so much that the history must be pruned before it is summarised.

    >>> is_crowded(150_000, 20_000, 200_000), is_crowded(150_000, 40_000, 200_000)
    (True, False)
    """
    history_budget(max_context_tokens, max_history_share)
    most = int(max_context_tokens * max_history_share * SAFETY_MARGIN)
    return tokens_before - summarizable_tokens > most


def _oldest_part(spans: Sequence[Span], start: int, tokens: int, parts: int) -> int:
    """Where the first part of the spans from ``start`` on ends, if these, of so many tokens, are split into parts.

    Only that part is read, so that dropping one after the other takes no longer than reading all of them.
    """
    count = len(spans)
    if count - start <= 1:
        return count
    target = tokens / min(parts, spans[-1].stop - spans[start].start)
    used = spans[start].tokens
    for place in range(start + 1, count):
        used += spans[place].tokens
        if used > target:
            return place
    return count

"""The original's smart trim: one call, one list in, one list out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Shape

Message = TypeVar("Message")


@dataclass(frozen=True, slots=True)
class SmartTrimmed(Generic[Message]):
    """What `smart_trim` kept and what it took out, each in the order it came."""

    kept: Sequence[Message]
    """What is left: the very list that was given where nothing had to leave."""
    trimmed: list[Message]
    """What was taken out."""
    did_trim: bool
    """Whether the messages were over the limit, even if all of them had to stay."""


def smart_trim(  # noqa: PLR0913 - each has a default
    messages: Sequence[Message],
    query: str,
    *,
    safe_limit: int,
    protected_recent: int = 6,
    estimate: Callable[[Message], int] | None = None,
    protect_task: bool = True,
    shape: Shape | None = None,
) -> SmartTrimmed[Message]:
    """Take messages out until the rest costs no more than ``safe_limit`` tokens.

    What tells least about the ``query`` by BM25 leaves first, among equals the oldest; then, as with a query of less
    than three characters, the oldest. A call and its results, found by id, leave together or stay. System prompts,
    the first message of a person (unless ``protect_task`` is off, as in the original), summaries of compactions,
    blocks that memctx recalled, the last ``protected_recent`` messages of user and assistant, the last calls with
    their results, and calls that wait for theirs always stay. ``estimate`` says what a message costs; without it
    everything in a message counts that a provider bills. The messages themselves are not changed.

    Nothing but messages leaves: where roles must alternate, as with Bedrock, neighbours may have to be merged.

    >>> messages = [{"role": "user", "content": text} for text in ("hello there", "port 8443 it is", "thanks")]
    >>> trimmed = smart_trim(messages, "port", safe_limit=2, protected_recent=1, estimate=lambda message: 1,
    ...                      protect_task=False)
    >>> [message["content"] for message in trimmed.kept], trimmed.did_trim
    (['port 8443 it is', 'thanks'], True)

    Raises:
        ConfigError: a number is below 0.
        MessageShapeError: ``messages`` is no list of messages.
    """
    conversation = _core.Scanner().scan(messages, shape)
    plan = _core.plan_trim(
        conversation,
        query,
        limit=safe_limit,
        protected_recent=protected_recent,
        protect_task=protect_task,
        costs=None if estimate is None else [estimate(message) for message in messages],
    )
    gone = set(plan.removed_messages)
    did_trim = plan.tokens_before > safe_limit
    if not gone:
        return SmartTrimmed(messages, [], did_trim)
    kept = [message for place, message in enumerate(messages) if place not in gone]
    return SmartTrimmed(kept, [messages[place] for place in sorted(gone)], did_trim)

"""`smart_trim`: the trim as one call, without a store or state.

>>> from memctx.context import smart_trim
>>> messages = [
...     {"role": "user", "content": "Set up the payment webhook"},
...     {"role": "assistant", "content": "Small talk about the weather, at some length"},
...     {"role": "assistant", "content": "The webhook listens on port 8443"},
... ]
>>> trimmed = smart_trim(messages, "which port has the webhook?", safe_limit=35, protected_recent=0)
>>> [message["content"] for message in trimmed.trimmed]
['Small talk about the weather, at some length']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx.messages import FormatName

Message = TypeVar("Message")


@dataclass(frozen=True, slots=True)
class SmartTrimmed(Generic[Message]):
    """Messages that `smart_trim` kept and removed, each in their order."""

    kept: Sequence[Message]
    """Messages that are left; the given list itself if none was removed."""
    trimmed: list[Message]
    """Messages that were removed."""
    did_trim: bool
    """True if the messages were over the limit, even if all of them had to stay."""


def smart_trim(  # noqa: PLR0913 - each has a default
    messages: Sequence[Message],
    query: str,
    *,
    safe_limit: int,
    protected_recent: int = 6,
    estimate: Callable[[Message], int] | None = None,
    protect_task: bool = True,
    format: FormatName | None = None,
) -> SmartTrimmed[Message]:
    """Remove messages until the rest costs no more than ``safe_limit`` tokens.

    The least relevant to ``query`` by BM25 are removed first, among equals the oldest; then, or with a query of less
    than three characters, the oldest. A call and its results, found by id, are removed together or stay. System
    prompts, the first message of a person (unless ``protect_task`` is off, as in OpenClaw's plugin), summaries of
    compactions, blocks that memctx recalled, the last ``protected_recent`` messages of user and assistant, the last
    calls with their results, and calls that wait for theirs always stay. ``estimate`` returns the cost of a message;
    without it everything in a message counts that a provider bills. The messages themselves are not changed.

    Only whole messages are removed: where roles must alternate, as with Bedrock, neighbors may have to be merged.

    >>> messages = [{"role": "user", "content": text} for text in ("hello there", "port 8443 it is", "thanks")]
    >>> trimmed = smart_trim(messages, "port", safe_limit=2, protected_recent=1, estimate=lambda message: 1,
    ...                      protect_task=False)
    >>> [message["content"] for message in trimmed.kept], trimmed.did_trim
    (['port 8443 it is', 'thanks'], True)

    Raises:
        ConfigError: a number is below 0.
        MessageFormatError: ``messages`` is no list of messages.
    """
    conversation = _core.MessageReader().read(messages, format)
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
    kept = [message for index, message in enumerate(messages) if index not in gone]
    return SmartTrimmed(kept, [messages[index] for index in sorted(gone)], did_trim)

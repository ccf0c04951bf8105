"""When a compaction is due: by what the context costs, or because somebody asked for one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memctx.compact.scan import scanned
from memctx.errors import ConfigError
from memctx.messages import part
from memctx.messages.usage import total_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, Shape

EARLIEST, LATEST = 0.5, 0.7
COMMAND = re.compile(r"/compact(?:$|:|(?=\s))", re.IGNORECASE)
MAX_INSTRUCTIONS = 800
"""How many characters of a person's instructions are followed."""
FAILED = frozenset({"aborted", "error"})


def should_compact(
    context_tokens: int, window: int, reserve: int, *, early: float | None = None
) -> bool:
    """Whether a context has grown into the reserve, or, with ``early``, over that share of the window.

    >>> should_compact(180_001, 200_000, 20_000), should_compact(180_000, 200_000, 20_000)
    (True, False)
    >>> should_compact(120_001, 200_000, 20_000, early=0.6)
    True
    """
    if early is not None and not EARLIEST <= early <= LATEST:
        raise ConfigError(f"early is {early}; expected {EARLIEST} to {LATEST}, or None")
    limit = window - reserve
    return context_tokens > (limit if early is None else min(limit, int(window * early)))


def context_tokens(
    messages: Sequence[Any],
    shape: Shape | None = None,
    usage: object = None,
    *,
    since: int | None = None,
    conversation: Conversation | None = None,
) -> int:
    """What the context costs now: what the provider last counted, and an estimate of what came after.

    ``usage`` is that of the last answer, in any SDK's form, or just a number; ``since`` is the place of the first
    message that it does not count, without it the one behind the last answer. Without a usage the newest one that the
    messages carry counts, as Pi's do, unless its answer failed or is older than a compaction; else all is estimated.

    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
    ...         {"role": "user", "content": "Which port?"}]
    >>> context_tokens(talk, usage={"input_tokens": 1_000, "output_tokens": 10})
    1018
    """
    conversation = scanned(messages, shape, conversation)
    costs = conversation.message_tokens
    if usage is not None:
        known, after = total_tokens(usage), since
        if after is None:
            after = _behind_answer(conversation)
        elif not 0 <= after <= len(costs):
            raise ConfigError(f"since is {after}; expected 0 to {len(costs)}")
    else:
        known, after = _carried(messages, conversation)
    return known + sum(costs[after:])


def manual(text: str) -> str | None:
    """The instructions of a person who asks for a compaction, empty where there are none; None if nobody asks.

    >>> manual("/compact Focus on decisions"), manual("/compact"), manual("compact this")
    ('Focus on decisions', '', None)
    """
    text = text.strip()
    found = COMMAND.match(text)
    return None if found is None else text[found.end() :].strip()[:MAX_INSTRUCTIONS].rstrip()


def _behind_answer(conversation: Conversation) -> int:
    """The place behind the last thing that the model said."""
    roles = conversation.roles
    return next(
        (place + 1 for place in reversed(range(len(roles))) if roles[place] == "assistant"), 0
    )


def _carried(messages: Sequence[Any], conversation: Conversation) -> tuple[int, int]:
    """The newest usage that a message carries, and the place behind it; nothing and the beginning without one."""
    stamps = (_moment(messages[place]) for place in conversation.summaries)
    compacted = max((stamp for stamp in stamps if stamp is not None), default=None)
    for place in reversed(range(len(messages))):
        message = part.unwrapped(messages[place])
        usage = part.get(message, "usage")
        if usage is None or part.text(message, "stopReason") in FAILED:
            continue
        stamp = _moment(message)
        if compacted is not None and stamp is not None and stamp < compacted:
            break  # it counted what has left since
        try:
            tokens = total_tokens(usage)
        except ConfigError:
            continue
        if tokens > 0:
            return tokens, place + 1
    return 0, 0


def _moment(message: object) -> float | None:
    """When a message was written, where it says so as a number."""
    stamp = part.get(part.unwrapped(message), "timestamp")
    return stamp if isinstance(stamp, int | float) else None

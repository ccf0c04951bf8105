"""Trigger of a compaction: context window, reserve, token count and the ``/compact`` command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.compaction.plan.spans import read_conversation
from memctx.errors import ConfigError
from memctx.messages import part, total_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation
    from memctx.messages import FormatName

DEFAULT_CONTEXT_TOKENS = 200_000
"""Window of an unknown model."""
RESERVE_TOKENS = 16_384
"""Tokens kept free for the next prompt and its answer."""
RESERVE_TOKENS_FLOOR = 20_000
"""Least tokens kept free, so that a summary and notes fit as well."""
KEEP_RECENT_TOKENS = 20_000
"""Tokens of recent messages that a compaction keeps."""
MIN_PROMPT_TOKENS = 8_000
MIN_PROMPT_SHARE = 0.5


EARLIEST, LATEST = 0.5, 0.7
COMMAND = re.compile(r"/compact(?:$|:|(?=\s))", re.IGNORECASE)
MAX_INSTRUCTIONS = 800
"""Number of characters of a person's instructions that are used."""
FAILED = frozenset({"aborted", "error"})


@dataclass(frozen=True, slots=True)
class Reserve:
    """The tokens of a window that are kept free.

    >>> Reserve.of(200_000)
    Reserve(tokens=20000, asked=16384, is_raised=True, is_capped=False)
    """

    tokens: int
    """Tokens kept free."""
    asked: int
    """Tokens asked for."""
    is_raised: bool
    """True if the floor exceeds what was asked for."""
    is_capped: bool
    """True if the window is too small for what was asked for or for the floor."""

    @classmethod
    def of(
        cls, window: int, asked: int = RESERVE_TOKENS, floor: int = RESERVE_TOKENS_FLOOR
    ) -> Reserve:
        """Compute the reserve: what was asked for or the floor, but 8,000 tokens or half stay for the prompt.

        >>> Reserve.of(16_000).tokens, Reserve.of(16_000).is_capped
        (8000, True)
        """
        for name, value, least in (("window", window, 1), ("asked", asked, 0), ("floor", floor, 0)):
            if value < least:
                raise ConfigError(f"{name} is {value}; expected at least {least}")
        most = window - min(MIN_PROMPT_TOKENS, int(window * MIN_PROMPT_SHARE))
        wanted = max(asked, floor)
        return cls(min(wanted, most), asked, floor > asked, wanted > most)


def reserve_tokens(
    window: int, asked: int = RESERVE_TOKENS, floor: int = RESERVE_TOKENS_FLOOR
) -> int:
    """Return the tokens of a window that are kept free; a ``floor`` of 0 is none.

    >>> reserve_tokens(200_000), reserve_tokens(200_000, floor=0), reserve_tokens(10_000)
    (20000, 16384, 5000)
    """
    return Reserve.of(window, asked, floor).tokens


def keep_recent_tokens(window: int, reserve: int, asked: int = KEEP_RECENT_TOKENS) -> int:
    """Return the tokens of recent messages to keep: what was asked for, at most half of what the reserve leaves.

    >>> keep_recent_tokens(200_000, 20_000), keep_recent_tokens(16_000, 8_000)
    (20000, 4000)
    """
    return max(min(asked, (window - reserve) // 2), 1)


def resolve_context_window_tokens(context_window: float | None = None) -> int:
    """Return the window of a model: 200,000 tokens where it is unknown, never less than one.

    >>> resolve_context_window_tokens(), resolve_context_window_tokens(128_000)
    (200000, 128000)
    """
    return DEFAULT_CONTEXT_TOKENS if context_window is None else max(int(context_window), 1)


def should_compact(
    context_tokens: int, window: int, reserve: int, *, early: float | None = None
) -> bool:
    """Return whether a context has grown into the reserve or, with ``early``, over that share of the window.

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
    format: FormatName | None = None,
    usage: object = None,
    *,
    since: int | None = None,
    conversation: Conversation | None = None,
) -> int:
    """Return the cost of the context: the provider's last count, and an estimate of what came after.

    ``usage`` is that of the last answer, in any SDK's form, or a number; ``since`` is the index of the first message
    that it does not count, by default the one behind the last answer. Without ``usage``, the newest one stored in the
    messages counts, as in Pi's, unless its answer failed or is older than a compaction; else everything is estimated.

    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
    ...         {"role": "user", "content": "Which port?"}]
    >>> context_tokens(talk, usage={"input_tokens": 1_000, "output_tokens": 10})
    1018
    """
    conversation = read_conversation(messages, format, conversation)
    costs = conversation.message_tokens
    if usage is not None:
        known, after = total_tokens(usage), since
        if after is None:
            after = _after_last_answer(conversation)
        elif not 0 <= after <= len(costs):
            raise ConfigError(f"since is {after}; expected 0 to {len(costs)}")
    else:
        known, after = _find_usage(messages, conversation)
    return known + sum(costs[after:])


def parse_compact_command(text: str) -> str | None:
    """Return the instructions of a ``/compact`` command, empty where it has none; None for other texts.

    >>> [parse_compact_command(text) for text in ("/compact Focus on decisions", "/compact", "compact this")]
    ['Focus on decisions', '', None]
    """
    text = text.strip()
    found = COMMAND.match(text)
    return None if found is None else text[found.end() :].strip()[:MAX_INSTRUCTIONS].rstrip()


def _after_last_answer(conversation: Conversation) -> int:
    """Return the index behind the last answer of the model."""
    roles = conversation.roles
    return next(
        (index + 1 for index in reversed(range(len(roles))) if roles[index] == "assistant"), 0
    )


def _find_usage(messages: Sequence[Any], conversation: Conversation) -> tuple[int, int]:
    """Return the newest usage stored in a message and the index behind it; zeros without one."""
    stamps = (_timestamp(messages[index]) for index in conversation.summaries)
    compacted = max((stamp for stamp in stamps if stamp is not None), default=None)
    for index in reversed(range(len(messages))):
        message = part.unwrapped(messages[index])
        usage = part.get(message, "usage")
        if usage is None or part.text(message, "stopReason") in FAILED:
            continue
        stamp = _timestamp(message)
        if compacted is not None and stamp is not None and stamp < compacted:
            break  # it counted messages that have left since
        try:
            tokens = total_tokens(usage)
        except ConfigError:
            continue
        if tokens > 0:
            return tokens, index + 1
    return 0, 0


def _timestamp(message: object) -> float | None:
    """Return the numeric timestamp of a message, if it has one."""
    stamp = part.get(part.unwrapped(message), "timestamp")
    return stamp if isinstance(stamp, int | float) else None

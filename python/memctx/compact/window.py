"""What of a model's window is kept free, and what of it recent messages may take."""

from __future__ import annotations

from dataclasses import dataclass

from memctx.errors import ConfigError

DEFAULT_CONTEXT_TOKENS = 200_000
"""The window of a model that is not known."""
RESERVE_TOKENS = 16_384
"""What is kept free for the next prompt and its answer."""
RESERVE_TOKENS_FLOOR = 20_000
"""What is kept free at least, so that a summary and a flush of memory fit as well."""
KEEP_RECENT_TOKENS = 20_000
"""What a compaction leaves as it is."""
MIN_PROMPT_TOKENS = 8_000
MIN_PROMPT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Reserve:
    """What is kept free of a window, and how that came about.

    >>> Reserve.of(200_000)
    Reserve(tokens=20000, asked=16384, is_raised=True, is_capped=False)
    """

    tokens: int
    """What is kept free."""
    asked: int
    """What was asked for."""
    is_raised: bool
    """Whether the floor is more than was asked for."""
    is_capped: bool
    """Whether the window is too small for what was asked for or for the floor."""

    @classmethod
    def of(
        cls, window: int, asked: int = RESERVE_TOKENS, floor: int = RESERVE_TOKENS_FLOOR
    ) -> Reserve:
        """The reserve of a window: what was asked for or the floor, but 8,000 tokens or half stay for the prompt.

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
    """What is kept free of a window; a ``floor`` of 0 is none.

    >>> reserve_tokens(200_000), reserve_tokens(200_000, floor=0), reserve_tokens(10_000)
    (20000, 16384, 5000)
    """
    return Reserve.of(window, asked, floor).tokens


def keep_recent_tokens(window: int, reserve: int, asked: int = KEEP_RECENT_TOKENS) -> int:
    """What a compaction may leave as it is: what was asked for, but no more than half of what the reserve leaves.

    >>> keep_recent_tokens(200_000, 20_000), keep_recent_tokens(16_000, 8_000)
    (20000, 4000)
    """
    return max(min(asked, (window - reserve) // 2), 1)


def resolve_context_window_tokens(context_window: float | None = None) -> int:
    """The window of a model: 200,000 tokens where it is not known, never less than one.

    >>> resolve_context_window_tokens(), resolve_context_window_tokens(128_000)
    (200000, 128000)
    """
    return DEFAULT_CONTEXT_TOKENS if context_window is None else max(int(context_window), 1)

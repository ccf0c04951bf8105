"""`CompactionSettings`: the settings of compactions, of their summaries, and of the notes written before."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias, get_args

from memctx.config.group import Group, setting
from memctx.config.kinds import (
    ABOVE_ZERO,
    COUNT,
    COUNT_OR_ZERO,
    STRING,
    SWITCH,
    Kind,
    number,
    one_of,
    optional,
)

CompactionMode: TypeAlias = Literal["default", "safeguard"]


def _soft_threshold(value: object) -> object:
    """Check a number of tokens, or a share of the window."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_share, is_whole = 0 <= value < 1, isinstance(value, int) or value.is_integer()
        if is_share or (value >= 1 and is_whole):
            return value
    raise ValueError("expected a number of tokens, or a share of the window below 1")


class CompactionSettings(Group):
    """Settings of compactions, of their summaries, and of the notes written before.

    >>> CompactionSettings(memoryFlush={"softThresholdTokens": 6_000}).soft_threshold
    6000
    """

    LABEL: ClassVar[str] = "compaction"
    NESTED: ClassVar[dict[str, str]] = {
        "memory_flush.enabled": "memory_flush",
        "memory_flush.soft_threshold_tokens": "soft_threshold",
        "memory_flush.soft_threshold": "soft_threshold",
        "memory_flush.prompt": "flush_prompt",
        "memory_flush.system_prompt": "flush_system_prompt",
        "quality_guard.max_retries": "quality_retries",
    }
    IDLE: ClassVar[frozenset[str]] = frozenset(
        {
            "identifier_instructions",
            "identifier_policy",
            "max_active_transcript_bytes",
            "memory_flush.force_flush_transcript_bytes",
            "memory_flush.model",
            "mid_turn_precheck",
            "model",
            "notify_user",
            "post_compaction_sections",
            "post_index_sync",
            "provider",
            "quality_guard.enabled",
            "recent_turns_preserve",
            "thinking_level",
            "truncate_after_compaction",
        }
    )

    enabled: bool = setting(
        SWITCH,
        default=True,
        description="Whether it is ever due by itself; one that is asked for is made either way",
    )
    mode: CompactionMode = setting(
        one_of(*get_args(CompactionMode)),
        default="safeguard",
        description="`safeguard` summarizes in stages, with required sections and a check of them; `default` in one "
        "call where that fits",
    )
    reserve_tokens: int = setting(
        COUNT_OR_ZERO,
        default=16_384,
        description="Tokens of the window kept free for the next prompt and its answer",
    )
    reserve_tokens_floor: int = setting(
        COUNT_OR_ZERO,
        default=20_000,
        description="Tokens kept free at least, but for small windows; 0 is no such floor",
    )
    keep_recent_tokens: int = setting(
        COUNT, default=20_000, description="Tokens of the newest messages that stay as they are"
    )
    max_history_share: float = setting(
        number(float, at_least=0.1, at_most=0.9),
        default=0.5,
        description="Share of the window that the history may take where the newest messages crowd it",
    )
    compact_at: float | None = setting(
        optional(number(float, at_least=0.5, at_most=0.7)),
        default=None,
        description="Share of the window at which to compact earlier, 0.5 to 0.7",
    )
    instructions: str | None = setting(
        optional(STRING),
        default=None,
        description="What every summary is to heed, such as `Keep all ports`",
    )
    quality_retries: int = setting(
        number(int, at_least=0, at_most=3),
        default=1,
        description="How often a summary that lacks something is asked for again",
    )
    timeout_seconds: float = setting(
        ABOVE_ZERO,
        default=600.0,
        description="Seconds that all summaries of one compaction take together at most",
    )
    hook_seconds: float = setting(
        ABOVE_ZERO,
        default=10.0,
        description="Seconds that hooks are waited for, all of one kind together",
    )
    memory_flush: bool = setting(
        SWITCH,
        default=True,
        description="Whether the model may write notes into the `workspace` shortly before a compaction",
    )
    soft_threshold: int | float = setting(
        Kind(_soft_threshold),
        default=4_000,
        description="How many tokens before the compaction that is; below 1, from which share of the window on",
    )
    flush_prompt: str | None = setting(
        optional(STRING),
        default=None,
        description="User prompt of that turn; `YYYY-MM-DD` stands for the day",
    )
    flush_system_prompt: str | None = setting(
        optional(STRING), default=None, description="System prompt of that turn"
    )

    @classmethod
    def from_scalar(cls, value: object) -> object:
        """Return the settings that a switch or a mode alone means."""
        if isinstance(value, bool):
            return {"enabled": value}
        return {"mode": value} if isinstance(value, str) else value

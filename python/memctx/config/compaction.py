"""`Compaction`: when a conversation is compacted, how it is summarised, and what is written down before."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from memctx.config.faults import refused
from memctx.config.names import by_field, snake_case

CompactionMode: TypeAlias = Literal["default", "safeguard"]

# The original groups some settings; here each has a name of its own.
GROUPS = {
    ("memory_flush", "enabled"): "memory_flush",
    ("memory_flush", "soft_threshold_tokens"): "soft_threshold",
    ("memory_flush", "soft_threshold"): "soft_threshold",
    ("memory_flush", "prompt"): "flush_prompt",
    ("memory_flush", "system_prompt"): "flush_system_prompt",
    ("quality_guard", "max_retries"): "quality_retries",
}

# What only the original has. A file that sets one loads; that it changes nothing here is logged.
WITHOUT_EFFECT = frozenset(
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


def _soft_threshold(value: object) -> object:
    """Tokens, or a share of the window."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_share, is_whole = 0 <= value < 1, isinstance(value, int) or value.is_integer()
        if is_share or (value >= 1 and is_whole):
            return value
    raise ValueError("expected a number of tokens, or a share of the window below 1")


Tokens = Annotated[int, Field(strict=True, ge=0)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class Compaction(BaseModel, frozen=True, extra="forbid", validate_default=True):
    """When a conversation is compacted, how it is summarised, and what is written down before.

    >>> Compaction(memoryFlush={"softThresholdTokens": 6_000}).soft_threshold
    6000
    """

    enabled: Annotated[bool, Field(strict=True)] = Field(
        default=True,
        description="Whether it is ever due by itself; one that is asked for is made either way",
    )
    mode: CompactionMode = Field(
        default="safeguard",
        description="`safeguard` summarises in stages, with required sections and a check of them; `default` in one "
        "call where that fits",
    )
    reserve_tokens: Tokens = Field(
        default=16_384,
        description="Tokens of the window kept free for the next prompt and its answer",
    )
    reserve_tokens_floor: Tokens = Field(
        default=20_000,
        description="Tokens kept free at least, but for small windows; 0 is no such floor",
    )
    keep_recent_tokens: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=20_000, description="Tokens of the newest messages that stay as they are"
    )
    max_history_share: Annotated[float, Field(strict=True, ge=0.1, le=0.9)] = Field(
        default=0.5,
        description="Share of the window that the history may take where the newest messages crowd it",
    )
    compact_at: Annotated[float, Field(strict=True, ge=0.5, le=0.7)] | None = Field(
        default=None, description="Share of the window at which to compact earlier, 0.5 to 0.7"
    )
    instructions: str | None = Field(
        default=None, description="What every summary is to heed, such as `Keep all ports`"
    )
    quality_retries: Annotated[int, Field(strict=True, ge=0, le=3)] = Field(
        default=1, description="How often a summary that lacks something is asked for again"
    )
    timeout_seconds: Seconds = Field(
        default=600.0,
        description="Seconds that all summaries of one compaction take together at most",
    )
    hook_seconds: Seconds = Field(
        default=10.0, description="Seconds that hooks are waited for, all of one kind together"
    )
    memory_flush: Annotated[bool, Field(strict=True)] = Field(
        default=True,
        description="Whether the model may write notes into the `workspace` shortly before a compaction",
    )
    soft_threshold: Annotated[int | float, BeforeValidator(_soft_threshold)] = Field(
        default=4_000,
        description="How many tokens before the compaction that is; below 1, from which share of the window on",
    )
    flush_prompt: str | None = Field(
        default=None,
        description="What the model is then told in the user's place; `YYYY-MM-DD` stands for the day",
    )
    flush_system_prompt: str | None = Field(
        default=None, description="What it is then told by the system"
    )

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - checked by name and by type below
        try:
            super().__init__(**by_field(_ungrouped(settings), type(self).model_fields))
        except ValidationError as error:
            raise refused(error) from None

    @model_validator(mode="before")
    @classmethod
    def _from_any(cls, value: object) -> object:
        """On, off, or a mode alone stand for the settings with that."""
        if isinstance(value, bool):
            return {"enabled": value}
        if isinstance(value, str):
            return {"mode": value}
        if isinstance(value, Mapping):
            settings = _ungrouped(cast("Mapping[str, Any]", value))
            return by_field(settings, cls.model_fields)
        return value


def _ungrouped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those of the original's groups under their own names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        owner = snake_case(name)
        if isinstance(value, Mapping) and owner in {group for group, _ in GROUPS}:
            for member, inner in cast("Mapping[str, Any]", value).items():
                key = (owner, snake_case(member))
                found[GROUPS.get(key, ".".join(key))] = inner
        else:
            found[name] = value
    idle = sorted(name for name in found if snake_case(name) in WITHOUT_EFFECT)
    if idle:
        logging.getLogger("memctx.config").warning(
            "compaction: no effect here: %s", ", ".join(idle)
        )
    return {name: value for name, value in found.items() if name not in idle}

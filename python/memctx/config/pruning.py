"""`Pruning`: the settings for shortening old tool results."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from memctx.config.group import Group

PruningMode: TypeAlias = Literal["off", "cache-ttl", "adaptive", "aggressive"]

Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Characters = Annotated[int, Field(strict=True, ge=0)]


class Pruning(Group, frozen=True):
    """Settings for shortening old tool results in the sent messages; the archive keeps them whole.

    >>> Pruning(mode="adaptive", deny=["read_*"]).keep_last_assistants
    3
    """

    LABEL: ClassVar[str] = "pruning"
    NESTED: ClassVar[dict[str, str]] = {
        "soft_trim.max_chars": "soft_trim_max_chars",
        "soft_trim.head_chars": "soft_trim_head_chars",
        "soft_trim.tail_chars": "soft_trim_tail_chars",
        "hard_clear.enabled": "hard_clear",
        "hard_clear.placeholder": "placeholder",
        "tools.allow": "allow",
        "tools.deny": "deny",
    }

    mode: PruningMode = Field(
        default="cache-ttl",
        description="`off`; `cache-ttl` when the cache is cold or a trim is due anyway; `adaptive` as soon as the "
        "context is that full; `aggressive` always",
    )
    keep_last_assistants: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=3, description="Results after the so-many-last answer of the model stay whole"
    )
    soft_trim_ratio: Share = Field(
        default=0.3,
        description="Share of the window from which long results keep only head and tail",
    )
    hard_clear_ratio: Share = Field(
        default=0.5, description="Share of the window from which old results are cleared"
    )
    min_prunable_tool_chars: Characters = Field(
        default=50_000, description="Characters there must be to clear for clearing to begin"
    )
    soft_trim_max_chars: Characters = Field(
        default=4_000, description="Characters above which a result counts as long"
    )
    soft_trim_head_chars: Characters = Field(
        default=1_500, description="Characters kept of the head of a long result"
    )
    soft_trim_tail_chars: Characters = Field(
        default=1_500, description="Characters kept of its tail"
    )
    hard_clear: Annotated[bool, Field(strict=True)] = Field(
        default=True, description="Whether results may be cleared at all"
    )
    placeholder: str = Field(
        default="[Old tool result content cleared]", description="What a cleared result reads"
    )
    allow: tuple[str, ...] = Field(
        default=(),
        description="Tools whose results may be shortened; none named means all, `*` matches",
    )
    deny: tuple[str, ...] = Field(
        default=(), description="Tools whose results may not be shortened, whatever `allow` says"
    )

    @classmethod
    def from_scalar(cls, value: object) -> object:
        """Return the settings that a mode alone means; on and off are modes too."""
        if isinstance(value, bool):
            return {} if value else {"mode": "off"}
        return {"mode": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _head_and_tail_fit(self) -> Self:
        kept = self.soft_trim_head_chars + self.soft_trim_tail_chars
        if kept > self.soft_trim_max_chars:
            raise ValueError(
                f"head and tail of a long result are {kept} characters together; "
                f"expected at most soft_trim_max_chars, {self.soft_trim_max_chars}"
            )
        return self

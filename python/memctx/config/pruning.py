"""`Pruning`: when and how old tool results are shortened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import BaseModel, Field, ValidationError, model_validator

from memctx.config.faults import refused
from memctx.config.names import by_field

PruningMode: TypeAlias = Literal["off", "cache-ttl", "adaptive", "aggressive"]

# The original groups some settings; here each has a name of its own.
GROUPS = {
    ("softTrim", "maxChars"): "soft_trim_max_chars",
    ("softTrim", "headChars"): "soft_trim_head_chars",
    ("softTrim", "tailChars"): "soft_trim_tail_chars",
    ("hardClear", "enabled"): "hard_clear",
    ("hardClear", "placeholder"): "placeholder",
    ("tools", "allow"): "allow",
    ("tools", "deny"): "deny",
}

Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Characters = Annotated[int, Field(strict=True, ge=0)]


class Pruning(BaseModel, frozen=True, extra="forbid", validate_default=True):
    """How old tool results are shortened in what is sent; the archive keeps them whole.

    >>> Pruning(mode="adaptive", deny=["read_*"]).keep_last_assistants
    3
    """

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

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - checked by name and by type below
        try:
            super().__init__(**by_field(_ungrouped(settings), type(self).model_fields))
        except ValidationError as error:
            raise refused(error) from None

    @model_validator(mode="before")
    @classmethod
    def _from_any(cls, value: object) -> object:
        """A mode alone stands for the settings with that mode; on and off are modes too."""
        if isinstance(value, bool):
            return {} if value else {"mode": "off"}
        if isinstance(value, str):
            return {"mode": value}
        if isinstance(value, Mapping):
            settings = _ungrouped(cast("Mapping[str, Any]", value))
            return by_field(settings, cls.model_fields)
        return value

    @model_validator(mode="after")
    def _head_and_tail_fit(self) -> Self:
        kept = self.soft_trim_head_chars + self.soft_trim_tail_chars
        if kept > self.soft_trim_max_chars:
            raise ValueError(
                f"head and tail of a long result are {kept} characters together; "
                f"expected at most soft_trim_max_chars, {self.soft_trim_max_chars}"
            )
        return self


def _ungrouped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those of the original's groups under their own names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        group = {member: field for (owner, member), field in GROUPS.items() if owner == name}
        if group and isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value).items()
            found |= {group.get(member, f"{name}.{member}"): inner for member, inner in members}
        else:
            found[name] = value
    return found

"""`Group`: settings of one subject, flat in memctx and nested in OpenClaw's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import BaseModel, ValidationError, model_validator

from memctx.config import idle
from memctx.config.faults import refused
from memctx.config.names import by_field, snake_case

if TYPE_CHECKING:
    from collections.abc import Iterator


class Group(BaseModel, frozen=True, extra="forbid", validate_default=True, defer_build=True):
    """Settings of one subject."""

    LABEL: ClassVar[str] = ""
    """Name of the setting of `Config` that holds the group."""
    NESTED: ClassVar[dict[str, str]] = {}
    """Field of each setting that OpenClaw nests, by its path."""
    IDLE: ClassVar[frozenset[str]] = frozenset()
    """Settings that only OpenClaw has, by their paths: accepted, without effect, and named in the log."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - checked by name and by type
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise refused(error, type(self)) from None

    # As pydantic marks its own: a group inside of `Config` is validated in place, and its faults name their fields.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    @model_validator(mode="before")
    @classmethod
    def _from_any(cls, value: object) -> object:
        value = cls.from_scalar(value)
        if not isinstance(value, Mapping):
            return value
        found: dict[str, Any] = {}
        without_effect: list[str] = []
        for path, given, inner in cls._flatten(cast("Mapping[str, Any]", value)):
            if any(path == each or path.startswith(f"{each}.") for each in cls.IDLE):
                without_effect.append(f"{cls.LABEL}.{given}")
            else:
                name = cls.NESTED.get(path, given)
                found[given if name in found else name] = inner
        idle.note("settings", without_effect)
        return by_field(cls.combine(found), cls.model_fields)

    @classmethod
    def from_scalar(cls, value: object) -> object:
        """Return the settings that a switch or a word alone means."""
        return value

    @classmethod
    def combine(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings after combining those that depend on each other."""
        return settings

    @classmethod
    def _flatten(
        cls, settings: Mapping[str, Any], above: str = "", given_above: str = ""
    ) -> Iterator[tuple[str, str, Any]]:
        """Yield each setting by its path, its path as it was spelled, and its value."""
        for name, value in settings.items():
            path, given = f"{above}{snake_case(name)}", f"{given_above}{name}"
            known = {*cls.NESTED, *cls.IDLE}
            is_nested = any(each.startswith(f"{path}.") for each in known)
            if is_nested and isinstance(value, Mapping):
                inner = cast("Mapping[str, Any]", value)
                yield from cls._flatten(inner, f"{path}.", f"{given}.")
            else:
                yield path, given, value

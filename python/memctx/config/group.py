"""`Group`: settings of one subject, and the conversion between groups and dotted paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import BaseModel, ValidationError, model_validator

from memctx.config.faults import note_without_effect, refused
from memctx.config.names import by_field, collect, path_of, snake_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo


class Group(BaseModel, frozen=True, extra="forbid", validate_default=True, defer_build=True):
    """Settings of one subject: frozen, checked, and strict about names."""

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
            raise refused(error, self.paths(), self.LABEL) from None

    # As pydantic marks its own: a group inside of `Config` is validated in place, and its faults name their fields.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]

    @classmethod
    def paths(cls) -> dict[str, FieldInfo]:
        """Return every setting by its dotted path, those of groups inside included."""
        found: dict[str, FieldInfo] = {}
        for name, field in cls.model_fields.items():
            path = f"{cls.LABEL}.{name}" if cls.LABEL else name
            group = groups_of(cls).get(name)
            found |= {path: field} if group is None else group.paths()
        return found

    def given(self) -> dict[str, Any]:
        """Return the settings that were set rather than left at their defaults, by dotted path.

        >>> from memctx import Config
        >>> Config(disk={"max_segments": 500}, enabled=True).given()
        {'enabled': True, 'disk.max_segments': 500}
        """
        found: dict[str, Any] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, Group):
                found |= value.given()
            elif name in self.model_fields_set:
                found[f"{self.LABEL}.{name}" if self.LABEL else name] = value
        return found

    @classmethod
    def normalize(cls, value: object) -> object:
        """Return settings under the names of their fields; anything else unchanged, for pydantic to refuse."""
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
        note_without_effect("settings", without_effect)
        return by_field(cls.combine(found), cls.model_fields)

    @classmethod
    def from_scalar(cls, value: object) -> object:
        """Return the settings that a switch or a word alone means."""
        return value

    @classmethod
    def combine(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings after combining those that depend on each other."""
        return settings

    @model_validator(mode="before")
    @classmethod
    def _from_any(cls, value: object) -> object:
        return cls.normalize(value)

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


def groups_of(model: type[BaseModel]) -> dict[str, type[Group]]:
    """Return the groups among the fields of a model."""
    kinds = {name: field.annotation for name, field in model.model_fields.items()}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, Group)
    }


def flatten(settings: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return settings by dotted path: of groups, of dotted names, in camelCase, and by their names in OpenClaw.

    Unknown and repeated settings keep their given names, for the model to refuse.
    """
    return collect(
        each for given, value in settings.items() for each in _paths(given, value, model)
    )


def _paths(given: str, value: object, model: type[BaseModel]) -> Iterator[tuple[str, str, Any]]:
    """Yield the spelling, the path and the value of a setting, or of each setting in a group."""
    path = path_of(given)
    head, dot, rest = path.partition(".")
    rest = given.partition(".")[2] or rest  # as it was spelled, for the model to refuse
    group = groups_of(model).get(head)
    if group is None:
        yield given, path if path in model.model_fields else given, value
        return
    found: object
    if isinstance(value, group):
        found = {name.rpartition(".")[2]: setting for name, setting in value.given().items()}
    else:
        found = group.normalize({rest: value} if dot else value)
    if not isinstance(found, Mapping):
        yield given, head, value
        return
    for name, setting in cast("Mapping[str, Any]", found).items():
        full = f"{head}.{name}"
        yield given if dot else full, full, setting


def nest(settings: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return settings by dotted path as a mapping for each group."""
    groups = groups_of(model)
    nested: dict[str, Any] = {}
    for path, value in settings.items():
        group, dot, name = path.partition(".")
        if not dot or group not in groups:
            nested[path] = value
        elif isinstance(inner := nested.setdefault(group, {}), dict):
            inner[name] = value
    return nested

"""`Group`: settings of one subject, and the conversion between groups and dotted paths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, dataclass_transform

from memctx.config.faults import Fault, note_without_effect, refused
from memctx.config.kinds import Refused
from memctx.config.names import by_field, collect, path_of, snake_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memctx.config.kinds import Kind, Text


class Setting:
    """A setting of a group: its kind, its default and its description; or a group, which has a kind for each field."""

    __slots__ = ("default", "description", "kind", "make_default")

    def __init__(
        self,
        kind: Kind | type[Group],
        default: object,
        make_default: Callable[[], object] | None,
        description: str,
    ) -> None:
        """Keep all of it."""
        self.kind = kind
        self.default = default
        self.make_default = make_default
        self.description = description

    @property
    def text(self) -> Text:
        """Form of the text of its variable in the environment."""
        return "json" if isinstance(self.kind, type) else self.kind.text

    def new_default(self) -> object:
        """Return the value of a setting that is not set."""
        return self.default if self.make_default is None else self.make_default()


def setting(
    kind: Kind | type[Group],
    *,
    default: object = None,
    default_factory: Callable[[], object] | None = None,
    description: str,
) -> Any:  # noqa: ANN401 - it becomes the value of its field
    """Declare a setting in the body of a group."""
    return Setting(kind, default, default_factory, description)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting,))
class Group:
    """Settings of one subject: frozen, checked, and strict about names."""

    LABEL: ClassVar[str] = ""
    """Name of the setting of `Config` that holds the group."""
    NESTED: ClassVar[dict[str, str]] = {}
    """Field of each setting that OpenClaw nests, by its path."""
    IDLE: ClassVar[frozenset[str]] = frozenset()
    """Settings that only OpenClaw has, by their paths: accepted, without effect, and named in the log."""
    fields: ClassVar[dict[str, Setting]] = {}
    """Every setting of the group, and every group in it, by name."""

    _given: frozenset[str]

    def __init_subclass__(cls) -> None:
        """Take the declared settings out of the body of the class."""
        found = {name: each for name, each in vars(cls).items() if isinstance(each, Setting)}
        cls.fields = {**cls.fields, **found}
        for name in found:
            delattr(cls, name)

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - checked by name and by type
        faults = self._fill(settings)
        if faults:
            raise refused(faults, self.paths(), self.LABEL)

    @classmethod
    def validate(cls, value: object) -> tuple[Self, list[Fault]]:
        """Return the group of a value, and what is wrong with it; with faults, the group is not to be used."""
        made = cls.__new__(cls)
        return made, made._fill(value)  # noqa: SLF001 - of this class

    def _fill(self, value: object) -> list[Fault]:
        """Set all fields from what was given; return the faults."""
        values, given = vars(self), self.normalize(value)
        if not isinstance(given, Mapping):
            kind = type(self).__name__
            reason = f"expected a valid dictionary or instance of {kind}"
            return [Fault((), reason, value)]
        settings, faults = cast("Mapping[str, object]", given), list[Fault]()
        for name, field in self.fields.items():
            if name in settings:
                values[name], wrong = _check(name, field.kind, settings[name])
                faults += wrong
            else:
                values[name] = field.new_default()
        values["_given"] = frozenset(settings)
        faults += [
            Fault((name,), "", None, is_unknown=True)
            for name in settings
            if name not in self.fields
        ]
        if not faults:
            try:
                self.check_together()
            except ValueError as error:
                faults.append(Fault((), str(error), value))
        return faults

    def check_together(self) -> None:
        """Raise `ValueError` if settings contradict each other."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: settings are frozen; replace() makes others")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted: settings are frozen")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values()))

    def __repr__(self) -> str:
        values = zip(self.fields, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values)})"

    def _values(self) -> list[object]:
        return [getattr(self, name) for name in self.fields]

    @classmethod
    def paths(cls) -> dict[str, Setting]:
        """Return every setting by its dotted path, those of groups inside included."""
        found: dict[str, Setting] = {}
        for name, field in cls.fields.items():
            path = f"{cls.LABEL}.{name}" if cls.LABEL else name
            found |= field.kind.paths() if isinstance(field.kind, type) else {path: field}
        return found

    def given(self) -> dict[str, Any]:
        """Return the settings that were set rather than left at their defaults, by dotted path.

        >>> from memctx import Config
        >>> Config(disk={"max_segments": 500}, enabled=True).given()
        {'enabled': True, 'disk.max_segments': 500}
        """
        found: dict[str, Any] = {}
        for name in self.fields:
            value = getattr(self, name)
            if isinstance(value, Group):
                found |= value.given()
            elif name in self._given:
                found[f"{self.LABEL}.{name}" if self.LABEL else name] = value
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all settings, ready for JSON: groups as dictionaries, paths as text.

        >>> from memctx.config import BootstrapSettings
        >>> BootstrapSettings(max_chars=5_000).to_dict()
        {'max_chars': 5000, 'max_total_chars': 150000}
        """
        return {name: _plain(getattr(self, name)) for name in self.fields}

    @classmethod
    def normalize(cls, value: object) -> object:
        """Return settings under the names of their fields; anything else unchanged, to be refused."""
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
        return by_field(cls.combine(found), cls.fields)

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


def groups_of(group: type[Group]) -> dict[str, type[Group]]:
    """Return the groups among the fields of a group."""
    kinds = {name: field.kind for name, field in group.fields.items()}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, type)}


def flatten(settings: Mapping[str, Any], model: type[Group]) -> dict[str, Any]:
    """Return settings by dotted path: of groups, of dotted names, in camelCase, and by their names in OpenClaw.

    Unknown and repeated settings keep their given names, to be refused.
    """
    return collect(
        each for given, value in settings.items() for each in _paths(given, value, model)
    )


def _paths(given: str, value: object, model: type[Group]) -> Iterator[tuple[str, str, Any]]:
    """Yield the spelling, the path and the value of a setting, or of each setting in a group."""
    path = path_of(given)
    head, dot, rest = path.partition(".")
    rest = given.partition(".")[2] or rest  # as it was spelled, to be refused
    group = groups_of(model).get(head)
    if group is None:
        yield given, path if path in model.fields else given, value
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


def nest(settings: Mapping[str, Any], model: type[Group]) -> dict[str, Any]:
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


def _check(name: str, kind: Kind | type[Group], value: object) -> tuple[object, list[Fault]]:
    """Return the value to store, and the faults of the given one."""
    if isinstance(kind, type):
        group, faults = kind.validate(value)
        return group, [fault.inside(name) for fault in faults]
    try:
        return kind.check(value), []
    except Refused as error:
        return None, [Fault((name, *error.inner), str(error), error.value)]
    except ValueError as error:
        return None, [Fault((name,), str(error), value)]


def _plain(value: object) -> object:
    if isinstance(value, Group):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    return str(value) if isinstance(value, Path) else value

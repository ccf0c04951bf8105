"""Checks of arguments of this package: a `TypeError` for a wrong type, a `ConfigError` for an invalid value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = TypeVar("Kind")


def instance(name: str, value: object, kind: type[Kind]) -> Kind:
    """Return a value of a class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, not {type(value).__name__}")
    return value


def text(name: str, value: object) -> str:
    """Return a text that PostgreSQL can hold.

    >>> text("session_id", "s1")
    's1'
    """
    found = instance(name, value, str)
    if "\0" in found:
        raise ConfigError(f"{name} must have no null character, not {found!r}")
    found.encode()  # half of a surrogate pair is refused
    return found


def texts(name: str, values: Iterable[str]) -> list[str]:
    """Return distinct texts, in the order given."""
    if isinstance(values, str):
        raise TypeError(f"{name} must be a sequence of texts, not one text")
    return list(dict.fromkeys(text(name, each) for each in values))


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number between two others."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ConfigError(f"{name} must be from {least} to {most}, not {value}")
    return value


def number(name: str, value: object, least: float, most: float) -> float:
    """Return a number between two others."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if math.isnan(value) or not least <= value <= most:
        raise ConfigError(f"{name} must be from {least:g} to {most:g}, not {value}")
    return float(value)

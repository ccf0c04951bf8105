"""Kinds of settings: the values that each takes, and how its text in the environment is read.

A kind is written by hand rather than as a model of a validation library: a hook opens a memory at every prompt, and
building such models takes longer than everything else that it does.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Text: TypeAlias = Literal["words", "switch", "items", "json"]
"""A variable's text: taken as it is; a switch; items between commas, or JSON; JSON, or else as it is."""


class Refused(ValueError):  # noqa: N818 - a reason, which becomes part of an error
    """A value that a setting does not take; ``inner`` is the item of it that is meant."""

    def __init__(self, reason: str, value: object, inner: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.value = value
        self.inner = inner


class Kind:
    """A check, which returns the value to store or raises `ValueError`, and the form of the text of a variable.

    >>> number(int, at_least=1).check(5)
    5
    """

    __slots__ = ("check", "text")

    def __init__(self, check: Callable[[object], object], text: Text = "json") -> None:
        """Keep both."""
        self.check = check
        self.text: Text = text


def _switch(value: object) -> object:
    if isinstance(value, bool):
        return value
    raise ValueError("expected a valid boolean")


def _string(value: object) -> object:
    if isinstance(value, str):
        return value
    raise ValueError("expected a valid string")


def _path(value: object) -> object:
    if isinstance(value, str | os.PathLike):
        return Path(cast("str | os.PathLike[str]", value))
    raise ValueError("Input is not a valid path")


SWITCH = Kind(_switch, "switch")
STRING = Kind(_string, "words")
PATH = Kind(_path, "words")


def number(
    kind: type[int | float],
    *,
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
) -> Kind:
    """Return the kind of a number within limits; a switch is none."""

    def check(value: object) -> object:
        if not isinstance(value, int | kind) or isinstance(value, bool):
            reason = "expected a valid integer" if kind is int else "expected a valid number"
            raise ValueError(reason)  # noqa: TRY004 - as every other fault
        try:
            found = kind(value)
        except OverflowError:
            found = math.inf
        if at_most == math.inf and not math.isfinite(found):
            raise ValueError("expected a finite number")
        if not found >= at_least:
            raise ValueError(f"expected a value greater than or equal to {at_least:g}")
        if not found > above:
            raise ValueError(f"expected a value greater than {above:g}")
        if not found <= at_most:
            raise ValueError(f"expected a value less than or equal to {at_most:g}")
        return found

    return Kind(check)


COUNT = number(int, at_least=1)
COUNT_OR_ZERO = number(int, at_least=0)
AMOUNT = number(float, at_least=0)
ABOVE_ZERO = number(float, above=0)
SHARE = number(float, at_least=0, at_most=1)


def one_of(*words: str) -> Kind:
    """Return the kind of one of some words.

    >>> one_of("fsync", "os").check("none")
    Traceback (most recent call last):
    ValueError: expected 'fsync' or 'os'
    """

    def check(value: object) -> object:
        if isinstance(value, str) and value in words:
            return value
        first, last = [repr(word) for word in words[:-1]], repr(words[-1])
        raise ValueError(f"expected {', '.join(first)} or {last}")

    return Kind(check, "words")


def optional(kind: Kind) -> Kind:
    """Return a kind that also takes None."""
    return Kind(lambda value: None if value is None else kind.check(value))


def items(kind: Kind) -> Kind:
    """Return the kind of a list of values, stored as a tuple."""

    def check(value: object) -> object:
        if not isinstance(value, list | tuple | set | frozenset):
            raise ValueError("expected a valid tuple")  # noqa: TRY004 - as above
        each = enumerate(cast("Iterable[object]", value))
        return tuple(_check_inner(kind, str(index), item) for index, item in each)

    return Kind(check, "items")


def _named_strings(value: object) -> object:
    if not isinstance(value, Mapping):
        raise ValueError("expected a valid dictionary")  # noqa: TRY004 - as above
    found = cast("Mapping[object, object]", value)
    return {
        _check_inner(STRING, f"{name}.[key]", name): _check_inner(STRING, str(name), text)
        for name, text in found.items()
    }


NAMED_STRINGS = Kind(_named_strings)


def _check_inner(kind: Kind, name: str, value: object) -> object:
    try:
        return kind.check(value)
    except ValueError as error:
        raise Refused(str(error), value, (name,)) from None

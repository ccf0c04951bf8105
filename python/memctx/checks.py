"""Checks of arguments: a `TypeError` for a wrong type, a `ConfigError` for an invalid value."""

from __future__ import annotations

import errno
import functools
import inspect
import math
import os
import traceback
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from memctx.errors import ConfigError, MemctxError, mask_and_shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Params = ParamSpec("Params")
Result = TypeVar("Result")
Class = TypeVar("Class")

UNFIT = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, ValueError)
"""Exceptions that Python raises for unsuitable arguments, beside `TypeError`."""
_OWN = os.path.dirname(__file__)  # noqa: PTH120 - compared with names of files
_LIBRARY = os.path.dirname(os.__file__)  # noqa: PTH120 - as above


def seconds(name: str, value: object) -> float | None:
    """Return a number of seconds, or None for no limit.

    >>> seconds("timeout", 2)
    2.0
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number of seconds or None, not {type(value).__name__}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found) or found < 0:
        raise ConfigError(f"{name} must be 0 or more seconds, or None for no limit, not {found}")
    return found


def path(value: str | os.PathLike[str]) -> Path:
    """Return a path with ``~`` expanded; raise `ConfigError` if no file system accepts it.

    >>> path("/tmp/store")
    PosixPath('/tmp/store')
    """
    found = Path(value)
    try:
        if b"\0" in os.fsencode(found):
            raise ConfigError(f"a path holds a null byte: {found}; expected one without")
    except UnicodeEncodeError:
        raise ConfigError("a path holds half of a surrogate pair; expected valid Unicode") from None
    return found.expanduser()


def describe(value: object) -> str:
    """Return the `repr` of a value, or its type if that fails."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - of any kind: the value is only named
        return f"an object of type {type(value).__name__}"


def public(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """Convert the exceptions that a function raises for unsuitable arguments to `TypeError` and `ConfigError`.

    Arguments that are nested too deeply, too large for a float, invalid Unicode or without an expected attribute fail
    late, wherever they are first used. Exceptions of the caller's own code, in a callback or an attribute, pass.
    """
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*given: Params.args, **named: Params.kwargs) -> object:
            try:
                return await function(*given, **named)
            except UNFIT as error:
                if not _is_about_arguments(error):
                    raise
                raise _translate(function.__name__, error) from error

        return cast("Callable[Params, Result]", awaited)

    @functools.wraps(function)
    def called(*given: Params.args, **named: Params.kwargs) -> Result:
        try:
            return function(*given, **named)
        except UNFIT as error:
            if not _is_about_arguments(error):
                raise
            raise _translate(function.__name__, error) from error

    return called


def public_class(kind: type[Class]) -> type[Class]:
    """Apply `public` to the constructor and the public methods of a class."""
    for name, value in list(vars(kind).items()):
        if inspect.isfunction(value) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, public(value))
    return kind


def guard(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Apply `public` to the functions and to the constructors of the classes that a package exports."""
    for name in names:
        value = namespace[name]
        if hasattr(value, "__wrapped__"):  # guarded by its own package
            continue
        if inspect.isfunction(value):
            namespace[name] = public(value)
        elif inspect.isclass(value) and _has_constructor(value):
            setattr(value, "__init__", public(vars(value)["__init__"]))  # noqa: B010 - for type checkers


def _has_constructor(kind: type) -> bool:
    """Return whether a class has a hand-written constructor."""
    written = vars(kind).get("__init__")
    is_made = hasattr(kind, "__dataclass_fields__") or getattr(kind, "_is_protocol", False)
    is_exception = issubclass(kind, BaseException)
    is_guarded = hasattr(written, "__wrapped__")
    return inspect.isfunction(written) and not (is_made or is_exception or is_guarded)


def _translate(name: str, error: Exception) -> Exception:
    """Return the exception to raise instead of another."""
    if isinstance(error, AttributeError):
        return TypeError(
            f"{name}(): an argument has the wrong type: {mask_and_shorten(str(error))}"
        )
    if isinstance(error, OSError):
        return ConfigError(f"{name}(): a path is longer than any file system takes")
    if isinstance(error, RecursionError):
        return ConfigError(f"{name}(): an argument is nested too deeply")
    return ConfigError(f"{name}(): an argument has an invalid value: {error}")


def _is_about_arguments(error: Exception) -> bool:
    """Return whether only code of memctx and of the standard library was running."""
    if isinstance(error, MemctxError):
        return False
    if isinstance(error, OSError):
        # The message would have all of the path.
        return error.errno == errno.ENAMETOOLONG
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return all(name.startswith((_OWN, "<")) or _is_library(name) for name in files)


def _is_library(name: str) -> bool:
    return name.startswith(_LIBRARY) and "site-packages" not in name

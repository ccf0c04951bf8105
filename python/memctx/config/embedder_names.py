"""Names of embedders: built in, registered by users, or import paths; and the check that an object is one."""

from __future__ import annotations

import re
from importlib.util import find_spec
from inspect import getattr_static
from typing import TYPE_CHECKING, TypeAlias

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.protocols import Embedder

    Factory: TypeAlias = Callable[[str | None], Embedder]

# Each with the kind of text that may follow a colon.
BUILT_IN = {
    "hash": None,
    "transformer": "folder",
    "static": "folder",
    "use": None,
    "openai": "model",
    "gemini": "model",
    "voyage": "model",
    "memctx": "file",
    "auto": None,
}
NAME = re.compile(r"[a-z][a-z0-9_-]*")
IMPORT_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

PARTS = ("name", "revision", "dim")
METHODS = ("embed", "embed_many")

_registered: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Register an embedder under a name, for ``embedding_model = "<name>"`` or ``"<name>:<anything>"``.

    ``factory`` is called with the text after the colon, or with None, whenever the embedder is opened. A later factory
    of the same name replaces it; built-in names cannot be replaced.

    >>> register("ours", lambda model: print("the embedder of", model))
    >>> from memctx.config.embedder_names import registered
    >>> registered("ours")("v2")
    the embedder of v2
    """
    if not NAME.fullmatch(name) or name in BUILT_IN:
        raise ConfigError(
            f"{name!r} cannot be the name of an embedder: expected a new word in small letters"
        )
    _registered[name] = factory


def is_built_in(choice: object) -> bool:
    """Return whether a choice names a built-in embedder, with or without a folder or model."""
    return isinstance(choice, str) and choice.partition(":")[0] in BUILT_IN


def registered(name: str) -> Factory | None:
    """Return the factory registered under a name; None if there is none."""
    return _registered.get(name)


def split_choice(choice: str) -> tuple[str, str | None]:
    """Split a choice into its name and the text after the colon, an import path into module and attribute.

    Anything else raises a `ConfigError` with the nearest name.
    """
    name, colon, rest = choice.partition(":")
    behind = rest if colon else None
    if name in _registered:
        return name, behind
    if name in BUILT_IN:
        if colon and not (BUILT_IN[name] and rest):
            raise ConfigError(f"expected {_format_choices(name)}")
        return name, behind
    if IMPORT_PATH.fullmatch(choice) and find_spec(name.partition(".")[0]) is not None:
        return name, behind
    raise ConfigError(_suggestion(name))


def check_choice(choice: object) -> object:
    """Return a choice if its form is valid, without importing or making anything.

    >>> check_choice("static:models/potion")
    'static:models/potion'
    >>> check_choice("sttic")
    Traceback (most recent call last):
    memctx.errors.ConfigError: did you mean 'static'?
    """
    if isinstance(choice, str):
        split_choice(choice)
    else:
        check(choice)
    return choice


def is_import_path(name: str) -> bool:
    """Return whether a name from `split_choice` is that of a module."""
    return name not in BUILT_IN and name not in _registered


def _suggestion(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for misspelled names alone

    names = [*BUILT_IN, *_registered]
    if near := get_close_matches(name.lower(), names, 1):
        return f"did you mean {near[0]!r}?"
    choices = ", ".join(_format_choices(name) for name in names)
    return f"expected {choices}, 'package.module:attribute' or an Embedder"


def _format_choices(name: str) -> str:
    behind = BUILT_IN.get(name)
    return f"'{name}' or '{name}:<{behind}>'" if behind else f"'{name}'"


def check(found: object) -> None:
    """Raise if an object is no embedder, naming the attributes it lacks."""
    if isinstance(found, type):
        raise ConfigError("expected an embedder, not a class")
    if lacking := missing(found):
        raise ConfigError(f"expected a name or an embedder, and it has no {', '.join(lacking)}")


def missing(found: object) -> list[str]:
    """Return the attributes that an object lacks to be an embedder, reading no property, which may load a model.

    >>> missing("a text")
    ['name', 'revision', 'dim', 'embed', 'embed_many']
    """
    lacks = [part for part in PARTS if not _has(found, part)]
    return lacks + [name for name in METHODS if not callable(getattr(found, name, None))]


def _has(found: object, part: str) -> bool:
    return getattr_static(found, part, None) is not None or hasattr(found, part)

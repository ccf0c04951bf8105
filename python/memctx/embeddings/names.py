"""The names of embedders: which there are, which were added, and which one a misspelt one was meant to be."""

from __future__ import annotations

import re
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from memctx.embeddings.shape import check
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.embeddings.protocol import Embedder

    Factory: TypeAlias = Callable[[str | None], Embedder]

# Each with what may stand behind a colon.
BUILT_IN = {
    "hash": None,
    "transformer": "folder",
    "static": "folder",
    "openai": "model",
    "gemini": "model",
    "voyage": "model",
    "auto": None,
}
NAME = re.compile(r"[a-z][a-z0-9_-]*")
IMPORT_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

_registered: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Give an embedder of your own a name, for ``embedding_model = "<name>"`` or ``"<name>:<anything>"``.

    ``factory`` is called with what stands behind the colon, or with None, whenever one is asked for. Another factory
    of the same name takes its place; the names that memctx has itself stay.

    >>> register("ours", lambda model: print("the embedder of", model))
    >>> from memctx.embeddings.names import registered
    >>> registered("ours")("v2")
    the embedder of v2
    """
    if not NAME.fullmatch(name) or name in BUILT_IN:
        raise ConfigError(
            f"{name!r} cannot be the name of an embedder: expected a new word in small letters"
        )
    _registered[name] = factory


def is_built_in(choice: object) -> bool:
    """Whether a choice names one that memctx has itself, be it with a folder or model behind it."""
    return isinstance(choice, str) and choice.partition(":")[0] in BUILT_IN


def registered(name: str) -> Factory | None:
    """The factory that was given a name."""
    return _registered.get(name)


def parted(choice: str) -> tuple[str, str | None]:
    """A choice as its name and what stands behind the colon; of an import path as its module and attribute.

    What is neither is a `ConfigError` that has the nearest name.
    """
    name, colon, rest = choice.partition(":")
    behind = rest if colon else None
    if name in _registered:
        return name, behind
    if name in BUILT_IN:
        if colon and not (BUILT_IN[name] and rest):
            raise ConfigError(f"expected {_spelt(name)}")
        return name, behind
    if IMPORT_PATH.fullmatch(choice) and find_spec(name.partition(".")[0]) is not None:
        return name, behind
    raise ConfigError(_suggestion(name))


def choosable(choice: object) -> object:
    """The choice, if it can be one by its looks: nothing is imported or made.

    >>> choosable("static:models/potion")
    'static:models/potion'
    >>> choosable("sttic")
    Traceback (most recent call last):
    memctx.errors.ConfigError: did you mean 'static'?
    """
    if isinstance(choice, str):
        parted(choice)
    else:
        check(choice)
    return choice


def is_import_path(name: str) -> bool:
    """Whether what `parted` gives is a module's."""
    return name not in BUILT_IN and name not in _registered


def _suggestion(name: str) -> str:
    names = [*BUILT_IN, *_registered]
    if near := get_close_matches(name.lower(), names, 1):
        return f"did you mean {near[0]!r}?"
    spelt = ", ".join(_spelt(name) for name in names)
    return f"expected {spelt}, 'package.module:attribute' or an Embedder"


def _spelt(name: str) -> str:
    behind = BUILT_IN.get(name)
    return f"'{name}' or '{name}:<{behind}>'" if behind else f"'{name}'"

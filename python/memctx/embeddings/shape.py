"""What an object must have to be an embedder."""

from __future__ import annotations

from inspect import getattr_static

from memctx.errors import ConfigError

PARTS = ("name", "revision", "dim")
METHODS = ("embed", "embed_many")


def check(found: object) -> None:
    """Refuse what is no embedder, by what it lacks."""
    if isinstance(found, type):
        raise ConfigError("expected an embedder rather than a class of some")
    if lacking := missing(found):
        raise ConfigError(f"expected a name or an embedder, and it has no {', '.join(lacking)}")


def missing(found: object) -> list[str]:
    """What an object lacks to be an embedder. No property is read, which may load a model.

    >>> missing("a text")
    ['name', 'revision', 'dim', 'embed', 'embed_many']
    """
    lacks = [part for part in PARTS if not _has(found, part)]
    return lacks + [name for name in METHODS if not callable(getattr(found, name, None))]


def _has(found: object, part: str) -> bool:
    return getattr_static(found, part, None) is not None or hasattr(found, part)

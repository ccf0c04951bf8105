"""`embedder_of`: the embedder that a setting means."""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, cast

from memctx.embeddings.names import is_import_path, parted, registered
from memctx.embeddings.shape import check, missing
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memctx.embeddings.protocol import Embedder

    Choice: TypeAlias = str | Embedder

FALLBACK = "hash"
# Each is imported when it is chosen.
LOCAL = {
    "hash": ("memctx.embeddings.hashed", "HashedEmbedder"),
    "transformer": ("memctx.embeddings.transformer", "TransformerEmbedder"),
    "static": ("memctx.embeddings.static", "static_embedder"),
}
REMOTE = {
    "openai": ("memctx.embeddings.openai", "OpenAIEmbedder"),
    "gemini": ("memctx.embeddings.gemini", "GeminiEmbedder"),
    "voyage": ("memctx.embeddings.voyage", "VoyageEmbedder"),
}
# The variables that a provider's key is found in.
KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """An embedder, and how it came to be the one."""

    embedder: Embedder
    is_fallback: bool = False
    """Whether ``auto`` found nothing better than hashing, so that vectors of a better one must stay."""
    tried: tuple[str, ...] = ()
    """What ``auto`` did not take, each with the reason."""


def embedder_of(choice: Choice, *, url: str | None = None) -> Embedder:
    """The embedder that is meant: one by name, ``<name>:<model or folder>``; your own; or one to import.

    >>> embedder_of("hash").dim
    384
    >>> embedder_of("hahs")
    Traceback (most recent call last):
    memctx.errors.ConfigError: embedding_model is 'hahs'; did you mean 'hash'?
    """
    return choose(choice, url=url).embedder


def choose(choice: Choice, *, url: str | None = None) -> Chosen:
    """The embedder that is meant, and of ``auto`` also what it did not take.

    ``auto`` decides once in a process: the first of a remote one that is configured, by ``url`` or by a key in the
    environment; local weights, of a transformer and then of a table; and hashing. No text is embedded to find out.

    >>> choose("hash").is_fallback
    False
    """
    if not isinstance(choice, str):
        return Chosen(_checked(choice, f"embedding_model {choice!r}"))
    try:
        name, behind = parted(choice)
    except ConfigError as error:
        raise ConfigError(f"embedding_model is {choice!r}; {error}") from None
    if name == "auto":
        return _automatic(url)
    if is_import_path(name):
        return Chosen(_imported(choice, name, behind or ""))
    factory = registered(name)
    if factory is not None:
        return Chosen(_checked(factory(behind), f"what embedding_model {choice!r} makes"))
    return Chosen(_built_in(name, behind, url))


def _built_in(name: str, behind: str | None, url: str | None) -> Embedder:
    module, attribute = (LOCAL | REMOTE)[name]
    settings = {"base_url": url} if name in REMOTE and url is not None else {}
    make: Callable[..., Embedder] = getattr(import_module(module), attribute)
    return make(*([] if behind is None else [behind]), **settings)


def _imported(choice: str, module: str, attribute: str) -> Embedder:
    """The embedder at an import path: one that is there, or what a class or function there makes."""
    try:
        found: object = attrgetter(attribute)(import_module(module))
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"embedding_model is {choice!r}, which cannot be imported: {error}"
        ) from error
    if isinstance(found, type) or (callable(found) and missing(found)):
        found = cast("Callable[[], object]", found)()
    return _checked(found, f"what embedding_model {choice!r} names")


def _checked(found: object, described: str) -> Embedder:
    try:
        check(found)
    except ConfigError as error:
        raise ConfigError(f"{described} is no embedder; {error}") from None
    return cast("Embedder", found)


_decided: dict[str | None, Chosen] = {}
_deciding = threading.Lock()


def _automatic(url: str | None) -> Chosen:
    with _deciding:
        if url not in _decided:
            _decided[url] = _decide(url)
        return _decided[url]


def _decide(url: str | None) -> Chosen:
    tried: list[str] = []
    for name, reason in _candidates(url):
        if reason is not None:
            tried.append(f"{name}: {reason}")
            continue
        try:
            embedder = _built_in(name, None, url if name == "openai" else None)
        except (ConfigError, ImportError) as error:
            tried.append(f"{name}: {error}")
            continue
        logging.getLogger("memctx.embeddings").info("auto takes %s; not %s", name, "; ".join(tried))
        return Chosen(embedder, is_fallback=name == FALLBACK, tried=tuple(tried))
    raise ConfigError(f"no embedder works: {'; '.join(tried)}")  # hashing always does


def _candidates(url: str | None) -> Iterator[tuple[str, str | None]]:
    """What ``auto`` looks at, the best first, each with the reason why not where that is plain."""
    for name, variables in KEYS.items():
        has_key = any(os.environ.get(variable) for variable in variables)
        is_given = has_key or (name == "openai" and url is not None)
        yield name, None if is_given else f"no {' or '.join(variables)} in the environment"
    yield from ((name, None) for name in ("transformer", "static", FALLBACK))

"""Resolution of the setting ``embedding_model`` to an embedder, and of the embedder to the vectors of a store."""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from memctx import _core, files
from memctx.config.embedder_names import (
    check,
    is_built_in,
    is_import_path,
    missing,
    registered,
    split_choice,
)
from memctx.errors import ConfigError, EmbeddingError
from memctx.providers.options import ClientOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memctx._core import Encoder, HashEmbedder, StaticEmbedder
    from memctx.config import Config
    from memctx.protocols import Embedder

    Choice: TypeAlias = str | Embedder
    Model: TypeAlias = HashEmbedder | Encoder | StaticEmbedder | tuple[str, str, int, bool]

logger = logging.getLogger("memctx.embeddings")

FALLBACK = "hash"
OURS = "memctx"
METADATA_FILE = "vectors.json"
# Each module is imported when its embedder is chosen.
LOCAL = {
    "hash": ("memctx.embeddings.local.tables", "HashedEmbedder"),
    "memctx": ("memctx.embeddings.local.packaged", "packaged_encoder"),
    "transformer": ("memctx.embeddings.local.transformer", "TransformerEmbedder"),
    "static": ("memctx.embeddings.local.tables", "static_embedder"),
    "use": ("memctx.embeddings.local.use", "use_embedder"),
}
REMOTE = {
    "openai": ("memctx.embeddings.remote.apis", "OpenAIEmbedder"),
    "gemini": ("memctx.embeddings.remote.apis", "GeminiEmbedder"),
    "voyage": ("memctx.embeddings.remote.apis", "VoyageEmbedder"),
}
# The environment variables of each provider's key.
KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """An embedder and the reasons of its choice."""

    embedder: Embedder
    is_fallback: bool = False
    """True if ``auto`` found nothing better than hashing, so that vectors of a better model must stay."""
    tried: tuple[str, ...] = ()
    """The candidates that ``auto`` rejected, each with the reason."""


def embedder_of(choice: Choice, *, url: str | None = None) -> Embedder:
    """Return the embedder of a name, ``<name>:<model or folder>``, an import path, or the embedder itself.

    >>> embedder_of("hash").dim
    384
    >>> embedder_of("hahs")
    Traceback (most recent call last):
    memctx.errors.ConfigError: embedding_model is 'hahs'; did you mean 'hash'?
    """
    return choose(choice, url=url).embedder


def choose(choice: Choice, *, url: str | None = None, uses_keys: bool = True) -> Chosen:
    """Return the embedder of a setting, for ``auto`` with the candidates that were rejected.

    ``auto`` decides once for each process: the first remote API that is configured, by ``url`` or, with ``uses_keys``,
    by a key in the environment; memctx's own encoder; hashing. No text is embedded to find out.

    >>> choose("hash").is_fallback
    False
    """
    if not isinstance(choice, str):
        return Chosen(_check_embedder(choice, f"embedding_model {choice!r}"))
    try:
        name, argument = split_choice(choice)
    except ConfigError as error:
        raise ConfigError(f"embedding_model is {choice!r}; {error}") from None
    if name == "auto":
        return _choose_automatically(url, uses_keys=uses_keys)
    if is_import_path(name):
        return Chosen(_import_embedder(choice, name, argument or ""))
    factory = registered(name)
    if factory is not None:
        made = f"the result of embedding_model {choice!r}"
        return Chosen(_check_embedder(factory(argument), made))
    return Chosen(_make_built_in(name, argument, url))


def _make_built_in(name: str, argument: str | None, url: str | None) -> Embedder:
    if name == "transformer" and argument is None:
        raise ConfigError("the transformer needs a folder with a model: 'transformer:<folder>'")
    module, attribute = (LOCAL | REMOTE)[name]
    settings: dict[str, Any] = {}
    if name in REMOTE and url is not None:
        settings["options"] = ClientOptions(base_url=url)
    make: Callable[..., Embedder] = getattr(import_module(module), attribute)
    return make(*([] if argument is None else [argument]), **settings)


def _import_embedder(choice: str, module: str, attribute: str) -> Embedder:
    """Return the embedder at an import path, or the one that a class or function there makes."""
    try:
        found: object = attrgetter(attribute)(import_module(module))
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"embedding_model is {choice!r}, which cannot be imported: {error}"
        ) from error
    if isinstance(found, type) or (callable(found) and missing(found)):
        found = cast("Callable[[], object]", found)()
    return _check_embedder(found, f"the object of embedding_model {choice!r}")


def _check_embedder(found: object, description: str) -> Embedder:
    try:
        check(found)
    except ConfigError as error:
        raise ConfigError(f"{description} is no embedder; {error}") from None
    return cast("Embedder", found)


_decided: dict[tuple[str | None, bool], Chosen] = {}
_deciding = threading.Lock()


def _choose_automatically(url: str | None, *, uses_keys: bool) -> Chosen:
    with _deciding:
        if (url, uses_keys) not in _decided:
            _decided[url, uses_keys] = _decide(url, uses_keys=uses_keys)
        return _decided[url, uses_keys]


def _decide(url: str | None, *, uses_keys: bool) -> Chosen:
    tried: list[str] = []
    for name, reason in _candidates(url, uses_keys=uses_keys):
        if reason is not None:
            tried.append(f"{name}: {reason}")
            continue
        try:
            embedder = _make_built_in(name, None, url if name == "openai" else None)
        except (ConfigError, ImportError) as error:
            tried.append(f"{name}: {error}")
            continue
        logger.info("auto: %s; not %s", name, "; ".join(tried))
        return Chosen(embedder, is_fallback=name == FALLBACK, tried=tuple(tried))
    raise ConfigError(f"no embedder works: {'; '.join(tried)}")  # hashing always works


def _candidates(url: str | None, *, uses_keys: bool) -> Iterator[tuple[str, str | None]]:
    """Yield the candidates of ``auto``, the best first, with the reason against those that are not configured."""
    for name, variables in KEYS.items():
        has_key = any(os.environ.get(variable) for variable in variables)
        if name == "openai" and url is not None:
            yield name, None
        elif not has_key:
            yield name, f"no {' or '.join(variables)} in the environment"
        else:
            yield name, None if uses_keys else "a key alone does not send text to a server"
    yield from ((name, None) for name in (OURS, FALLBACK))


@dataclass(frozen=True, slots=True)
class Resolution:
    """The embedder of a store, and its relation to the vectors that the store has."""

    embedder: Embedder | None
    """The embedder outside of the core; None if the core makes vectors itself."""
    model: Model | None
    """The embedder in the form that the store takes; None for hashing."""
    asked: str
    """The setting, or the name of the embedder that was passed."""
    name: str
    replaces: bool
    """True if its vectors replace those of other models."""
    note: str | None = None
    """The reason why it is not the embedder that was asked for."""
    tried: tuple[str, ...] = ()
    """The candidates that ``auto`` rejected, each with the reason."""

    @property
    def any_embedder(self) -> Embedder | None:
        """The embedder inside of the core or outside; None for hashing."""
        is_inside = isinstance(self.model, _core.Encoder | _core.StaticEmbedder)
        return cast("Embedder", self.model) if is_inside else self.embedder

    @classmethod
    def of(cls, config: Config) -> Resolution:
        """Return the embedder of the settings.

        Vectors are replaced by those of a model that was asked for by name; never by those of a fallback, and under
        ``auto`` only if hashing or memctx's own encoder made them, since ``auto`` may choose another model later.
        Without the setting, text is sent to a server only if ``embedding.url`` names one: a key in the environment may
        be there for another purpose.
        """
        asked = config.embedding_model
        is_given = "embedding_model" in config.given()
        if asked == FALLBACK:
            return cls(None, None, FALLBACK, FALLBACK, replaces=is_given)
        metadata = read_metadata(config.storage_path)
        try:
            chosen = choose(asked, url=config.embedding.url, uses_keys=is_given)
        except ConfigError as error:
            if not is_built_in(asked):
                raise
            # Weights, a package or a key is missing; the store can be searched without.
            return cls._fall_back(asked, str(error))
        embedder = chosen.embedder
        setting = asked if isinstance(asked, str) else embedder.name
        replaces = is_given
        if asked == "auto":
            made_by = FALLBACK if metadata is None else metadata["model"]
            replaces = made_by in {FALLBACK, embedder.name} or made_by.startswith(OURS)
            if (reason := _reason_against(chosen, made_by, replaces=replaces)) is not None:
                return cls._fall_back("auto", reason, tried=chosen.tried)
        core: Any = getattr(embedder, "core", embedder)
        if isinstance(core, _core.HashEmbedder | _core.Encoder | _core.StaticEmbedder):
            return cls(None, core, setting, embedder.name, replaces, tried=chosen.tried)
        try:
            dim = embedder.dim
        except EmbeddingError as error:
            if metadata is None or metadata["model"] != embedder.name:
                reason = f"{error}, and the length of its vectors is unknown"
                return cls._fall_back(setting, reason)
            # Known from an earlier response, and the model may respond again.
            dim = metadata["dim"]
        is_latin_only = bool(getattr(embedder, "is_latin_only", False))
        model = (embedder.name, embedder.revision, dim, is_latin_only)
        return cls(embedder, model, setting, embedder.name, replaces, tried=chosen.tried)

    @classmethod
    def _fall_back(cls, asked: str, reason: str, tried: tuple[str, ...] = ()) -> Resolution:
        note = f"embedding_model {asked!r} unavailable; falling back to {FALLBACK!r}: {reason}"
        return cls(None, None, asked, FALLBACK, replaces=False, note=note, tried=tried)


def _reason_against(chosen: Chosen, made_by: str, *, replaces: bool) -> str | None:
    """Return why a store hashes instead of using what ``auto`` chose, if it does."""
    if chosen.is_fallback:
        return chosen.tried[-1]
    if isinstance(chosen.embedder, _core.Encoder) and not replaces:
        return f"the store has vectors of {made_by!r}, which only a model that is named replaces"
    return None


def read_metadata(store: Path | str) -> dict[str, Any] | None:
    """Return the model metadata of a store's vectors; None if there is none that can be read."""
    try:
        document: Any = json.loads(files.read(Path(store) / METADATA_FILE))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict):
        return None
    found = cast("dict[str, Any]", document)
    is_valid = isinstance(found.get("model"), str) and isinstance(found.get("dim"), int)
    return found if is_valid else None

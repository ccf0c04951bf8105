"""`Opening`: what a store is to know of an embedder before it is opened."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from memctx import _core
from memctx.embeddings.choice import choose
from memctx.embeddings.names import is_built_in
from memctx.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from memctx._core import HashEmbedder, StaticEmbedder
    from memctx.config import Config
    from memctx.embeddings.protocol import Embedder

    Model: TypeAlias = HashEmbedder | StaticEmbedder | tuple[str, str, int, bool]

HASH = "hash"
STAMP = "vectors.json"


@dataclass(frozen=True, slots=True)
class Opening:
    """An embedder, and how its vectors stand to those that a store has."""

    embedder: Embedder | None
    """What makes vectors outside of the core; None where the core does it."""
    model: Model | None
    """The same as the store takes it; None for hashing."""
    asked: str
    """The setting, or the name of the embedder that was given."""
    name: str
    replaces: bool
    """Whether vectors of other models give way to its own."""
    note: str | None = None
    """Why it is another than the one asked for, or what that one is without."""
    tried: tuple[str, ...] = ()
    """What ``auto`` did not take, each with the reason."""

    @classmethod
    def of(cls, config: Config) -> Opening:
        """The embedder that the settings name.

        Vectors give way to those of a model that was asked for by name; never to what stands in for one, and under
        ``auto`` only where they are hashed, since another day it may choose otherwise.
        """
        asked = config.embedding_model
        if asked == HASH:
            return cls(None, None, HASH, HASH, replaces="embedding_model" in config.given())
        stamp = stamp_of(config.storage_path)
        try:
            chosen = choose(asked, url=config.embedding_url)
        except ConfigError as error:
            if not is_built_in(asked):
                raise
            # Weights, a package or a key is missing: what is stored can be searched all the same.
            return cls._standing_in(asked, str(error))
        embedder = chosen.embedder
        words = asked if isinstance(asked, str) else embedder.name
        is_asked_for = "embedding_model" in config.given() and not chosen.is_fallback
        is_hashed = stamp is None or stamp["model"] == HASH
        replaces = is_asked_for and (asked != "auto" or is_hashed)
        core: Any = getattr(embedder, "core", embedder)
        if isinstance(core, _core.HashEmbedder | _core.StaticEmbedder):
            return cls(None, core, words, embedder.name, replaces, tried=chosen.tried)
        try:
            dim = embedder.dim
        except EmbeddingError as error:
            if stamp is None or stamp["model"] != embedder.name:
                return cls._standing_in(words, f"{error}, and the length of its vectors is unknown")
            # It answered once, so the length is known and the answers may come again.
            dim = stamp["dim"]
        is_latin_only = bool(getattr(embedder, "is_latin_only", False))
        model = (embedder.name, embedder.revision, dim, is_latin_only)
        return cls(embedder, model, words, embedder.name, replaces, tried=chosen.tried)

    @classmethod
    def _standing_in(cls, asked: str, why: str) -> Opening:
        note = f"embedding_model {asked!r} is not to be had, and {HASH!r} stands in for it: {why}"
        return cls(None, None, asked, HASH, replaces=False, note=note)


def stamp_of(store: Path | str) -> dict[str, Any] | None:
    """What a store says of the maker of its vectors; None if it says nothing that can be read."""
    try:
        stamp: Any = json.loads((Path(store) / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(stamp, dict):
        return None
    found = cast("dict[str, Any]", stamp)
    is_stamp = isinstance(found.get("model"), str) and isinstance(found.get("dim"), int)
    return found if is_stamp else None

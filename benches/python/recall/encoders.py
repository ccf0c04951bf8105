"""Encoders: models that embed texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from memctx.embeddings import TransformerEmbedder, embedder_of, static_embedder
from memctx.lowlevel import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    """The multilingual Universal Sentence Encoder, as memctx runs it."""

    name = "use"
    is_latin_only = False

    def __init__(self) -> None:
        self._embedder = embedder_of("use")
        self.revision = self._embedder.revision

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self._embedder.embed_many(texts), dtype=np.float32)


class Transformer:
    """The sentence transformer in a folder, as memctx runs it."""

    name = "transformer"

    def __init__(self, folder: Path) -> None:
        self._embedder = TransformerEmbedder(folder)
        self.revision = self._embedder.revision
        self.is_latin_only = self._embedder.is_latin_only

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_many([text or " " for text in texts])

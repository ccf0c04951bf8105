"""`HashedEmbedder`: the hash embedding of the core, as one embedder among others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import HashEmbedder


class HashedEmbedder:
    """Vectors from character trigrams: no model, no network, the same on every machine.

    >>> embedder = HashedEmbedder()
    >>> embedder.dim, embedder.is_instant
    (384, True)
    """

    is_instant = True
    """The core makes the vectors itself."""
    revision = "1"
    """The way of hashing, which is the original's and stays."""

    def __init__(self, dim: int = 384) -> None:
        self.core: HashEmbedder = _core.HashEmbedder(dim)
        """What the store takes."""

    def __repr__(self) -> str:
        return f"HashedEmbedder({self.dim})"

    @property
    def name(self) -> str:
        """The name stored beside vectors made with it."""
        return self.core.name

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self.core.dim

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a text: length 1, or all zeros when nothing in the text counts."""
        return self.core.embed(text)

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row for each text."""
        return self.core.embed_many(texts)

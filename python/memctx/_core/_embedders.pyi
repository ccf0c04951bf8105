"""Embedders that the core runs."""

from collections.abc import Iterable
from os import PathLike
from typing import final

import numpy as np
from numpy.typing import NDArray

@final
class HashEmbedder:
    """Vectors from character trigrams: no model, no network, the same on every machine.

    >>> HashEmbedder().embed("abc")[186]
    np.float32(-1.0)
    """

    def __new__(cls, dim: int = 384) -> HashEmbedder: ...
    @property
    def name(self) -> str:
        """The name stored beside vectors made with it."""

    @property
    def dim(self) -> int:
        """The length of its vectors."""

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: length 1, or all zeros when nothing in the text counts.

        What counts are letters, digits and ``@ . + -``.
        """

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Embed texts, one row for each."""

@final
class Encoder:
    """Vectors from a small transformer over word pieces: meaning in many languages without a runtime.

    >>> encoder = Encoder.load("encoder.safetensors")  # doctest: +SKIP
    >>> encoder.embed("where is the parcel?").shape  # doctest: +SKIP
    (256,)
    """

    @staticmethod
    def load(path: str | PathLike[str]) -> Encoder:
        """Load an encoder from its file; one that is not what it should be raises `ConfigError`."""

    @property
    def name(self) -> str:
        """The name stored beside vectors made with it."""

    @property
    def revision(self) -> str:
        """A number that changes with the file."""

    @property
    def dim(self) -> int:
        """The length of its vectors."""

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of the pieces that a text is cut into."""

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: length 1, or all zeros when no known piece is in the text."""

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return one row for each text."""

@final
class StaticEmbedder:
    """Vectors from a table of word pieces, such as those of model2vec and WordLlama: meaning without a runtime.

    A text is cut into pieces, each piece has a row in the table, and the vector is the mean of the rows at length 1.
    The table stays in memory as it is stored, and threads share it.

    >>> embedder = StaticEmbedder.load("models/potion-base-8M")  # doctest: +SKIP
    >>> embedder.embed("where is the parcel?").shape  # doctest: +SKIP
    (256,)
    """

    @staticmethod
    def load(
        path: str | PathLike[str],
        *,
        tokenizer: str | PathLike[str] | None = None,
        name: str | None = None,
        dim: int | None = None,
        max_tokens: int = 512,
    ) -> StaticEmbedder:
        """Load a model from its folder, or from the ``.safetensors`` file of its table.

        The tokenizer is the ``tokenizer.json`` beside the table unless another file is named. ``dim`` keeps the first
        columns of the table only, which suits tables made for that. Of a longer text the first ``max_tokens`` pieces
        count. Tokenizers of BERT (WordPiece) and Llama (BPE) are read; another kind raises `ConfigError`, as does a
        file that is not what it should be.
        """

    @property
    def name(self) -> str:
        """The name stored beside vectors made with it: the one given, or that of the folder or file."""

    @property
    def revision(self) -> str:
        """Changes with all else that changes its vectors: table, tokenizer, ``max_tokens``, and how they are used."""

    @property
    def dim(self) -> int:
        """The length of its vectors."""

    @property
    def is_instant(self) -> bool:
        """Always true: a vector takes microseconds, so it can be made wherever one is needed."""

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: length 1, or all zeros when no known piece is in the text."""

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Embed texts, one row for each."""

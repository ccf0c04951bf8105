"""`Embedder`: what anything must do that turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    import numpy as np
    from numpy.typing import NDArray

# Strings, since numpy is not to be imported for the sake of two names.
Vector: TypeAlias = "NDArray[np.float32] | Sequence[float]"
"""One row of numbers."""
Matrix: TypeAlias = "NDArray[np.float32] | Sequence[Sequence[float]]"
"""One row for each text, in the order of the texts."""


class Embedder(Protocol):
    """Turns text into vectors that lie near each other where texts mean much the same.

    Either method may be a coroutine function. Whoever cannot answer raises `memctx.EmbeddingError`, and never makes a
    vector up: a text without one is found by its words, and tried again later. Both methods are called from several
    threads. Three things are optional: ``close()``; ``warm()``, which is called once in the background, so that the
    first query need not wait for imports; and ``is_latin_only``, true where the model tells little of Chinese, Japanese
    and Korean, whose words then count alone.

    >>> class Letters:
    ...     name, revision, dim = "letters", "1", 26
    ...     def embed(self, text):
    ...         return [1.0 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
    ...     def embed_many(self, texts):
    ...         return [self.embed(text) for text in texts]
    >>> embedder: Embedder = Letters()
    >>> embedder.embed("Abba")[:3]
    [3.0, 3.0, 1.0]
    """

    @property
    def name(self) -> str:
        """Which model it is. With ``revision`` and ``dim`` it says which vectors can be compared."""
        ...

    @property
    def revision(self) -> str:
        """Whatever else changes the vectors: weights, settings, the way texts are prepared."""
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, text: str) -> Vector | Awaitable[Vector]:
        """The vector of a query, soon: a turn waits for it."""
        ...

    def embed_many(self, texts: Sequence[str]) -> Matrix | Awaitable[Matrix]:
        """The vectors of texts that are stored, in their order."""
        ...

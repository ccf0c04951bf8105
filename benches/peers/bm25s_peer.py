"""bm25s with its compiled backend: scores of every term and document worked out when indexing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bm25s

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "bm25s (numba)"


class Index:
    """An index over lists of tokens. It takes no later additions."""

    def __init__(self, documents: list[list[str]]) -> None:
        self._index = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numba")
        self._index.index(documents, show_progress=False)

    def query(self, tokens: list[str]) -> list[str]:
        """Return the tokens, which are the query."""
        return tokens

    def search(self, tokens: list[str], k: int = 10) -> NDArray[np.integer]:
        """Return the numbers of the best documents."""
        return self.scored(tokens, k)[0]

    def scored(self, tokens: list[str], k: int) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
        """Return the numbers of the best documents and their scores."""
        found = self._index.retrieve([tokens], k=k, show_progress=False, n_threads=1)
        return found.documents[0], found.scores[0]

    def numbers(self, tokens: list[str]) -> list[int]:
        """Return the numbers of the best documents, first document 0."""
        numbers: list[int] = self.search(tokens).tolist()
        return numbers

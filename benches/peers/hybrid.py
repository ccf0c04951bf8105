"""Search by words and by vectors as one writes it by hand: two engines, and a few lines of numpy to fuse them.

It gets tokens and the query's vector ready, knows nothing of age, and does not spread its results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 24
VECTOR, TEXT = 0.2, 0.8


class Index:
    """An engine for text, one for vectors, and the rows of length 1 that the latter holds."""

    def __init__(self, text: Any, vectors: Any, matrix: NDArray[np.float32]) -> None:
        self._text, self._vectors, self._matrix = text, vectors, matrix

    def search(
        self,
        query: Any,
        vector: NDArray[np.float32],
        k: int = 10,
    ) -> NDArray[np.integer]:
        """Return the numbers of the best rows."""
        found, scores = self._text.scored(query, CANDIDATES)
        near = self._vectors.search(vector, CANDIDATES)
        numbers = np.union1d(found, near)
        text = np.zeros(len(numbers))
        if len(found):
            text[np.searchsorted(numbers, found)] = np.asarray(scores) / max(scores[0], 1e-9)
        blend = TEXT * text + VECTOR * np.maximum(self._matrix[numbers] @ vector, 0)
        return numbers[np.argsort(-blend)[:k]]

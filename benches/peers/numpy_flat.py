"""Exact search as most people write it: one product, then the best of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "numpy"


class Index:
    """Rows of length 1."""

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        self._matrix = matrix

    def search(self, vector: NDArray[np.float32], k: int = 10) -> NDArray[np.intp]:
        """Return the numbers of the nearest rows."""
        scores = self._matrix @ vector
        best = np.argpartition(scores, -k)[-k:]
        return best[np.argsort(-scores[best])]

    def search_many(self, vectors: NDArray[np.float32], k: int = 10) -> NDArray[np.intp]:
        """Return the numbers of the nearest rows, for each vector."""
        scores = vectors @ self._matrix.T
        best = np.argpartition(scores, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)

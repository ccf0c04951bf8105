"""faiss, flat index by inner product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import faiss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "faiss flat"


class Index:
    """Rows of length 1."""

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexFlatIP(matrix.shape[1])
        self._index.add(matrix)

    def search(self, vector: NDArray[np.float32], k: int = 10) -> NDArray[np.int64]:
        """Return the numbers of the nearest rows."""
        row: NDArray[np.int64] = self.search_many(vector[None], k)[0]
        return row

    def search_many(self, vectors: NDArray[np.float32], k: int = 10) -> NDArray[np.int64]:
        """Return the numbers of the nearest rows, for each vector."""
        numbers: NDArray[np.int64]
        _, numbers = self._index.search(vectors, k)
        return numbers

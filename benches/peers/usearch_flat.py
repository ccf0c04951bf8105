"""usearch, exact search without a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from usearch.compiled import MetricKind
from usearch.index import search

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "usearch exact"


class Index:
    """Rows of length 1."""

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        self._matrix = matrix

    def search(self, vector: NDArray[np.float32], k: int = 10) -> NDArray[np.uint64]:
        """Return the numbers of the nearest rows."""
        return search(self._matrix, vector, k, MetricKind.IP, exact=True, threads=1).keys

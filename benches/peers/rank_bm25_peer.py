"""rank_bm25: one dictionary for each document, every document scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rank_bm25 import BM25Okapi

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "rank_bm25"


class Index:
    """An index over lists of tokens. It takes no later additions."""

    def __init__(self, documents: list[list[str]]) -> None:
        self._index = BM25Okapi(documents, k1=1.2, b=0.75)

    def query(self, tokens: list[str]) -> list[str]:
        """Return the tokens, which are the query."""
        return tokens

    def search(self, tokens: list[str], k: int = 10) -> Sequence[int]:
        """Return the numbers of the best documents."""
        scores = self._index.get_scores(tokens)
        best = np.argpartition(scores, -k)[-k:]
        numbers: Sequence[int] = best[np.argsort(-scores[best])].tolist()
        return numbers

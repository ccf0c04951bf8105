"""Metrics: the share of the evidence in a list, and its rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recall.memory import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recall.memory import Memory
    from recall.ranking import Listed

BLOCK = 4000
DEPTHS = (5, 10, 20)
NDCG = 10
NAMES = (*(f"R@{depth}" for depth in DEPTHS), "R@B", "R@P", f"NDCG@{NDCG}", "MRR")


@dataclass(frozen=True)
class Figures:
    """Each figure for each question: the columns are `NAMES`."""

    values: NDArray[np.float64]

    @classmethod
    def of(cls, memory: Memory, listed: Listed) -> Figures:
        """Return the figures of the lists of a memory's questions."""
        order = listed.messages
        gold = np.take_along_axis(memory.is_gold, np.maximum(order, 0), 1) & (order != NONE)
        wanted = memory.wanted
        shares = [gold[:, :depth].sum(1) / wanted for depth in DEPTHS]
        whole = np.where(order == NONE, 0, memory.tokens[order])
        piece = np.where(order == NONE, 0, memory.piece_tokens[listed.pieces])
        shares += [_told(gold, tokens) / wanted for tokens in (whole, piece)]
        columns = [*shares, _ndcg(gold, wanted), _reciprocal(gold)]
        return cls(np.stack(columns, axis=1))

    @classmethod
    def joined(cls, parts: Sequence[Figures]) -> Figures:
        return cls(np.concatenate([part.values for part in parts]))

    def column(self, name: str) -> NDArray[np.float64]:
        return self.values[:, NAMES.index(name)]

    def mean(self, name: str) -> float:
        """Return the mean in percent."""
        return float(100 * self.column(name).mean()) if len(self.values) else float("nan")

    def error(self, name: str) -> float:
        """Return the standard error of the mean, in percent."""
        return float(100 * self.column(name).std() / max(1, len(self.values)) ** 0.5)

    def half(self, is_odd: bool) -> Figures:  # noqa: FBT001 - one of two halves
        """Select every other question: choose on one half, report on the other."""
        return Figures(self.values[int(is_odd) :: 2])


def _told(gold: NDArray[np.bool_], tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the share of evidence in a block that takes what still fits, the best first."""
    left = np.full(len(gold), BLOCK)
    found = np.zeros(len(gold), dtype=np.int64)
    for is_gold, size in zip(gold.T, tokens.T, strict=True):
        fits = size <= left
        left -= np.where(fits, size, 0)
        found += is_gold & fits
    return found


def _ndcg(gold: NDArray[np.bool_], wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    gains = 1 / np.log2(np.arange(2, NDCG + 2))
    first = gold[:, :NDCG]
    best = np.cumsum(gains)[np.minimum(wanted, NDCG) - 1]
    return np.asarray((first * gains[: first.shape[1]]).sum(1) / best)


def _reciprocal(gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(gold.any(1), 1 / (gold.argmax(1) + 1), 0.0)

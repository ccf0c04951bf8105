"""Rank fusion in plain Python, as everybody writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cold.engine import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable

FLATTEN = 60


def fused(*rankings: Iterable[int]) -> list[int]:
    """The best of some rankings by the sum of one over their ranks."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking):
            scores[number] = scores.get(number, 0.0) + 1 / (FLATTEN + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)[:TOP]

"""Reciprocal rank fusion in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cold.engine import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable

FLATTEN = 60


def fused(*rankings: Iterable[int]) -> list[int]:
    """Return the best of some rankings by the sum of reciprocal ranks."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking):
            scores[number] = scores.get(number, 0.0) + 1 / (FLATTEN + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)[:TOP]

"""Ways to make one score of two sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recall.sides import Sides

    Scores = NDArray[np.float32]

Blend = Callable[["Sides"], "NDArray[np.float32]"]
"""A score for every question and piece."""
Shape = Callable[["Sides"], "NDArray[np.float32]"]
"""Cosines brought to the scale of the text side."""
Weight = Callable[["Sides"], "NDArray[np.float32] | float"]
"""The share of the vector side, by question."""

RRF = 60.0
LEAST = 1e-6
LEAST_WORDS = 0.02


def text_only(sides: Sides) -> Scores:
    return sides.text


def vectors_only(sides: Sides) -> Scores:
    return np.maximum(sides.cosine, 0)


def seed(sides: Sides) -> Scores:
    """Blend with OpenClaw's weights, 0.7 and 0.3, over plain cosines."""
    return 0.7 * np.maximum(sides.cosine, 0) + 0.3 * sides.text


def reciprocal(sides: Sides) -> Scores:
    """Blend by reciprocal rank fusion; a text without a common word has no rank among the texts."""
    ranks = 1 / (RRF + _ranks(sides.cosine)) + np.where(
        sides.text > 0, 1 / (RRF + _ranks(sides.text)), 0
    )
    return np.asarray(ranks * RRF / 2, dtype=np.float32)


def _ranks(scores: Scores) -> NDArray[np.intp]:
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None, :], axis=1)
    return ranks


def convex(shape: Shape, weight: Weight | float) -> Blend:
    """Blend as `(1 - w) * text + w * shape(cosine)`."""

    def blend(sides: Sides) -> Scores:
        share = weight(sides) if callable(weight) else weight
        share = np.asarray(share, dtype=np.float32).reshape(-1, 1)
        return (1 - share) * sides.text + share * shape(sides)

    return blend


def plain(sides: Sides) -> Scores:
    """Return the cosine, if above zero."""
    return np.maximum(sides.cosine, 0)


def by_best(sides: Sides) -> Scores:
    """Return the cosine divided by the question's best."""
    return _share(plain(sides), sides.top[:, None])


def min_max(sides: Sides) -> Scores:
    """Scale from the worst of all pieces to the best."""
    least = sides.cosine.min(1, keepdims=True)
    return _share(sides.cosine - least, sides.top[:, None] - least)


def affine(low: float, high: float) -> Shape:
    """Scale from one cosine to another, the same for all questions."""
    return lambda sides: np.clip((sides.cosine - low) / (high - low), 0, 1)


def above_mean(sides: Sides) -> Scores:
    """Return the distance above the question's mean cosine, divided by the best."""
    mean = sides.mean[:, None]
    return _share(np.maximum(sides.cosine - mean, 0), sides.top[:, None] - mean)


def _share(part: Scores, whole: Scores) -> Scores:
    return np.asarray(part / np.maximum(whole, LEAST), dtype=np.float32)


def above_mean_of_one(sides: Sides) -> Scores:
    """Return the distance above the question's mean cosine, as a share of what is left to 1."""
    mean = sides.mean[:, None]
    return np.asarray(np.maximum(sides.cosine - mean, 0) / (1 - mean), np.float32)


def by_certainty(base: float, more: float) -> Weight:
    """Weight vectors more the less sure the words are."""
    return lambda sides: base + more * (1 - sides.certainty)


def absolute(unit: float, *, is_latin_only: bool) -> Blend:
    """Blend as `certainty * text + cosine / unit`: neither side is measured by its own best.

    A model that knows Latin letters only counts by their share in the question.
    """

    def blend(sides: Sides) -> Scores:
        words = np.maximum(sides.certainty, LEAST_WORDS)[:, None]
        known = sides.latin[:, None] if is_latin_only else 1.0
        return words * sides.text + known * np.minimum(1, above_mean_of_one(sides) / unit)

    return blend

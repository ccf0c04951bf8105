"""The ways of ranking that are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recall import blends, ranking
from recall.ranking import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recall.blends import Blend

DEFAULT = "best"
"""The ranking that the core has, or is to have."""


@dataclass(frozen=True)
class Constants:
    """Weight of the embedder in the core's ranking: `w = base + more * (1 - cover)`."""

    base: float
    more: float = 0.0
    is_plain: bool = False
    """True if the cosine counts as it is, rather than by how far it is above the question's mean."""
    is_latin_only: bool = False
    """True if the weight falls with the share of other letters in the question."""
    span: tuple[float, float] = (0.0, 1.0)
    """The cosines that stand for 0 and 1 in a fixed calibration."""

    @property
    def blend(self) -> Blend:
        weight = blends.by_cover(self.base, self.more)
        if self.is_latin_only:
            weight = blends.latin_only(weight)
        return blends.convex(blends.plain if self.is_plain else blends.above_mean, weight)


CONSTANTS = {
    "hash": Constants(0.2, is_plain=True, span=(0.1, 0.45)),
    "static": Constants(0.2, 0.3, is_latin_only=True, span=(0.2, 0.6)),
    "transformer": Constants(0.3, 0.3, is_latin_only=True, span=(0.1, 0.6)),
    "use": Constants(0.2, 0.3, span=(0.2, 0.7)),
}


RULES = Rules()


@dataclass(frozen=True)
class Way:
    """A blend, with the rules of the search."""

    name: str
    blend: Blend
    rules: Rules = RULES
    is_cut: bool = False
    """True if only the first piece of a message has a vector."""


def ways(embedder: str) -> Iterator[Way]:
    """Yield the ways for an embedder."""
    constants = CONSTANTS[embedder]
    best = constants.blend
    yield Way("seed", blends.seed, ranking.SEED)
    yield Way("seed's blend", blends.seed)
    yield Way("BM25 only", blends.text_only)
    yield Way("vectors only", blends.vectors_only)
    yield Way("RRF", blends.reciprocal)
    yield Way("convex 0.2, cosine", blends.convex(blends.plain, 0.2))
    yield Way("convex 0.3, by the best", blends.convex(blends.by_best, 0.3))
    yield Way("convex 0.3, min-max", blends.convex(blends.min_max, 0.3))
    yield Way("convex 0.3, calibrated", blends.convex(blends.affine(*constants.span), 0.3))
    yield Way("convex 0.3, above the mean", blends.convex(blends.above_mean, 0.3))
    yield Way("adaptive, min-max", blends.convex(blends.min_max, blends.by_cover(0.3, 0.5)))
    yield Way(DEFAULT, best)
    yield Way(f"{DEFAULT}, no smoothing", best, replace(RULES, smoothing=0.0))
    yield Way(f"{DEFAULT}, smoothing of long messages, too", best, replace(RULES, short=np.inf))
    yield Way(f"{DEFAULT}, no MMR", best, replace(RULES, balance=1.0))
    yield Way(f"{DEFAULT}, window of 2", best, replace(RULES, window=2))
    yield Way(f"{DEFAULT}, first passages only", best, is_cut=True)

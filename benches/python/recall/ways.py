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
    """Constants of the core's ranking for the cosines of an embedder."""

    unit: float
    """The cosine above the mean that counts in full; for spelling the weight of a cosine of 1."""
    is_plain: bool = False
    """True if the cosine counts as it is, rather than by how far it is above the question's mean."""
    is_latin_only: bool = False
    """True if the weight falls with the share of other letters in the question."""
    span: tuple[float, float] = (0.0, 1.0)
    """The cosines that stand for 0 and 1 in a fixed calibration."""

    @property
    def blend(self) -> Blend:
        if self.is_plain:
            return blends.convex(blends.plain, self.unit)
        return blends.absolute(self.unit, is_latin_only=self.is_latin_only)

    @property
    def rules(self) -> Rules:
        return Rules() if self.is_plain else Rules(smoothing=OF_MEANING)


OF_MEANING = 0.3
CONSTANTS = {
    "hash": Constants(0.2, is_plain=True, span=(0.1, 0.45)),
    "static": Constants(0.8, is_latin_only=True, span=(0.2, 0.6)),
    "transformer": Constants(0.5, is_latin_only=True, span=(0.1, 0.6)),
    "use": Constants(0.5, span=(0.2, 0.7)),
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
    best, rules = constants.blend, constants.rules
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
    yield Way("adaptive, min-max", blends.convex(blends.min_max, blends.by_certainty(0.3, 0.5)))
    yield Way(DEFAULT, best, rules)
    yield Way(f"{DEFAULT}, no smoothing", best, replace(rules, smoothing=0.0))
    yield Way(f"{DEFAULT}, smoothing of long messages, too", best, replace(rules, short=np.inf))
    yield Way(f"{DEFAULT}, no MMR", best, replace(rules, balance=1.0))
    yield Way(f"{DEFAULT}, window of 2", best, replace(rules, window=2))
    yield Way(f"{DEFAULT}, first passages only", best, rules, is_cut=True)

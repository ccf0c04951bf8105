"""Rank fusion: normalization, blending, age decay, thresholds and diversification (MMR).

Each step takes hits and returns hits whose ``explain`` shows its effect.

>>> from memctx.lowlevel import Hit
>>> vector = [Hit("a", 0.8), Hit("b", 0.4)]
>>> text = [Hit("b", 6.0), Hit("c", 3.0)]
>>> hits = decay(blend(vector, normalize(text)), [0.0, 10.0, 1.0])
>>> [(hit.id, round(hit.score, 4)) for hit in threshold(hits, 0.3)]
[('b', 0.58), ('a', 0.5326), ('c', 0.1492)]
"""

from __future__ import annotations

from memctx import _core

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from memctx._core import Hit

__all__ = ["blend", "decay", "mmr", "normalize", "threshold"]


def normalize(hits: Sequence[Hit]) -> list[Hit]:
    """Divide every score by the largest; keep them if that is not above zero.

    >>> from memctx.lowlevel import Hit
    >>> [hit.score for hit in normalize([Hit("a", 4.0), Hit("b", 1.0)])]
    [1.0, 0.25]
    """
    return _core.normalize(hits)


def blend(
    vector: Sequence[Hit],
    bm25: Sequence[Hit],
    *,
    vector_weight: float = 0.7,
    bm25_weight: float = 0.3,
) -> list[Hit]:
    """Add two rankings up by weight, best first; a hit missing on one side counts 0 there.

    Among equals vector hits come first, each side in its own order.

    >>> from memctx.lowlevel import Hit
    >>> [(hit.id, round(hit.score, 2)) for hit in blend([Hit("a", 1.0)], [Hit("b", 1.0)])]
    [('a', 0.7), ('b', 0.3)]
    """
    return _core.blend(vector, bm25, vector_weight, bm25_weight)


def decay(hits: Sequence[Hit], ages_days: Sequence[float], *, rate: float = 0.995) -> list[Hit]:
    """Multiply each score by ``rate`` to the power of its age in days, then sort again.

    An age below zero counts as zero; a rate of 1 or more changes nothing, one of 0 or less leaves nothing.

    >>> from memctx.lowlevel import Hit
    >>> [(hit.id, hit.score) for hit in decay([Hit("old", 1.0), Hit("new", 0.9)], [2.0, 0.0], rate=0.9)]
    [('new', 0.9), ('old', 0.81)]
    """
    return _core.decay(hits, ages_days, rate)


def threshold(hits: Sequence[Hit], min_score: float) -> list[Hit]:
    """Keep hits whose score, divided by the weights that contributed to it, reaches ``min_score``; all if that is 0.

    A hit that only one side of a `blend` found is thereby measured on that side's own scale.

    >>> from memctx.lowlevel import Hit
    >>> [hit.id for hit in threshold(blend([Hit("a", 0.9), Hit("b", 0.1)], []), 0.5)]
    ['a']
    """
    return _core.threshold(hits, min_score)


def mmr(
    hits: Sequence[Hit],
    k: int,
    *,
    balance: float = 0.7,
    vectors: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
) -> list[Hit]:
    """Choose ``k`` hits one by one, each the best mix of relevance and difference from those already chosen.

    ``balance`` 1 is relevance alone, 0 difference alone. Similarity is the cosine of the rows of ``vectors``, or the
    share of common character trigrams of ``texts``, one for each hit in order. The order changes, the scores do not.

    >>> from memctx.lowlevel import Hit
    >>> hits = [Hit("a", 1.0), Hit("a again", 0.9), Hit("b", 0.5)]
    >>> [hit.id for hit in mmr(hits, 2, texts=["port 8443", "port 8443", "retries"], balance=0.5)]
    ['a', 'b']
    """
    return _core.mmr(hits, k, balance, vectors, texts)

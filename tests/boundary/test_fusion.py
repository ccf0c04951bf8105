"""`memctx.lowlevel.fusion`."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.errors import VectorError
from memctx.lowlevel import Hit
from memctx.lowlevel.fusion import blend, decay, mmr, normalize, threshold

from . import golden, reference
from .strategies import for_all


def hits_of(ranking: reference.Ranking) -> list[Hit]:
    return [Hit(key, score) for key, score in ranking]


def ranking_of(hits: list[Hit]) -> reference.Ranking:
    return [(hit.id, hit.score) for hit in hits]


def keys(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


scores = st.integers(-6400, 6400).map(lambda number: number / 64)
rankings = st.dictionaries(st.sampled_from("abcdefgh"), scores).map(
    lambda found: list(found.items())
)
weights = st.integers(1, 64).map(lambda number: number / 64)


def test_golden_hybrid_scores() -> None:
    """Normalized, blended and aged, the golden rankings give the golden scores to 1e-12."""
    expected = golden.load("hybrid.json")
    bm25 = normalize(hits_of(expected["bm25"]))
    blended = blend(hits_of(expected["vector"]), bm25)
    aged = decay(blended, [expected["ages_days"][hit.id] for hit in blended])
    assert keys(aged) == [key for key, _ in expected["hits"]]
    assert [hit.score for hit in aged] == pytest.approx([s for _, s in expected["hits"]], abs=1e-12)


@for_all(rankings)
def test_normalizing_divides_by_the_largest(ranking: reference.Ranking) -> None:
    """The largest score becomes 1 and the others keep their proportions, order and ids."""
    largest = max((score for _, score in ranking), default=0)
    divisor = largest if largest > 0 else 1
    normalized = normalize(hits_of(ranking))
    assert ranking_of(normalized) == [(key, score / divisor) for key, score in ranking]


@pytest.mark.parametrize("scores", [[], [0.0], [-1.0, -2.0], [0.0, -5.0]])
def test_scores_that_are_not_above_zero_are_left_alone(scores: list[float]) -> None:
    """There is nothing to divide by if no score is above zero."""
    hits = [Hit(str(number), score) for number, score in enumerate(scores)]
    assert normalize(hits) == hits


@for_all(rankings, rankings, weights, weights)
def test_blending_adds_up_by_weight(
    vector: reference.Ranking, bm25: reference.Ranking, of_vector: float, of_bm25: float
) -> None:
    """A score is the weighted sum of both sides, best first; among equals vector hits come first."""
    found = blend(hits_of(vector), hits_of(bm25), vector_weight=of_vector, bm25_weight=of_bm25)
    assert ranking_of(found) == reference.blend(vector, bm25, (of_vector, of_bm25))


def test_blending_weighs_vectors_more_by_default() -> None:
    """Without other wishes the vector side counts 0.7 and the text side 0.3."""
    assert ranking_of(blend([Hit("a", 1)], [Hit("b", 1)])) == [("a", 0.7), ("b", 0.3)]
    assert blend([], []) == []
    assert ranking_of(blend([], [Hit("b", 1)])) == [("b", 0.3)]


ages = st.floats(-50, 5000)
rates = st.floats(-1, 2) | st.sampled_from([0.0, 0.995, 1.0])


@for_all(rankings, st.data(), rates)
def test_decay_multiplies_by_the_rate_for_each_day(
    ranking: reference.Ranking, data: st.DataObject, rate: float
) -> None:
    """A score fades by the rate for every day of age, never grows, and the hits are sorted again."""
    days = data.draw(st.lists(ages, min_size=len(ranking), max_size=len(ranking)))
    factors = [min(max(rate, 0.0), 1.0) ** max(age, 0) if rate > 0 else 0.0 for age in days]
    found = decay(hits_of(ranking), days, rate=rate)
    expected = {key: score * f for (key, score), f in zip(ranking, factors, strict=True)}
    assert dict(ranking_of(found)) == pytest.approx(expected)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_decay_by_default_halves_in_139_days() -> None:
    """Half of a score is left after 139 days, all of it today and tomorrow's counts as today's."""
    found = decay([Hit("old", 1), Hit("today", 1), Hit("tomorrow", 1)], [139, 0, -1])
    assert keys(found) == ["today", "tomorrow", "old"]
    assert [hit.score for hit in found] == pytest.approx([1, 1, 0.5], abs=0.002)


def test_equal_scores_keep_their_order() -> None:
    """Hits with the same score stay in the order they came in, through every step."""
    same = [Hit(key, 0.5) for key in "zyx"]
    assert keys(normalize(same)) == keys(decay(same, [3, 3, 3])) == ["z", "y", "x"]
    assert keys(threshold(same, 0.5)) == ["z", "y", "x"]
    assert keys(blend(same, [])) == keys(blend([], same)) == ["z", "y", "x"]
    assert keys(mmr(same, 3, texts=["", "", ""])) == ["z", "y", "x"]


def test_zero_is_zero_whatever_its_sign() -> None:
    """Scores that come to nothing are equal, also where one was below zero before."""
    faded = decay([Hit("below", -1), Hit("above", 1)], [1, 1], rate=0)
    assert [hit.score for hit in faded] == [0, 0]
    assert keys(faded) == ["below", "above"]


@for_all(rankings, scores.filter(lambda least: least > 0))
def test_a_threshold_keeps_scores_that_reach_it(ranking: reference.Ranking, least: float) -> None:
    """Plain hits are kept if their score is at least the minimum, in order and with their scores."""
    found = threshold(hits_of(ranking), least)
    assert ranking_of(found) == [(key, score) for key, score in ranking if score >= least]


@for_all(rankings, scores.filter(lambda least: least <= 0))
def test_a_threshold_of_zero_keeps_everything(ranking: reference.Ranking, least: float) -> None:
    """A minimum of 0 or less lets every hit pass, those with scores below it too."""
    assert ranking_of(threshold(hits_of(ranking), least)) == ranking


def test_a_threshold_measures_a_hit_on_its_own_scale() -> None:
    """A hit of one side only is not held to the weight of the other side."""
    blended = blend([Hit("vector", 0.5), Hit("both", 0.5)], [Hit("text", 0.5), Hit("both", 0.4)])
    assert keys(blended) == ["both", "vector", "text"]
    kept = threshold(blended, 0.499)
    assert keys(kept) == ["vector", "text"]
    assert [hit.score for hit in kept] == pytest.approx([0.35, 0.15])
    assert keys(threshold(blended, 0.45)) == ["both", "vector", "text"]
    assert keys(threshold(decay(blended, [0, 0, 999]), 0.45)) == ["both", "vector"]


words = st.sampled_from(["the port", "The  port", "is 8443", "支付回调", "x"])
texts = st.lists(words, max_size=3).map(" ".join)


@for_all(st.lists(st.tuples(scores, texts), max_size=10), st.integers(0, 12), st.floats(0, 1))
def test_mmr_by_texts_equals_its_reference(
    items: list[tuple[float, str]], k: int, balance: float
) -> None:
    """The order of choice by common trigrams is that of comparing everything again at each step."""
    numbers, texts = [score for score, _ in items], [text for _, text in items]
    hits = [Hit(str(at), score) for at, score in enumerate(numbers)]
    order = reference.mmr(numbers, k, balance, lambda a, b: reference.likeness(texts[a], texts[b]))
    found = mmr(hits, k, balance=balance, texts=texts)
    assert ranking_of(found) == [(str(at), numbers[at]) for at in order]


small = st.lists(st.integers(-3, 3), min_size=2, max_size=2)


@for_all(st.lists(st.tuples(scores, small), min_size=1, max_size=10), st.integers(0, 12))
def test_mmr_by_vectors_equals_its_reference(items: list[tuple[float, list[int]]], k: int) -> None:
    """The order of choice by cosine is that of comparing everything again at each step."""
    numbers, vectors = [score for score, _ in items], np.array([row for _, row in items])
    hits = [Hit(str(at), score) for at, score in enumerate(numbers)]

    def cosine(a: int, b: int) -> float:
        lengths = math.hypot(*vectors[a]) * math.hypot(*vectors[b])
        return float(vectors[a] @ vectors[b]) / lengths if lengths else 0.0

    order = reference.mmr(numbers, k, 0.7, cosine)
    assert keys(mmr(hits, k, vectors=vectors)) == [str(at) for at in order]


def test_mmr_demotes_similar_texts() -> None:
    """A near duplicate waits until something else was chosen, unless relevance alone counts."""
    hits = [Hit("port", 1), Hit("again", 0.95), Hit("cache", 0.7), Hit("hello", 0.1)]
    texts = ["the port is 8443", "The  port is 8443", "use redis for the cache", "hello"]
    assert keys(mmr(hits, 2, texts=texts)) == ["port", "cache"]
    assert keys(mmr(hits, 2, texts=texts, balance=1)) == ["port", "again"]
    assert keys(mmr(hits, 4, texts=texts))[:2] == ["port", "cache"]
    assert keys(mmr(hits, 2, vectors=[[1, 0], [1, 0], [0, 1], [1, 1]])) == ["port", "cache"]


def test_mmr_chooses_at_most_the_hits_given() -> None:
    """Nothing is chosen from nothing, or when nothing is asked for; no hit is chosen twice."""
    hits = [Hit("a", 1), Hit("b", 0.5)]
    assert mmr([], 3, texts=[]) == mmr(hits, 0, texts=["x", "y"]) == []
    assert mmr([], 3, vectors=np.zeros((0, 2))) == []
    assert sorted(keys(mmr(hits, sys.maxsize, texts=["x", "y"]))) == ["a", "b"]


def test_every_step_explains_itself() -> None:
    """The explanation of a hit begins with the last step and leads back to the scores it began with."""
    bm25 = normalize([Hit("a", 4), Hit("b", 2)])
    found = decay(blend([Hit("a", 0.5)], bm25), [2, 0])
    by_name = {hit.id: hit.explain for hit in mmr(threshold(found, 0.1), 2, texts=["x", "y"])}
    assert [line.split(" ", 1)[1] for line in str(by_name["a"]).replace("  ", "").splitlines()] == [
        "mmr",
        "relevance",
        "calibrated, at least 0.1",
        "decayed",
        "blend",
        "vector side",
        "score",
        "weight",
        "text side",
        "normalized",
        "score",
        "divided by the largest",
        "weight",
        "age of 2.0 days",
        "weights that contributed",
        "similarity to hits chosen before",
    ]


@for_all(rankings, rankings, rates)
def test_explanations_give_the_score(
    vector: reference.Ranking, bm25: reference.Ranking, rate: float
) -> None:
    """After each step that changes scores the explanation has the very score of its hit."""
    steps = [normalize(hits_of(bm25))]
    steps.append(blend(hits_of(vector), steps[-1]))
    steps.append(decay(steps[-1], [float(age) for age in range(len(steps[-1]))], rate=rate))
    for hit in itertools.chain.from_iterable(steps):
        assert hit.explain.value == hit.score
    for hit in steps[1]:
        assert sum(part.value for part in hit.explain.parts) == hit.score


@pytest.mark.parametrize("score", [math.inf, -math.inf])
def test_no_step_makes_a_score_that_is_no_number(score: float) -> None:
    """A score that is infinite is refused, so no step can make one that is no number."""
    with pytest.raises(VectorError, match="must be a finite number"):
        Hit("a", score)


def test_weights_that_are_no_numbers_make_no_scores() -> None:
    """A weight of NaN is refused; an age of NaN counts as none and a rate of NaN leaves nothing."""
    with pytest.raises(ConfigError, match="vector_weight must be a finite number"):
        blend([Hit("a", 1)], [Hit("b", 1)], vector_weight=math.nan)
    assert [hit.score for hit in decay([Hit("a", 1)], [math.nan])] == [1]
    assert [hit.score for hit in decay([Hit("a", 1)], [1], rate=math.nan)] == [0]


def test_hits_are_never_changed() -> None:
    """Each step makes new hits and leaves those it was given as they are."""
    hits = [Hit("a", 4), Hit("b", 2)]
    for found in (normalize(hits), blend(hits, []), decay(hits, [5, 5]), threshold(hits, 1)):
        assert keys(found) == ["a", "b"]
    assert hits == [Hit("a", 4), Hit("b", 2)]

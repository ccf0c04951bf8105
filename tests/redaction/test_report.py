"""Redaction quality: recall of secrets, and harm to look-alikes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .fresh import FRESH
from .report import SEED, score, survives
from .tuned import TUNED

if TYPE_CHECKING:
    from .corpus import Corpus

BARS = {"prefix": 0.99, "structural": 0.98, "context": 0.97, "prose": 0.9}
UNTOUCHED = 0.995
KEPT = 0.999


@pytest.mark.parametrize(
    ("corpus", "held_out"),
    [(TUNED, False), (TUNED, True), (FRESH, False)],
    ids=["tuned", "tuned-held-out", "fresh"],
)
def test_redaction_meets_recall_and_harm_limits(corpus: Corpus, held_out: bool) -> None:
    result = score(corpus, SEED, held_out=held_out)
    below = {group: share for group, share in result.recall.items() if share < BARS[group]}
    assert below == {}, result.missed
    assert result.untouched >= UNTOUCHED, result.damaged
    assert result.kept >= KEPT


@pytest.mark.parametrize("corpus", [TUNED, FRESH], ids=["tuned", "fresh"])
def test_redaction_corpus_is_wide(corpus: Corpus) -> None:
    assert set(BARS) == {kind.group for kind in corpus.secrets}
    assert len({kind.name for kind in corpus.secrets}) == len(corpus.secrets) >= 150
    names = {look_alike.name for look_alike in corpus.look_alikes}
    assert len(names) == len(corpus.look_alikes) >= 50


def test_tuned_and_fresh_sets_share_no_kind_of_token() -> None:
    tokens = [
        {kind.name for kind in corpus.secrets if kind.group == "prefix"}
        for corpus in (TUNED, FRESH)
    ]
    assert tokens[0].isdisjoint(tokens[1])


def test_eight_characters_give_a_secret_away() -> None:
    assert survives("k3jf9slwq0pl", "so 9slwq0pl remains")
    assert not survives("k3jf9slwq0pl", "so slwq0pl remains")

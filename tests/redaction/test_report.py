"""The bars: what must be found, and what must be left alone."""

from __future__ import annotations

import pytest

from . import look_alikes, secrets
from .report import SEED, score, survives

BARS = {"prefix": 0.99, "structural": 0.97, "context": 0.95, "prose": 0.9}


@pytest.mark.parametrize("held_out", [False, True], ids=["usual", "held-out"])
def test_bars_hold(held_out: bool) -> None:
    result = score(SEED, held_out=held_out)
    below = {group: share for group, share in result.recall.items() if share < BARS[group]}
    assert below == {}, result.missed
    assert result.untouched >= 0.99, result.damaged
    assert result.kept >= 0.995


def test_corpus_is_wide() -> None:
    assert set(BARS) == {kind.group for kind in secrets.KINDS}
    assert len({kind.name for kind in secrets.KINDS}) == len(secrets.KINDS) >= 150
    assert len({kind.name for kind in look_alikes.KINDS}) == len(look_alikes.KINDS) >= 75


def test_eight_characters_give_a_secret_away() -> None:
    assert survives("k3jf9slwq0pl", "so 9slwq0pl remains")
    assert not survives("k3jf9slwq0pl", "so slwq0pl remains")

"""What a new statement does to an old one, over the suite."""

from __future__ import annotations

from . import contradictions
from .contradictions import Pair

ACCURACY = {"tuned": 0.96, "held_out": 0.97}


def share_right(suite: list[Pair]) -> float:
    return sum(pair.outcome() == pair.expected for pair in suite) / len(suite)


def test_the_suite_is_large_and_a_good_part_of_it_is_held_out() -> None:
    suite = contradictions.pairs()
    held_out = [pair for pair in suite if pair.part == "held_out"]
    assert len(suite) >= 250
    assert len(held_out) >= 80
    assert len({(pair.old, pair.new) for pair in suite}) == len(suite)


def test_no_correction_is_lost() -> None:
    assert [pair for pair in contradictions.pairs() if pair.is_lost] == []


def test_most_are_judged_as_a_person_would() -> None:
    suite = contradictions.pairs()
    print(contradictions.table(suite))
    for part, least in ACCURACY.items():
        assert share_right([pair for pair in suite if pair.part == part]) >= least, part


def test_what_is_said_again_is_known() -> None:
    """Both statements of every pair, said once more and said louder."""
    for pair in contradictions.pairs():
        for text in (pair.old, pair.new):
            for again in (text, f"  {text.upper() if text.isascii() else text}. "):
                if "/" not in text:  # case matters in a path
                    assert Pair("", "tuned", text, again, "none").outcome() == "none", text

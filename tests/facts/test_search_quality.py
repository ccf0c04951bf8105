"""Quality of fact search over the question set: recall, and silence on unrelated questions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from . import crowd, search_quality

if TYPE_CHECKING:
    from pathlib import Path

# (recall at 5, silence): what is reached, no less.
CHOSEN_BY = (0.95, 1.0)
HELD_OUT = (1.0, 1.0)


@pytest.mark.parametrize(
    ("held_out", "least"), [(False, CHOSEN_BY), (True, HELD_OUT)], ids=["chosen by", "held out"]
)
def test_questions_find_their_facts_and_unrelated_questions_nothing(
    tmp_path: Path, *, held_out: bool, least: tuple[float, float]
) -> None:
    results = search_quality.scores(tmp_path, held_out=held_out)
    sys.stdout.write(f"\n{search_quality.table(results)}\n")
    recall, silence = search_quality.overall(results)
    assert recall >= least[0]
    assert silence >= least[1]


def test_questions_find_their_facts_among_ten_thousand_others(tmp_path: Path) -> None:
    results = search_quality.scores(tmp_path, crowd=crowd.sentences(10_000))
    sys.stdout.write(f"\n{search_quality.table(results)}\n")
    recall, silence = search_quality.overall(results)
    assert recall >= CHOSEN_BY[0]
    assert silence >= CHOSEN_BY[1]


def test_the_question_set_is_large_and_consistent() -> None:
    asked = search_quality.read()
    questions = {
        q: wanted for language in asked["questions"].values() for q, wanted in language.items()
    }
    assert len(asked["facts"]) >= 60
    assert len(questions) >= 40
    assert {name for wanted in questions.values() for name in wanted} <= asked["facts"].keys()

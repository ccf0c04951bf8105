"""Simulation of a long conversation in a small window: nothing is refused, nothing is lost."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from .play import Figures, play
from .story import Plan, Story

if TYPE_CHECKING:
    from pathlib import Path

BOUNDED = Plan(
    turns=50,
    window=24_000,
    facts=12,
    result_lines=(4, 40),
    outage_at=22,
    kills=(("summary", 15),),
    dips=((30, 46, 0.3),),
    huge=(10,),
    attempts=1,
)
FULL = Plan(
    turns=500,
    window=200_000,
    facts=48,
    result_lines=(40, 400),
    outage_at=250,
    kills=(("summary", 120), ("answer", 300)),
    dips=((180, 210, 0.45), (400, 415, 0.6)),
    huge=(90, 350),
)


def check(figures: Figures) -> None:
    """Check the invariants of any story with any kills."""
    assert not figures.failures, figures.failures
    assert not figures.refused, figures.refused
    assert not figures.of("memory failed")
    assert not figures.missing, figures.missing[:3]
    assert figures.left > figures.said / 2, "most of it should have left the context"
    assert figures.of("ended"), "a kill may come between the end and the exit"
    assert figures.counts["outage"] > 0
    assert figures.counts["overflow of answer"] > 0, "the window was never really full"
    assert all(each["after"] < each["before"] for each in figures.compactions)
    assert all(each["is_rebuilt"] for each in figures.compactions), (
        "the session file says otherwise"
    )
    assert figures.notes >= 1


def check_events(figures: Figures) -> None:
    """Check the agent's figures, where no kill cut them short."""
    assert figures.restarts == len(figures.plan.kills)
    assert any(each["fallback_level"] == "fixed" for each in figures.compactions), (
        "the outage had no effect"
    )
    assert any(each["reason"] == "overflow" for each in figures.compactions)
    assert any(each["outcome"] == "written" for each in figures.of("notes"))
    assert max(figures.notes_turns) == 1, "once before each compaction"
    counted = figures.of("ended")[0]["compactions"]
    assert counted == len(figures.compactions), "the counters on the disk say otherwise"


@pytest.mark.slow
def test_every_fact_of_the_story_is_stated_once() -> None:
    """Else finding one would prove nothing."""
    story = Story(FULL)
    rounds = [story.round(number) for number in range(FULL.turns)]
    texts = [
        text
        for found in rounds
        for text in (
            found.ask,
            *(step.text for step in found.steps),
            *(call.result for step in found.steps for call in step.calls),
        )
    ]
    assert len(set(texts)) == len(texts)
    for fact in story.facts:
        assert sum(fact.value in text for text in texts) == 1, fact
        assert fact.value not in fact.question


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
@pytest.mark.slow
def test_simulation_of_fifty_turns(tmp_path: Path) -> None:
    figures = play(tmp_path, BOUNDED, limit=100)
    print(f"\n{figures}")
    check(figures)
    check_events(figures)
    assert len(figures.compactions) >= 5
    assert figures.at_once >= 0.5
    assert figures.in_the_end >= 0.75


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
@pytest.mark.simulation
@pytest.mark.timeout(1_200)
def test_simulation_of_five_hundred_turns(tmp_path: Path) -> None:
    figures = play(tmp_path, FULL, limit=1_100)
    print(f"\n{figures}")
    check(figures)
    check_events(figures)
    assert len(figures.compactions) >= 6
    assert figures.at_once >= 0.6
    assert figures.in_the_end >= 0.75


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
@pytest.mark.simulation
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 104))
def test_simulation_with_kills_at_any_moment(seed: int, tmp_path: Path) -> None:
    figures = play(tmp_path, replace(BOUNDED, kills=(), stray_kills=12, seed=seed), limit=500)
    print(f"\n{figures}")
    check(figures)
    assert figures.restarts >= 6

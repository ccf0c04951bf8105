"""What is known at the end of a session, and what was held to be true before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.replay.number import counted
from memctx.replay.page.markup import Markup, tag

if TYPE_CHECKING:
    from memctx.replay.result import FactThread, Replay, Stated


def facts(replay: Replay) -> Markup:
    """Every fact with its history."""
    corrected = sum(len(thread.states) > 1 for thread in replay.facts)
    lead = (
        f"{counted(len(replay.facts), 'fact')} known at the end, {corrected:,} of them after a correction."
        if replay.facts
        else "No facts were found in this session."
    )
    threads = [tag("ol", *map(_thread, replay.facts), class_="threads")] if replay.facts else []
    return tag("section", tag("h2", "Facts"), tag("p", lead, class_="lead"), *threads)


def _thread(thread: FactThread) -> Markup:
    *earlier, now = thread.states
    return tag(
        "li",
        tag("span", thread.type, class_="role"),
        tag("div", *(_state(state, "s") for state in earlier), _state(now, "strong")),
    )


def _state(state: Stated, element: str) -> Markup:
    when = "" if state.turn is None else f"turn {state.turn}"
    return tag("p", tag(element, state.content), " ", tag("span", when, class_="note"))

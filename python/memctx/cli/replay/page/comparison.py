"""Replays of one session side by side: their key figures, their charts and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx._html import Markup, tag
from memctx.cli.formatting import format_compact, format_count, format_milliseconds
from memctx.cli.replay.page import chart, figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx.cli.replay.result import Replay

    Named = Sequence[tuple[str, str, Replay]]

TIMES = "\N{MULTIPLICATION SIGN}"


def header(replays: Named) -> Markup:
    """Return the header: the session and its size."""
    first = replays[0][2]
    size = f"{format_count(first.messages, 'message')} · {format_count(len(first.turns), 'turn')}"
    return tag(
        "header",
        tag("p", "memctx comparison", class_="over"),
        tag("h1", first.name),
        tag("p", size, class_="facts"),
    )


def table(replays: Named) -> Markup:
    """Return the key figures, one column for each replay."""
    head = tag("tr", tag("td", ""), *(tag("th", name, scope="col") for name, _, _ in replays))
    rows = [
        tag(
            "tr",
            tag("th", title, scope="row"),
            *(tag("td", figure(replay)) for _, _, replay in replays),
        )
        for title, figure in FIGURES.items()
    ]
    body = tag("table", tag("thead", head), tag("tbody", *rows), class_="compared")
    return chart.figure("Key figures", "The same session with each of the settings.", body)


def column(named: tuple[str, str, Replay]) -> Markup:
    """Return the chart of prompt sizes and the settings of one replay, under its name."""
    name, words, replay = named
    settings = tag("section", tag("h2", "Settings"), tag("pre", words or "# the defaults"))
    return tag("section", tag("p", name, class_="over"), figures.context(replay), settings)


FIGURES: dict[str, Callable[[Replay], str]] = {
    "Window": lambda replay: "none" if replay.window is None else f"{replay.window:,} tokens",
    "Largest prompt": lambda replay: format_compact(
        max((turn.tokens.after for turn in replay.turns), default=0)
    ),
    "Tokens sent": lambda replay: format_compact(sum(turn.tokens.after for turn in replay.turns)),
    "Left the context": lambda replay: format_count(
        sum(len(unit.messages) for turn in replay.turns for unit in turn.trimmed), "message"
    ),
    "Brought back": lambda replay: format_count(
        sum(len(turn.recalled) for turn in replay.turns), "item"
    ),
    "Turns with recall": lambda replay: str(sum(bool(turn.recalled) for turn in replay.turns)),
    "Read from cache": lambda replay: f"{replay.cached_share:.0%}",
    "Cache breaks": lambda replay: str(replay.breaks),
    "Cost of input": lambda replay: (
        f"{format_compact(replay.cost)} ({replay.cost / (replay.unedited_cost or 1):.2f}{TIMES} of unedited)"
    ),
    "Added per turn": lambda replay: format_milliseconds(replay.latency(0.5)),
    "Facts": lambda replay: str(len(replay.facts)),
}
"""Rows of the table, each with the function that returns its text."""

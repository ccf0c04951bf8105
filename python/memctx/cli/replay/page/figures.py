"""The charts of a replay, over a common axis of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx._html import Markup, tag
from memctx.cli.formatting import format_compact, format_count, format_milliseconds
from memctx.cli.replay.page import chart

if TYPE_CHECKING:
    from memctx.cli.replay.result import Replay

# Free space above the highest value of a chart.
HEADROOM = 1.08
# Upper bound of the axis, as a multiple of the 95th percentile.
OUTLIER = 4
STEPS = {
    "read": "read the messages",
    "cut": "decide what to remove",
    "recall": "search the store",
    "assemble": "put the prompt together",
    "check": "check it as the provider will",
    "keep": "hand over to the archive",
}


def context(replay: Replay) -> Markup:
    """Return the chart of prompt sizes and the host's unedited sizes."""
    turns = replay.turns
    if not turns:
        return Markup()
    sent = [float(turn.tokens.after) for turn in turns]
    said = [float(turn.tokens.after - turn.tokens.recalled) for turn in turns]
    host = [float(turn.tokens.before) for turn in turns]
    bound = max(*sent, replay.window or 0, 1)
    top = HEADROOM * (bound if replay.window else max(bound, *host))
    layers = [
        chart.area(said, top, "sent"),
        chart.area(sent, top, "recalled", floor=said),
        chart.line(host, top, "host"),
    ]
    legend = [("sent", "sent"), ("host", _unedited(host, top))]
    if said != sent:
        legend.insert(1, ("recalled", "of it recalled"))
    if replay.limit is not None:
        layers.append(chart.level(replay.limit, top, len(turns), "limit"))
        legend.append(("limit", f"a trim starts at {format_compact(replay.limit)}"))
    if replay.window is not None:
        layers.append(chart.level(replay.window, top, len(turns), "window"))
        legend.append(("window", f"window {format_compact(replay.window)}"))
    strips = _strips(replay)
    below = "; below them, the turns in which something was decided" if strips else ""
    return chart.figure(
        "Context size",
        f"Tokens of every prompt, turn by turn{below}.",
        chart.legend(*legend),
        chart.plot(
            layers,
            turns=len(turns),
            top=top,
            unit=format_compact,
            css="tall",
            label=f"Tokens sent in each of {format_count(len(turns), 'turn')}, at most {format_compact(max(sent))}",
        ),
        *strips,
        chart.axis(len(turns)),
        tag(
            "div",
            tag("span", "Save this chart as ", class_="note"),
            tag(
                "button", "SVG", type="button", data_save="svg", aria_label="Save this chart as SVG"
            ),
            tag(
                "button", "PNG", type="button", data_save="png", aria_label="Save this chart as PNG"
            ),
            class_="save",
            hidden=True,
        ),
    )


def _strips(replay: Replay) -> list[Markup]:
    """Return a row of marks for each kind of decision that occurs."""
    rows = (
        ("shortened", "pruned", [bool(turn.pruned) for turn in replay.turns]),
        ("trimmed", "trimmed", [bool(turn.trimmed) for turn in replay.turns]),
        ("recalled", "returned", [bool(turn.recalled) for turn in replay.turns]),
    )
    return [chart.strip(name, marked, css) for name, css, marked in rows if any(marked)]


def _unedited(host: list[float], top: float) -> str:
    leaves = ", off the chart" if max(host) > top else ""
    return f"unedited, up to {format_compact(max(host))}{leaves}"


def cache(replay: Replay) -> Markup:
    """Return the chart of cached and new tokens."""
    turns = replay.turns
    if not turns:
        return Markup()
    sent = [float(turn.tokens.after) for turn in turns]
    cached = [float(turn.cached_tokens) for turn in turns]
    top = HEADROOM * max(*sent, 1)
    return chart.figure(
        "Prompt cache",
        "The prefix that a prompt shares with the one before is read from the provider's cache; the rest is written.",
        chart.legend(
            ("cached", f"read, {replay.cached_share:.0%}"),
            ("written", f"written, {1 - replay.cached_share:.0%}"),
        ),
        chart.plot(
            [chart.area(cached, top, "cached"), chart.area(sent, top, "written", floor=cached)],
            turns=len(turns),
            top=top,
            unit=format_compact,
            label=f"{replay.cached_share:.0%} of all tokens are read from the cache",
        ),
        chart.axis(len(turns)),
    )


def latency(replay: Replay) -> Markup:
    """Return the chart of added latency."""
    turns = replay.turns
    if not turns:
        return Markup()
    took = [turn.latency for turn in turns]
    slow, most = replay.latency(0.95), max(took)
    # One slow turn must not flatten all others.
    top = HEADROOM * max(min(most, OUTLIER * slow), 1.0)
    longest = f"longest {format_milliseconds(most)}{', off the chart' if most > top else ''}"
    return chart.figure(
        "Latency",
        "Time that memory takes before each call of the model.",
        chart.legend(
            ("took", f"milliseconds, {longest}"),
            ("limit", f"95% within {format_milliseconds(slow)}"),
        ),
        chart.plot(
            [chart.area(took, top, "took"), chart.level(slow, top, len(turns), "limit")],
            turns=len(turns),
            top=top,
            unit=lambda value: f"{value:g}",
            label=f"Half of the turns take up to {format_milliseconds(replay.latency())}",
        ),
        chart.axis(len(turns)),
        _steps(replay),
    )


def _steps(replay: Replay) -> Markup:
    """Return the table of latency by step."""
    known = {step for turn in replay.turns for step in turn.milliseconds}
    rows = [
        tag(
            "tr",
            tag("th", words, scope="row"),
            *(tag("td", f"{replay.latency(share, step):.2f}") for share in (0.5, 0.95, 1.0)),
        )
        for step, words in STEPS.items()
        if step in known
    ]
    head = tag(
        "tr", *(tag("th", name, scope="col") for name in ("step", "median", "95%", "longest"))
    )
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag(
        "details",
        tag("summary", "Where the time goes, in milliseconds"),
        tag("div", table, class_="wide"),
        class_="more",
    )


def readout(replay: Replay) -> list[list[Any]]:
    """Return the readout of each turn for the page's script."""
    return [
        [
            turn.messages,
            turn.tokens.before,
            turn.tokens.after,
            turn.cached_tokens,
            round(turn.latency, 1),
            len(turn.pruned),
            sum(len(gone.messages) for gone in turn.trimmed),
            len(turn.recalled),
        ]
        for turn in replay.turns
    ]

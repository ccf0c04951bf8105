"""The charts of a replay, one over the other, all with the same turns from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.replay.number import counted, milliseconds, short
from memctx.replay.page import chart
from memctx.replay.page.markup import Markup, tag

if TYPE_CHECKING:
    from memctx.replay.result import Replay

# What stands free over the highest thing in a chart.
HEADROOM = 1.08
# As many times the latency that nearly all turns stay within.
OUTLIER = 4
STEPS = {
    "scan": "read the messages",
    "cut": "decide what leaves",
    "recall": "search the store",
    "assemble": "put the prompt together",
    "check": "check it as the provider will",
    "keep": "hand over to the archive",
}


def context(replay: Replay) -> Markup:
    """The size of every prompt beside what the host had."""
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
        legend.append(("limit", f"a trim starts at {short(replay.limit)}"))
    if replay.window is not None:
        layers.append(chart.level(replay.window, top, len(turns), "window"))
        legend.append(("window", f"window {short(replay.window)}"))
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
            unit=short,
            css="tall",
            label=f"Tokens sent in each of {counted(len(turns), 'turn')}, at most {short(max(sent))}",
        ),
        *strips,
        chart.axis(len(turns)),
    )


def _strips(replay: Replay) -> list[Markup]:
    """Where something was decided, a row for each kind of which there is any."""
    rows = (
        ("shortened", "pruned", [bool(turn.pruned) for turn in replay.turns]),
        ("trimmed", "trimmed", [bool(turn.trimmed) for turn in replay.turns]),
        ("recalled", "returned", [bool(turn.recalled) for turn in replay.turns]),
    )
    return [chart.strip(name, marked, css) for name, css, marked in rows if any(marked)]


def _unedited(host: list[float], top: float) -> str:
    leaves = ", off the chart" if max(host) > top else ""
    return f"unedited, up to {short(max(host))}{leaves}"


def cache(replay: Replay) -> Markup:
    """What of every prompt was sent before."""
    turns = replay.turns
    if not turns:
        return Markup()
    sent = [float(turn.tokens.after) for turn in turns]
    cached = [float(turn.cached_tokens) for turn in turns]
    top = HEADROOM * max(*sent, 1)
    return chart.figure(
        "Prompt cache",
        "What each prompt has in common with the one before it is read from the provider's cache; the rest is written.",
        chart.legend(
            ("cached", f"read, {replay.cached_share:.0%}"),
            ("written", f"written, {1 - replay.cached_share:.0%}"),
        ),
        chart.plot(
            [chart.area(cached, top, "cached"), chart.area(sent, top, "written", floor=cached)],
            turns=len(turns),
            top=top,
            unit=short,
            label=f"{replay.cached_share:.0%} of all tokens are read from the cache",
        ),
        chart.axis(len(turns)),
    )


def latency(replay: Replay) -> Markup:
    """What memory added to every turn."""
    turns = replay.turns
    if not turns:
        return Markup()
    took = [turn.latency for turn in turns]
    slow, most = replay.latency(0.95), max(took)
    # One turn that the machine held up must not flatten all others.
    top = HEADROOM * max(min(most, OUTLIER * slow), 1.0)
    longest = f"longest {milliseconds(most)}{', off the chart' if most > top else ''}"
    return chart.figure(
        "Latency",
        "What memory takes before each call of the model.",
        chart.legend(
            ("took", f"milliseconds, {longest}"), ("limit", f"95 % within {milliseconds(slow)}")
        ),
        chart.plot(
            [chart.area(took, top, "took"), chart.level(slow, top, len(turns), "limit")],
            turns=len(turns),
            top=top,
            unit=lambda value: f"{value:g}",
            label=f"Half of the turns take up to {milliseconds(replay.latency())}",
        ),
        chart.axis(len(turns)),
        _steps(replay),
    )


def _steps(replay: Replay) -> Markup:
    """Where the time goes."""
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
    head = tag("tr", *(tag("th", name, scope="col") for name in ("step", "median", "95 %", "most")))
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag(
        "details",
        tag("summary", "Where the time goes, in milliseconds"),
        tag("div", table, class_="wide"),
        class_="more",
    )


def readout(replay: Replay) -> list[list[Any]]:
    """What the page says of the turn that is pointed at."""
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

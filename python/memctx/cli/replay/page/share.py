"""The chart of a replay as a picture that stands for itself, by day and by night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx._html import Markup, tag
from memctx.cli.formatting import format_compact
from memctx.cli.replay.page.chart import axis_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.cli.replay.result import Replay

WIDTH, HEIGHT = 880, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 92, 316
NAME_CHARS = 70
# A session this many times its window leaves room for words between the two.
LARGE = 2
STYLE = """
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57534a; }
.title { font-size: 19px; font-weight: 650; fill: #211f1b; }
.paper { fill: #ffffff; } .grid { stroke: #e5e1d8; } .sent { fill: #2a7a72; fill-opacity: .8; }
.recalled { fill: #6b4bd6; } .host { stroke: #8b877d; } .window { stroke: #b3261e; stroke-dasharray: 6 5; }
.mark { stroke: #6b4bd6; } .line { fill: none; stroke-width: 2; } .grid { stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  text { fill: #b5b0a5; } .title { fill: #ebe8e1; } .paper { fill: #1d1c19; } .grid { stroke: #35322d; }
  .sent { fill: #56b3a8; } .recalled { fill: #ab95ff; } .host { stroke: #98948a; } .window { stroke: #ff8278; }
  .mark { stroke: #ab95ff; }
}
"""


def svg(replay: Replay, title: str = "") -> str:
    """Return the chart of prompt sizes as an SVG document with a title and labels.

    >>> from memctx.cli.replay import replay
    >>> svg(replay([{"role": "user", "content": "Which port?"}]))[:4]
    '<svg'
    """
    turns = replay.turns
    name = title or replay.name
    name = name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"
    grown = max((turn.tokens.before for turn in turns), default=0)
    is_large = bool(replay.window) and grown > LARGE * (replay.window or 0)
    top = 1.06 * max(grown, replay.window or 0, 1)
    said = [turn.tokens.after - turn.tokens.recalled for turn in turns]
    sent = [turn.tokens.after for turn in turns]
    count = max(len(turns), 1)
    marks = "".join(
        f"M{_x(at + 0.5, count)} {BOTTOM + 8}v8" for at, turn in enumerate(turns) if turn.recalled
    )
    return tag(
        "svg",
        tag(
            "title",
            f"{name}: it grew to {grown:,} tokens, at most {max(sent, default=0):,} were sent",
        ),
        tag("style", Markup(STYLE)),
        tag("rect", width=WIDTH, height=HEIGHT, rx=10, class_="paper"),
        tag("text", name, x=24, y=36, class_="title"),
        *_legend(replay, grown),
        *_grid(top),
        tag("path", d=_area(said, [0] * len(said), top), class_="sent"),
        tag("path", d=_area(sent, said, top), class_="recalled"),
        tag("path", d=_line([turn.tokens.before for turn in turns], top), class_="host line"),
        tag("path", d=f"M{LEFT} {_y(replay.window, top)}H{WIDTH - RIGHT}", class_="window line")
        if replay.window
        else "",
        *(_lost(replay.window or 0, grown, top) if is_large else ()),
        tag("path", d=marks, class_="mark line"),
        tag("text", "calls of the model", x=LEFT, y=BOTTOM + 42),
        tag("text", f"{len(turns):,}", x=WIDTH - RIGHT, y=BOTTOM + 42, text_anchor="end"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
        role="img",
    )


def _lost(window: int, grown: int, top: float) -> Iterator[str]:
    """Yield the words for what has left the window."""
    gone = format_compact(grown - window)
    middle = (float(_y(window, top)) + float(_y(grown * 0.86, top))) / 2
    words = (f"{gone} tokens no longer fit:", "truncation forgets them, memctx keeps them")
    for number, line in enumerate(words):
        yield tag(
            "text", line, x=WIDTH - RIGHT - 16, y=f"{middle + 20 * number:.0f}", text_anchor="end"
        )


def _legend(replay: Replay, grown: int) -> Iterator[str]:
    entries = [
        ("host line", f"the session, {format_compact(grown)} tokens", True),
        ("sent", "sent with memctx", False),
        ("recalled", "of it recalled", False),
    ]
    if replay.window:
        entries.append(("window line", f"window {format_compact(replay.window)}", True))
    x = 24
    for css, words, is_line in entries:
        shape = f"M{x} 60h18" if is_line else f"M{x} 55h18v10h-18z"
        yield tag("path", d=shape, class_=css)
        yield tag("text", words, x=x + 26, y=65)
        x += 52 + 7 * len(words)


def _grid(top: float) -> Iterator[str]:
    for level in axis_ticks(top):
        y = _y(level, top)
        yield tag("path", d=f"M{LEFT} {y}H{WIDTH - RIGHT}", class_="grid line")
        yield tag("text", format_compact(level), x=LEFT - 10, y=float(y) + 5, text_anchor="end")


def _area(upper: Sequence[int], lower: Sequence[int], top: float) -> str:
    """Return columns from ``lower`` to ``upper``."""
    count = len(upper)
    if not count:
        return ""
    up = "".join(f"V{_y(value, top)}H{_x(at, count)}" for at, value in enumerate(upper, start=1))
    down = "".join(
        f"V{_y(value, top)}H{_x(at, count)}" for at, value in reversed(list(enumerate(lower)))
    )
    return f"M{LEFT} {_y(lower[0], top)}{up}{down}Z"


def _line(values: Sequence[int], top: float) -> str:
    points = (f"{_x(at + 0.5, len(values))} {_y(value, top)}" for at, value in enumerate(values))
    return f"M{'L'.join(points)}" if values else ""


def _x(at: float, count: int) -> str:
    return f"{LEFT + at / count * (WIDTH - LEFT - RIGHT):.1f}"


def _y(value: float, top: float) -> str:
    return f"{BOTTOM - value / top * (BOTTOM - TOP):.1f}"

"""Charts over turns: drawings that stretch to the available width, with HTML labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx._html import Markup, join, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

HEIGHT = 100


def plot(  # noqa: PLR0913 - a drawing and its words
    layers: Iterable[str],
    *,
    turns: int,
    top: float,
    label: str,
    unit: Callable[[float], str],
    css: str = "",
) -> Markup:
    """Return a chart of layers with labels at both axes."""
    levels = axis_ticks(top)
    grid = Markup("".join(f"M0 {_y(level, top)}H{turns}" for level in levels))
    drawing = tag(
        "svg",
        tag("path", d=grid, class_="grid"),
        *layers,
        viewBox=f"0 0 {turns} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )
    scale = [
        tag("span", unit(level), style=f"top:{_y(level, top)}%", class_="y") for level in levels
    ]
    return tag("div", *scale, drawing, class_=f"plot {css}".strip(), data_turns=turns, tabindex=0)


def axis(turns: int) -> Markup:
    """Return the axis of turn numbers."""
    places = [int(level) for level in axis_ticks(turns, 8) if level >= 1 and level == int(level)]
    marks = [
        tag(
            "span",
            str(place),
            class_="x minor" if index % 2 else "x",
            style=f"left:{(place - 0.5) / turns * 100:.2f}%",
        )
        for index, place in enumerate(places)
    ]
    return tag("div", *marks, class_="axis", aria_hidden="true")


def area(values: Sequence[float], top: float, css: str, floor: Sequence[float] = ()) -> Markup:
    """Return a column for every turn, stacked on ``floor``."""
    upper = "".join(f"V{_y(value, top)}H{place}" for place, value in enumerate(values, start=1))
    if not floor:
        return tag("path", d=f"M0 {HEIGHT}{upper}V{HEIGHT}Z", class_=css)
    lower = "".join(
        f"V{_y(value, top)}H{place}" for place, value in reversed(list(enumerate(floor)))
    )
    return tag("path", d=f"M0 {_y(floor[0], top)}{upper}{lower}Z", class_=css)


def line(values: Sequence[float], top: float, css: str) -> Markup:
    """Return the upper edge of a row of columns."""
    steps = "".join(f"V{_y(value, top)}H{place}" for place, value in enumerate(values, start=1))
    return tag("path", d=f"M0 {_y(values[0], top)}{steps}", class_=css)


def level(value: float, top: float, turns: int, css: str) -> Markup:
    """Return a horizontal line."""
    return tag("path", d=f"M0 {_y(value, top)}H{turns}", class_=css)


def strip(name: str, marked: Sequence[bool], css: str) -> Markup:
    """Return one row of marks at the marked turns."""
    turns = len(marked)
    spans = [f"M{place + 0.5} 0V10" for place, is_marked in enumerate(marked) if is_marked]
    drawing = tag(
        "svg",
        tag("path", d="".join(spans), class_=css),
        viewBox=f"0 0 {turns} 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return tag("div", tag("span", name, class_="row"), drawing, class_="strip", data_turns=turns)


def legend(*entries: tuple[str, str]) -> Markup:
    """Return a legend from pairs of CSS class and text."""
    return tag(
        "ul",
        *(tag("li", tag("i", class_=f"key {css}"), words) for css, words in entries),
        class_="legend",
    )


def figure(title: str, lead: str, *parts: str) -> Markup:
    """Return a chart with its title."""
    return tag("section", tag("h2", title), tag("p", lead, class_="lead"), join(*parts))


def _y(value: float, top: float) -> str:
    return f"{HEIGHT - min(value / top, 1.5) * HEIGHT:.2f}".removesuffix(".00") if top else "100"


def axis_ticks(top: float, most: int = 4) -> list[float]:
    """Return round numbers from 0 to at most ``top``.

    >>> axis_ticks(43_000)
    [0, 10000.0, 20000.0, 30000.0, 40000.0]
    """
    if top <= 0:
        return [0]
    step = 10.0 ** len(str(int(top)))
    steps = [step / 100, step / 50, step / 40, step / 20, step / 10, step / 5, step / 4, step / 2]
    chosen = next((each for each in steps if top / each <= most + 0.5), step)
    return [0, *(chosen * n for n in range(1, int(top / chosen) + 1))]

"""Charts over turns. The drawing is stretched to the width there is; words stand beside it as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.replay.number import ticks
from memctx.replay.page.markup import Markup, joined, tag

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
    """Layers over one another, with numbers at both axes."""
    levels = ticks(top)
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
    """The numbers of the turns."""
    places = [int(level) for level in ticks(turns, 8) if level >= 1 and level == int(level)]
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
    """A column for every turn, on the ground or on another row of columns."""
    upper = "".join(f"V{_y(value, top)}H{place}" for place, value in enumerate(values, start=1))
    if not floor:
        return tag("path", d=f"M0 {HEIGHT}{upper}V{HEIGHT}Z", class_=css)
    lower = "".join(
        f"V{_y(value, top)}H{place}" for place, value in reversed(list(enumerate(floor)))
    )
    return tag("path", d=f"M0 {_y(floor[0], top)}{upper}{lower}Z", class_=css)


def line(values: Sequence[float], top: float, css: str) -> Markup:
    """The upper edge of a row of columns."""
    steps = "".join(f"V{_y(value, top)}H{place}" for place, value in enumerate(values, start=1))
    return tag("path", d=f"M0 {_y(values[0], top)}{steps}", class_=css)


def level(value: float, top: float, turns: int, css: str) -> Markup:
    """A line across."""
    return tag("path", d=f"M0 {_y(value, top)}H{turns}", class_=css)


def strip(name: str, marked: Sequence[bool], css: str) -> Markup:
    """One row of marks, at the turns that have them."""
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
    """What the colours mean: pairs of a class and of words."""
    return tag(
        "ul",
        *(tag("li", tag("i", class_=f"key {css}"), words) for css, words in entries),
        class_="legend",
    )


def figure(title: str, lead: str, *parts: str) -> Markup:
    """A chart under its title."""
    return tag("section", tag("h2", title), tag("p", lead, class_="lead"), joined(*parts))


def _y(value: float, top: float) -> str:
    return f"{HEIGHT - min(value / top, 1.5) * HEIGHT:.2f}".removesuffix(".00") if top else "100"

"""HTML elements, in which a child that is no `Markup` is escaped; and tables of them for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Attribute = str | int | float | bool | None

# Elements without content and closing tag.
VOID = frozenset({"link", "meta"})
# Colors are those of the notebook, so that it is legible by day and by night.
CELL = "padding:3px 12px 3px 0;text-align:left;vertical-align:top"
LINE = "border-top:1px solid color-mix(in srgb, currentColor 18%, transparent)"
SOFT = "opacity:.72"


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: Attribute) -> Markup:
    """Return one element. ``class_`` is the class; underscores in other names become hyphens.

    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    rendered = "".join(
        f" {_name(key)}" if value is True else f' {_name(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{rendered}>")
    return Markup(f"<{name}{rendered}>{join(*children)}</{name}>")


def join(*children: str) -> Markup:
    """Return elements and texts, concatenated.

    >>> join("a & ", tag("b", "c"))
    'a &amp; <b>c</b>'
    """
    return Markup(
        "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    )


def marked(text: str, spans: Iterable[tuple[int, int]]) -> Markup:
    """Return a text with some spans marked.

    >>> marked("port <8443>", [(0, 4)])
    '<mark>port</mark> &lt;8443&gt;'
    """
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += [text[end:start], tag("mark", text[start:stop])]
        end = stop
    return join(*parts, text[end:])


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table for a notebook, in its colors and without styles that reach beyond it."""
    head = tag("tr", *(tag("th", each, scope="col", style=f"{CELL};{SOFT}") for each in headings))
    body = (tag("tr", *(tag("td", each, style=f"{CELL};{LINE}") for each in row)) for row in rows)
    title = tag("caption", caption, style="caption-side:top;text-align:left;padding:4px 0")
    return tag(
        "table", title, tag("thead", head), tag("tbody", *body), style="border-collapse:collapse"
    )


def _name(key: str) -> str:
    # Case is kept, as in `viewBox`; a trailing underscore marks a Python keyword.
    return key.rstrip("_").replace("_", "-")

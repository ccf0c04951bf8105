"""HTML elements; a child that is no `Markup` is escaped."""

from __future__ import annotations

import json
from html import escape

from memctx.cli.escaping import escape_controls

Attribute = str | int | float | bool | None

# Elements without content and closing tag.
VOID = frozenset({"link", "meta"})


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


def data(value: object) -> Markup:
    r"""Return a value as JSON that cannot close its element.

    >>> data("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(escape_controls(text).replace("<", "\\u003c"))


def _name(key: str) -> str:
    # Case is kept, as in `viewBox`; a trailing underscore marks a Python keyword.
    return key.rstrip("_").replace("_", "-")

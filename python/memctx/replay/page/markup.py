"""Elements of HTML. What is no `Markup` is text, and is escaped."""

from __future__ import annotations

import json
from html import escape

Attribute = str | int | float | bool | None

# Elements that hold nothing and are not closed.
VOID = frozenset({"link", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: Attribute) -> Markup:
    """One element. ``class_`` is the class; underscores in other names are hyphens.

    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    told = "".join(
        f" {_name(key)}" if value is True else f' {_name(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Elements and texts, one behind the other.

    >>> joined("a & ", tag("b", "c"))
    'a &amp; <b>c</b>'
    """
    return Markup(
        "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    )


def data(value: object) -> Markup:
    r"""A value as JSON that cannot end the element it stands in.

    >>> data("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _name(key: str) -> str:
    # `viewBox` and the like keep their case; only Python's words need another spelling.
    return key.rstrip("_").replace("_", "-")

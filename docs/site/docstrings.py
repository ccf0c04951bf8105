"""Griffe extension: examples in docstrings as fenced blocks."""

from __future__ import annotations

import griffe


class Examples(griffe.Extension):
    """Put each doctest into a fence, up to the next empty line."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Change the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Return a text with each block that begins with ``>>>`` in a fence."""
    blocks = text.split("\n\n")
    return "\n\n".join(
        f"```pycon\n{each}\n```" if each.startswith(">>>") else each for each in blocks
    )

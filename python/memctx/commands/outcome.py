"""`Outcome`: what a verb found or did, as data for programs and as text for people."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.commands import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

Action: TypeAlias = Literal["none", "compact", "new", "reset"]
"""What a host is to do: nothing, or to go on with other messages or another session."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    >>> print(Table(("role", "tokens"), (("user", "12"),), right=("tokens",)))
    role  tokens
    user      12
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[str, ...] = ()
    """The headings of columns that are numbers."""

    def __str__(self) -> str:
        lines = [self.headings, *self.rows]
        widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
        return "\n".join(self._line(cells, widths) for cells in lines)

    def printable(self) -> Table:
        """The same without anything that would drive a terminal or break a line."""
        rows = (tuple(map(wording.one_line, row)) for row in self.rows)
        return replace(self, rows=tuple(rows))

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = (
            " " * (room - width(cell)) + cell
            if heading in self.right
            else cell + " " * (room - width(cell))
            for heading, cell, room in zip(self.headings, cells, widths, strict=True)
        )
        return "  ".join(padded).rstrip()


Part: TypeAlias = str | Table


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a verb found or did.

    >>> Outcome({"segments": 2}, ("2 segments",)).text
    '2 segments'
    """

    data: dict[str, Any]
    """All of it, ready for JSON."""
    parts: tuple[Part, ...]
    """The same for people: paragraphs and tables."""
    is_ok: bool = True
    """Whether something was found, or the check held."""
    action: Action = "none"
    """What the host is to do now."""
    messages: list[Any] | None = None
    """The messages to go on with, where that is another list now."""
    session_id: str | None = None
    """The session to go on with, where that is another one now."""

    @property
    def text(self) -> str:
        """All parts as plain text, a blank line between them."""
        return "\n\n".join(str(part) for part in self.printable())

    def printable(self) -> tuple[Part, ...]:
        """The parts without anything that would drive a terminal: what was archived is not to be trusted."""
        return tuple(
            part.printable() if isinstance(part, Table) else wording.printable(part)
            for part in self.parts
        )

    def __str__(self) -> str:
        return self.text


def width(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> width("port"), width("端口")
    (4, 4)
    """
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1

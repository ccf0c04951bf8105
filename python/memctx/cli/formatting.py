"""Text formatting for people: times, sizes, counts, excerpts and plain-text tables."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memctx.cli.escaping import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT_ID = 8
"""Characters of an id that tables show; commands accept such a prefix for the whole id."""
EXCERPT_LENGTH = 100
UNIT = 1024
MINUTE, HOUR, DAY = 60, 3_600, 86_400


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
    """Headings of the right-aligned columns."""
    marked: tuple[str, ...] = ()
    """Words that a terminal highlights in the last column."""

    def __str__(self) -> str:
        lines = [self.headings, *self.rows]
        widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
        return "\n".join(self._format_row(cells, widths) for cells in lines)

    def printable(self) -> Table:
        """Return the table without characters that control a terminal or break a line."""
        rows = (tuple(map(single_line, row)) for row in self.rows)
        return replace(self, rows=tuple(rows))

    def _format_row(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = (
            " " * (width - display_width(cell)) + cell
            if heading in self.right
            else cell + " " * (width - display_width(cell))
            for heading, cell, width in zip(self.headings, cells, widths, strict=True)
        )
        return "  ".join(padded).rstrip()


def display_width(text: str) -> int:
    """Return the number of terminal columns a text takes.

    >>> display_width("port"), display_width("端口")
    (4, 4)
    """
    return sum(_columns(character) for character in text)


def format_time(milliseconds: float | None) -> str:
    """Return a time in UTC, to the minute.

    >>> format_time(1770000000000), format_time(None)
    ('2026-02-02 02:40', '')
    """
    if milliseconds is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):  # written by another program
        return "?"


def format_duration(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> format_duration(42), format_duration(4_000), format_duration(200_000)
    ('42 s', '1 h 6 min', '2 d 7 h')
    """
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    if whole < DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"


def format_size(count: float) -> str:
    """Return a number of bytes.

    >>> format_size(512), format_size(2_048), format_size(5_242_880)
    ('512 B', '2.0 KiB', '5.0 MiB')
    """
    if count < UNIT:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= UNIT
        if count < UNIT:
            return f"{count:.1f} {unit}"
    return f"{count / UNIT:.1f} TiB"


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> format_count(1, "session"), format_count(1200, "segment")
    ('1 session', '1,200 segments')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_compact(value: float) -> str:
    """Return a number in few characters.

    >>> format_compact(940), format_compact(9_840), format_compact(131_000), format_compact(2_400_000)
    ('940', '9.8k', '131k', '2.4M')
    """
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit * 0.9995:
            digits = 0 if value >= unit * 99.95 else 1  # three significant digits
            return f"{value / unit:.{digits}f}".removesuffix(".0") + name
    return f"{value:.0f}"


def format_milliseconds(value: float) -> str:
    """Return a duration in few characters.

    >>> format_milliseconds(0.42), format_milliseconds(12.6), format_milliseconds(1530)
    ('0.4 ms', '13 ms', '1.5 s')
    """
    if value >= 1000:  # noqa: PLR2004 - milliseconds of a second
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"  # noqa: PLR2004 - two significant digits


def shorten_id(id: str) -> str:
    """Return the first characters of an id."""
    return id[:SHORT_ID]


def excerpt(text: str, start: int = 0, longest: int = EXCERPT_LENGTH) -> str:
    r"""Return one line of a text, beginning at ``start``.

    >>> excerpt("We decided:\n the port   is 8443"), excerpt("a" * 9, longest=5)
    ('We decided: the port is 8443', 'aaaa…')
    """
    start = 0 if len(text) <= longest else start
    # Text far behind the excerpt is not read.
    line = " ".join(terminal(text[start : start + longest * 4]).split())
    line = f"…{line}" if start else line
    is_whole = len(line) <= longest and start + longest * 4 >= len(text)
    return line if is_whole else f"{line[: longest - 1]}…"


def single_line(text: str) -> str:
    r"""Return a text as the cell of a table.

    >>> single_line("We decided:\n port 8443")
    'We decided:  port 8443'
    """
    return terminal(text).replace("\n", " ").replace("\t", " ")


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1

"""Texts, indices and times of a report, shortened for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT_ID = 8
"""Characters of an id, as in a block."""
MOST_ROWS = 20
"""Rows of one kind in a table."""


def shorten(text: str, longest: int) -> str:
    r"""Return the beginning of a text on one line.

    >>> shorten("Which\n port?", 8)
    'Which p…'
    """
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def format_span(indices: Sequence[int]) -> str:
    """Return the first and the last index."""
    return str(indices[0]) if len(indices) == 1 else f"{indices[0]}-{indices[-1]}"


def format_moment(timestamp: float | None) -> str:
    """Return a time in UTC, to the minute; blanks for none."""
    if timestamp is None:
        return " " * 16
    return datetime.fromtimestamp(timestamp / 1000, UTC).strftime("%Y-%m-%d %H:%M")

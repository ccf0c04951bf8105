"""The pieces in which the core indexes a long text, cut here as it cuts them."""

from __future__ import annotations

MOST = 2048
LEAST = 1024
BORDERS = (("\n\n",), ("\n",), (". ", "。", "! ", "? ", "！", "？"), (" ",))  # noqa: RUF001 - full-width punctuation


def pieces(text: str) -> list[tuple[int, int]]:
    """Return start and end of each piece, in characters."""
    found: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > MOST:
        end = start + LEAST + _cut(text[start + LEAST : start + MOST])
        found.append((start, end))
        start = end
    if start < len(text) or not found:
        found.append((start, len(text)))
    return found


def _cut(stretch: str) -> int:
    """Return the index after the last good boundary, else the end."""
    for borders in BORDERS:
        ends = [at + len(border) for border in borders if (at := stretch.rfind(border)) >= 0]
        if ends:
            return max(ends)
    return len(stretch)

"""Cutting a text into passages of a few hundred tokens that overlap, each with the lines it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TOKENS = 400
OVERLAP = 80


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a text.

    >>> [(chunk.start, chunk.end) for chunk in chunks(enumerate(["one", "two"], start=1))]
    [(1, 2)]
    """

    start: int
    """Its first line, counted from 1."""
    end: int
    """Its last line."""
    text: str
    """What it says."""


def chunks(
    lines: Iterable[tuple[int, str]], tokens: int = TOKENS, overlap: int = OVERLAP
) -> Iterator[Chunk]:
    """Passages of about ``tokens`` tokens of numbered lines; the next begins ``overlap`` tokens before the end."""
    held: list[tuple[int, str, int]] = []
    size = fresh = 0
    for number, line in _pieces(lines, tokens):
        cost = _core.estimate_tokens(line, "script")
        if fresh and size + cost > tokens:
            yield _chunk(held)
            held = _tail(held, min(overlap, tokens - cost))
            size, fresh = sum(each for _, _, each in held), 0
        held.append((number, line, cost))
        size += cost
        fresh += bool(line.strip())
    if fresh:
        yield _chunk(held)


def _chunk(held: Sequence[tuple[int, str, int]]) -> Chunk:
    """A passage without the empty lines around it."""
    full = [place for place, (_, line, _) in enumerate(held) if line.strip()]
    held = held[full[0] : full[-1] + 1]
    return Chunk(held[0][0], held[-1][0], "\n".join(line for _, line, _ in held))


def _tail(held: Sequence[tuple[int, str, int]], room: int) -> list[tuple[int, str, int]]:
    """The last lines that fit."""
    first, size = len(held), 0
    while first > 0 and size + held[first - 1][2] <= room:
        first -= 1
        size += held[first][2]
    return list(held[first:])


def _pieces(lines: Iterable[tuple[int, str]], tokens: int) -> Iterator[tuple[int, str]]:
    """The lines, those that are too long by themselves in pieces."""
    for number, line in lines:
        if len(line) <= tokens or _core.estimate_tokens(line, "script") <= tokens:
            yield number, line
            continue
        # A character costs at most about one token, three of a Latin text one.
        step = max(1, len(line) * tokens // _core.estimate_tokens(line, "script"))
        for start in range(0, len(line), step):
            yield number, line[start : start + step]

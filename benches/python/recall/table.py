"""Figures as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from recall.metrics import Figures

Found = dict[tuple[str, str, str], "Figures"]
"""By embedder, way and set."""


def table(
    found: Mapping[tuple[str, str, str], Figures], sets: Sequence[str], names: Sequence[str]
) -> Iterator[str]:
    """Format a line for each embedder and way, a column for each set."""
    yield f"| embedder | ranking | {' | '.join(sets)} |"
    yield "| --- " * (len(sets) + 2) + "|"
    for embedder, way in dict.fromkeys((embedder, way) for embedder, way, _ in found):
        cells = (_cell(found.get((embedder, way, each)), names) for each in sets)
        yield f"| {embedder} | {way} | {' | '.join(cells)} |"


def _cell(figures: Figures | None, names: Iterable[str]) -> str:
    if figures is None or not len(figures.values):
        return ""
    return " / ".join(f"{figures.mean(name):.1f}" for name in names)

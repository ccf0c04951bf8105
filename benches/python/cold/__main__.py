"""Benchmark all engines at all sizes, print a table, and write the figures as JSON.

python -m cold --store FOLDER --sizes 20000 100000 1000000
python -m cold --store FOLDER --sizes 20000 100000 1000000 --reuse
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cold import engine, figures
from cold.contest import Contest
from cold.material import QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Found = dict[int, dict[str, dict[str, Any]]]
"""Figures by size and engine."""


def table(
    found: Mapping[int, Mapping[str, Mapping[str, Any]]], names: Sequence[str]
) -> Iterator[str]:
    """Format the figures in Markdown, each with its ratio: ours divided by the peer's."""
    heads = {name: engine.load(name).NAME for name in names}
    yield "| figure | segments | " + " | ".join(heads.values()) + " |"
    yield "| --- " * (len(names) + 2) + "|"
    for measure in figures.MEASURES:
        for size, rows in found.items():
            cells = [_cell(measure, rows, name) for name in names]
            yield f"| {measure.name} | {size:,} | " + " | ".join(cells) + " |"
    if len(found) > 1:
        slopes = [
            figures.exponent(list(found), [rows[name]["p50"] for rows in found.values()])
            for name in names
        ]
        yield (
            "| exponent of p50 over the size | | "
            + " | ".join(f"{slope:.2f}" for slope in slopes)
            + " |"
        )
    if engine.OURS in names:
        yield "\nIn brackets: ours divided by theirs."
    for size, rows in found.items():
        for name in names:
            if (count := rows[name]["queries"]) < QUERIES:
                yield f"\n{heads[name]} had time for {count} queries a round at {size:,} segments."


def _cell(measure: figures.Measure, rows: Mapping[str, Mapping[str, Any]], name: str) -> str:
    value = rows[name].get(measure.key, math.nan)
    text = f"{value:,.{measure.digits}f}"
    if name == engine.OURS or engine.OURS not in rows or not value:
        return text
    return f"{text} ({rows[engine.OURS][measure.key] / value:.2f} x)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True, help="folder of material and stores")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 100_000, 1_000_000])
    parser.add_argument("--engines", nargs="+", choices=engine.ENGINES, default=engine.ENGINES)
    parser.add_argument(
        "--reuse", action="store_true", help="take stores that are there as they are"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--seconds", type=float, default=60, help="most processor time of one engine in a round"
    )
    parser.add_argument("--out", type=Path, help="JSON to write; FOLDER/figures.json if not told")
    asked = parser.parse_args()
    contest = Contest(asked.store, asked.engines, reuse=asked.reuse)
    contest.material.make(asked.sizes)
    built: Found = {size: contest.build(size) for size in asked.sizes}
    found: Found = {}
    for size in asked.sizes:
        found[size] = contest.search(size, asked.rounds, asked.seconds)
    document = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "load": os.getloadavg(),
        "built": built,
        "figures": found,
    }
    out = asked.out or asked.store / "figures.json"
    out.write_text(json.dumps(document, indent=1), encoding="utf-8")
    print("\n".join(table(found, asked.engines)))


if __name__ == "__main__":
    main()

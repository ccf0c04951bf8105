"""Figures of one engine at one size, and their comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEGABYTE = 1e6


@dataclass(frozen=True)
class Measure:
    """A row of the table: its name, its source, its digits, and whether more is better."""

    name: str
    key: str
    digits: int
    more_is_better: bool = False


MEASURES = (
    Measure("ingest, segments/s of processor time", "ingest_cpu", 0, more_is_better=True),
    Measure("… with tokens and vectors made", "ingest_whole_cpu", 0, more_is_better=True),
    Measure("ingest, segments/s by the clock", "ingest_wall", 0, more_is_better=True),
    Measure("index on disk, bytes a segment", "index_bytes", 0),
    Measure("everything on disk, bytes a segment", "all_bytes", 0),
    Measure("memory of its own, MB", "anon_mb", 1),
    Measure("… before it opens anything", "bare_anon_mb", 1),
    Measure("mapped files in memory, MB", "file_mb", 1),
    Measure("… before it opens anything", "bare_file_mb", 1),
    Measure("opening, ms by the clock", "open_ms", 1),
    Measure("hybrid search p50, processor ms", "p50", 3),
    Measure("… p99", "p99", 3),
    Measure("… p50 of short queries", "p50_short", 3),
    Measure("… p50 of long queries", "p50_long", 3),
    Measure("hybrid search p50, ms by the clock", "wall_p50", 3),
    Measure("… p99", "wall_p99", 3),
    Measure("recall@10 of the vectors", "recall", 3, more_is_better=True),
)


def figures(
    built: Mapping[str, Any],
    rounds: Sequence[Mapping[str, Any]],
    memory: Mapping[str, Any],
    recall: float,
) -> dict[str, Any]:
    """Return all figures of one engine at one size. Percentiles are those of a round, then the median of the rounds."""
    size = built["size"]
    footprint = built["footprint"]
    return {
        "ingest_cpu": size / built["cpu_s"],
        "ingest_whole_cpu": size / (built["cpu_s"] + built["given_cpu_s"]),
        "ingest_wall": size / built["wall_s"],
        "index_bytes": footprint["index"] / size,
        "all_bytes": sum(footprint.values()) / size,
        "anon_mb": memory["now"]["RssAnon"] / MEGABYTE,
        "file_mb": memory["now"]["RssFile"] / MEGABYTE,
        "bare_anon_mb": memory["bare"]["RssAnon"] / MEGABYTE,
        "bare_file_mb": memory["bare"]["RssFile"] / MEGABYTE,
        "open_ms": memory["open_s"] * 1e3,
        "p50": median(percentile(each["cpu"], 50) for each in rounds) * 1e3,
        "p99": median(percentile(each["cpu"], 99) for each in rounds) * 1e3,
        "p50_short": median(percentile(each["cpu"][::2], 50) for each in rounds) * 1e3,
        "p50_long": median(percentile(each["cpu"][1::2], 50) for each in rounds) * 1e3,
        "wall_p50": median(percentile(each["wall"], 50) for each in rounds) * 1e3,
        "wall_p99": median(percentile(each["wall"], 99) for each in rounds) * 1e3,
        "p50_rounds": [percentile(each["cpu"], 50) for each in rounds],
        "p99_rounds": [percentile(each["cpu"], 99) for each in rounds],
        "queries": min(len(each["cpu"]) for each in rounds),
        "rounds": len(rounds),
        "recall": recall,
    }


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the exponent of growth with the size, the slope of the logarithms; 1 is linear."""
    if len(sizes) < 2:
        return math.nan
    across, up = [math.log(size) for size in sizes], [math.log(value) for value in values]
    middle, level = sum(across) / len(across), sum(up) / len(up)
    rise = sum((x - middle) * (y - level) for x, y in zip(across, up, strict=True))
    return rise / sum((x - middle) ** 2 for x in across)

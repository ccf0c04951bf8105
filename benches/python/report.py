"""The table at the end of a run, and the same as Markdown and JSON."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import ROOT, SIZE

if TYPE_CHECKING:
    from benchmark import Figure, Ledger, Row

PACKAGES = (
    "numpy",
    "bm25s",
    "numba",
    "rank-bm25",
    "tantivy",
    "faiss-cpu",
    "usearch",
    "langchain-core",
    "onnxruntime",
    "sentence-transformers",
    "model2vec",
    "wordllama",
)
UNITS = {
    "s": (("s", 1.0), ("ms", 1e3), ("µs", 1e6)),
    "B": (("MB", 1e-6), ("kB", 1e-3), ("B", 1.0)),
}
HEAD = ("path", "ours", "peer", "its time", "ratio", "limit", "verdict")


def table(ledger: Ledger) -> list[str]:
    """Format the rows in Markdown with aligned columns, then the notes."""
    lines = [HEAD, *map(_cells, ledger.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    text = ["| " + " | ".join(map(str.ljust, cells, widths)) + " |" for cells in lines]
    return [*text, *(f"\n{note}" for note in ledger.notes)]


def surroundings() -> dict[str, str]:
    """Return machine and versions, on which the figures depend."""
    return {
        "commit": _output("git", "rev-parse", "--short", "HEAD"),
        "segments": f"{SIZE}",
        "processor": _processor(),
        "load": ", ".join(f"{load:.2f}" for load in os.getloadavg()),
        "python": platform.python_version(),
        "rustc": _output("rustc", "--version").removeprefix("rustc "),
        **{package: _version(package) for package in PACKAGES},
    }


def save(ledger: Ledger, path: Path) -> None:
    """Write ``path`` with the suffixes .md and .json."""
    facts = surroundings()
    prose = ", ".join(f"{name} {value}" for name, value in facts.items())
    path.with_suffix(".md").write_text("\n".join([*table(ledger), "", prose, ""]), encoding="utf-8")
    rows = [asdict(row) | {"ratio": row.ratio, "holds": row.holds} for row in ledger.rows]
    document = {"surroundings": facts, "rows": rows, "notes": ledger.notes}
    path.with_suffix(".json").write_text(json.dumps(document, indent=1), encoding="utf-8")


def _cells(row: Row) -> tuple[str, ...]:
    limit = "" if row.limit is None else f"{row.limit:.3g}"
    verdict = "" if row.limit is None else ("holds" if row.holds else "BROKEN")
    ratio = f"{row.ratio:.3g}"
    ours, theirs = spread(row.ours, row.unit), spread(row.theirs, row.unit)
    return (row.path, ours, row.peer, theirs, ratio, limit, verdict)


def spread(figure: Figure, unit: str = "s") -> str:
    """Format the median with its unit, and the minimum and maximum in the same unit."""
    units = UNITS[unit]
    unit, factor = next(((u, f) for u, f in units if figure.median * f >= 1), units[-1])
    low, mid, high = (f"{value * factor:.4g}" for value in (figure.low, figure.median, figure.high))
    return f"{mid} {unit} ({low}-{high})" if low != high else f"{mid} {unit}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _output(command: str, *arguments: str) -> str:
    program = shutil.which(command)
    if program is None:
        return "unknown"
    result = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

"""Time of `import memctx`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmark import Benchmark

REPEATS = 5
MOST = 0.060


def seconds_to_import(module: str) -> float:
    """Return the cumulative time that Python itself reports, everything imported on the way included."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    _, cumulative, name = result.stderr.splitlines()[-1].split("|")
    assert name.strip() == module
    return int(cumulative) / 1e6


def test_import_time(benchmark: Benchmark) -> None:
    seconds_to_import("memctx")
    benchmark.against_time(
        "import memctx", [seconds_to_import("memctx") for _ in range(REPEATS)], MOST
    )

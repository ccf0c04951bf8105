"""Program that does one task in a fresh process and prints the costs.

The task comes as JSON. ``read`` names files to read whole. ``open`` names a store: it is opened and asked the first of
the ``queries``, then all of them ``rounds`` times; ``records`` are added one by one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, thread_time
from typing import Any

import memctx


def resident() -> int:
    """Return the resident memory of the process in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def read(files: list[str]) -> dict[str, float]:
    """Return the seconds to read the files, all of them held until the end."""
    wall, start = perf_counter(), process_time()
    held = []
    for name in files:
        with open(name, "rb") as file:  # noqa: PTH123 (the bare call is what is measured)
            held.append(file.read())
    return {
        "cpu": process_time() - start,
        "wall": perf_counter() - wall,
        "bytes": sum(map(len, held)),
    }


def work(task: dict[str, Any]) -> dict[str, float]:
    """Return seconds and bytes until the first answer, and medians of the rest."""
    queries: list[str] = task["queries"]
    settings: dict[str, Any] = task["settings"]
    before = resident()
    wall, start = perf_counter(), process_time()
    store = memctx.lowlevel.Store(
        task["open"], memctx.lowlevel.StoreOptions(durability="os", **settings)
    )
    hits = store.search(queries[0], limit=10)
    found = {"cpu": process_time() - start, "wall": perf_counter() - wall}
    found |= {"resident": resident() - before, "hits": len(hits), "segments": len(store)}
    if rounds := task.get("rounds"):
        searches = [timed(lambda q: store.search(q, limit=10), queries) for _ in range(rounds)]
        found |= {
            "search": median(map(median, searches)),
            "search_p99": median(sorted(times)[len(times) * 99 // 100] for times in searches),
        }
    if texts := task.get("records"):
        found["add"] = median(timed(lambda text: store.add([("user", text, None, None)]), texts))
    return found


def timed(function: Any, items: list[str]) -> list[float]:
    """Return the thread seconds of each item."""
    times = []
    for item in items:
        start = thread_time()
        function(item)
        times.append(thread_time() - start)
    return times


if __name__ == "__main__":
    task = json.load(sys.stdin)
    json.dump(read(task["read"]) if "read" in task else work(task), sys.stdout)

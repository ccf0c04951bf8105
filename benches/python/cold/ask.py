"""Program that opens one folder with one engine, and executes the requests on its input lines.

``memory`` prints the memory of the process; ``search`` runs queries for some seconds of processor time;
``nearest`` prints the ids that vectors alone find.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from cold import engine, resident
from cold.question import Question

if TYPE_CHECKING:
    from cold.engine import Engine, Searcher


def search(
    chosen: Engine, searcher: Searcher, questions: list[Question], seconds: float
) -> dict[str, Any]:
    """Return processor and wall seconds of each query, and the hits."""
    cpus, walls, ids = [], [], []
    gc.disable()
    began = engine.processor_time(chosen)
    for question in questions:
        wall, cpu = perf_counter(), engine.processor_time(chosen)
        hits = searcher.search(question)
        cpus.append(engine.processor_time(chosen) - cpu)
        walls.append(perf_counter() - wall)
        ids.append([number for number, _ in hits])
        if engine.processor_time(chosen) - began > seconds:
            break
    gc.enable()
    return {"cpu": cpus, "wall": walls, "ids": ids}


def nearest(
    chosen: Engine, searcher: Searcher, questions: list[Question], seconds: float
) -> dict[str, Any]:
    """Return the ids that vectors find, for as many queries as there is time."""
    ids: list[list[str]] = []
    began = engine.processor_time(chosen)
    for question in questions:
        ids.append(searcher.nearest(question))
        if engine.processor_time(chosen) - began > seconds:
            break
    return {"ids": ids}


def main() -> None:
    name, folder, asked = sys.argv[1:]
    rows = json.loads(Path(asked).read_text(encoding="utf-8"))
    vectors = np.array([row.pop("vector") for row in rows], np.float32)
    questions = [Question(vector=vector, **row) for row, vector in zip(rows, vectors, strict=True)]
    del rows
    chosen = engine.load(name)
    bare = resident.now()
    began = perf_counter()
    searcher = chosen.Searcher(Path(folder))
    opened = perf_counter() - began
    for line in sys.stdin:
        task = json.loads(line)
        answer: dict[str, Any] = {}
        match task["do"]:
            case "memory":
                answer = {"bare": bare, "now": engine.memory(chosen), "open_s": opened}
            case "search":
                answer = search(chosen, searcher, questions, task["seconds"])
            case "nearest":
                answer = nearest(chosen, searcher, questions, task["seconds"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

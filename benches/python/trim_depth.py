"""Depth of trims: what is found, what the input costs and how often the cache breaks, by `trim.to`.

Conversations are played as `turn_recall.py` plays them, once for every depth, and asked at their end: chats, agents'
sessions with planted facts, and what real agents' tools printed. The session of `memctx demo` comes last.

    python benches/python/trim_depth.py FOLDER
    python benches/python/trim_depth.py FOLDER --sets trajectory,locomo --windows 16000 --depths 0.8,0.5

Columns: *found*, the share of the evidence that the request holds, with its standard error; *kept*, the share that
never left; *cost* of the input of all calls relative to the same session without memory in an unlimited window; *trims*
and *breaks* (requests that change what was sent before) for each hundred calls.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from cache_sim import aligned
from turn_recall import Figures, Job, error, mean
from turn_sets import Library

from memctx.cli import demo
from memctx.cli.replay import Recording, replay

if TYPE_CHECKING:
    import memctx
    from memctx.cli.replay import ReplayedTurn

SETS = ("trajectory", "agents", "needles_dev", "locomo", "beam_100k")
WINDOWS = (16_000, 40_000)
DEPTHS = (0.8, 0.65, 0.5, 0.35)
HEAD = ("set", "window", "trim.to", "questions", "found", "kept", "cost", "trims", "breaks")


def row(figures: Figures, depth: float) -> list[str]:
    """Return the cells of one line of the table."""
    calls = len(figures.milliseconds)
    return [
        figures.set,
        f"{figures.window // 1000}k",
        f"{depth:g}",
        str(len(figures.found)),
        f"{mean(figures.found)} ± {error(figures.found)}",
        mean([1 - left for left in figures.left], 0),
        f"{statistics.fmean(figures.cost):.2f}x",
        f"{100 * sum(figures.trims) / calls:.1f}",
        f"{100 * sum(figures.breaks) / calls:.1f}",
    ]


def demonstrated(depth: float) -> list[str]:
    """Return the line of the demo's session."""
    wanted = {question.text: question.wanted for question in demo.QUESTIONS}
    messages = demo.asked_session()
    found: list[float] = []

    def judge(_: ReplayedTurn, turn: memctx.Turn) -> None:
        sent = turn.messages
        answer = wanted.get(str(sent[-1]["content"]))
        if answer is not None:
            found.append(float(any(answer in str(message["content"]) for message in sent)))

    played = replay(
        Recording("demo", messages), context_window=demo.WINDOW, on_turn=judge, trim={"to": depth}
    )
    calls = len(played.turns)
    return [
        "demo",
        f"{demo.WINDOW // 1000}k",
        f"{depth:g}",
        str(len(found)),
        mean(found),
        "-",
        f"{played.cost / played.unedited_cost:.2f}x",
        f"{100 * played.trims / calls:.1f}",
        f"{100 * played.breaks / calls:.1f}",
    ]


def main() -> None:
    """Play everything at every depth and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--windows", default=",".join(map(str, WINDOWS)))
    parser.add_argument("--depths", default=",".join(map(str, DEPTHS)))
    parser.add_argument("--way", choices=("stable", "tail"), default="stable")
    parser.add_argument("--conversations", type=int, default=2, help="at most so many of a set")
    parser.add_argument("--questions", type=int, default=16, help="at most so many of each")
    parser.add_argument("--model", default="auto", help="the setting `embedding_model`")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    library = Library(given.data)
    depths = [float(depth) for depth in given.depths.split(",")]
    total: dict[tuple[str, int, float], Figures] = {}
    with ProcessPoolExecutor(given.processes) as pool:
        jobs = [
            (
                depth,
                pool.submit(
                    Job(
                        given.data,
                        name,
                        number,
                        window,
                        given.way,
                        given.questions,
                        given.model,
                        depth,
                    ).run
                ),
            )
            for name in filter(None, given.sets.split(","))
            for window in map(int, given.windows.split(","))
            for depth in depths
            for number in range(library.count(name, given.conversations))
        ]
        for depth, job in jobs:
            figures = job.result()
            key = (figures.set, figures.window, depth)
            empty = Figures(figures.set, figures.window, given.way)
            total.setdefault(key, empty).add(figures)
            print(f"{key} done", file=sys.stderr)
    rows = [row(figures, depth) for (_, _, depth), figures in total.items()]
    print("\n".join(aligned([HEAD, *rows, *map(demonstrated, depths)])))


if __name__ == "__main__":
    main()

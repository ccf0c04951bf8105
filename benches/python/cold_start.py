"""Cold start of a hook: processor time and wall time of a whole process that answers one prompt from memory.

A store of 20,000 segments with vectors of the default encoder is made once. Each run is a process of its own: one that
imports memctx, opens the store, searches it, prints what it found and exits, step by step; and `memctx hook
UserPromptSubmit` as Claude Code runs it, in process and with the resident helper. Times inside of a process are its
own; the total is what the system counted for the process from its start to its end, the interpreter included. Medians
of 20 runs, in turn.

    python benches/python/cold_start.py
    python benches/python/cold_start.py --store /tmp/store --against ../other/python
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from memctx.hosts import HostSession
from memctx.serve import client

if TYPE_CHECKING:
    from collections.abc import Callable

PROMPT = "which port has the payment webhook of the shop?"
ANSWER = "The payment webhook of the shop listens on port 8443"
SEGMENTS = 20_000
SEED = 7
STEPS = ("import", "open", "search", "answer")
PROJECT = "/nowhere/shop"
SESSION = HostSession("claude-code", PROJECT, "earlier").session_id
HOOK = ("-m", "memctx", "hook", "--host", "claude-code", "--store")

HEAD = """
import sys
from time import perf_counter, process_time
marks = [(perf_counter(), process_time())]
def mark():
    marks.append((perf_counter(), process_time()))
"""
IN_PROCESS = """
import memctx; memctx.open; mark()
memory = memctx.open(sys.argv[1], session_id=sys.argv[3]); mark()
hits = memory.search(sys.argv[2], limit=5); mark()
print(hits[0].segment.content); memory.close(); mark()
"""
TAIL = """
import json
sys.stderr.write(json.dumps(marks))
"""


def fill(folder: Path) -> None:
    """Make the store: words drawn as they occur in text, few often and many rarely."""
    import memctx  # noqa: PLC0415 - the parent needs it for this alone

    draw = random.Random(SEED)
    syllables = [first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "or", "un")]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    roles = ("user", "assistant")
    with memctx.open(folder, session_id=SESSION, disk={"durability": "os"}) as memory:
        for start in range(1, SEGMENTS, 500):
            memory.archive(
                [
                    {
                        "role": roles[number % 2],
                        "content": " ".join(draw.choices(words, weights, k=draw.randint(10, 80))),
                    }
                    for number in range(start, min(start + 500, SEGMENTS))
                ]
            )
        memory.archive([{"role": "user", "content": ANSWER}])
        memory.reembed()
        memory.search(PROMPT, everything=True)
        assert memory.store.snapshot()
        assert memory.stats()["segments"] == SEGMENTS


def time_process(
    arguments: list[str], environ: dict[str, str], given: bytes = b""
) -> tuple[bytes, bytes, tuple[float, float]]:
    """Return stdout, stderr, and the wall and processor milliseconds of a Python process."""
    began = perf_counter()
    child = subprocess.Popen(
        [sys.executable, *arguments],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdin.write(given)
    child.stdin.close()
    printed, told = child.stdout.read(), child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    assert not child.returncode, told.decode()
    return printed, told, (wall * 1000, (used.ru_utime + used.ru_stime) * 1000)


def run_steps(store: Path, package: Path | None) -> dict[str, tuple[float, float]]:
    """Return wall and processor milliseconds of each step and in total."""
    environ = os.environ | ({} if package is None else {"PYTHONPATH": str(package)})
    program = f"{HEAD}{IN_PROCESS}{TAIL}"
    printed, told, total = time_process(["-c", program, str(store), PROMPT, SESSION], environ)
    assert printed.decode().strip() == ANSWER
    marks = json.loads(told)
    found = {
        step: ((after[0] - before[0]) * 1000, (after[1] - before[1]) * 1000)
        for step, before, after in zip(STEPS, marks, marks[1:], strict=False)
    }
    return found | {"total": total}


def run_hook(store: Path, helper: str) -> dict[str, tuple[float, float]]:
    """Return wall and processor milliseconds of the hook of a prompt, in a conversation that has begun."""
    environ = os.environ | {"MEMCTX_SERVE": helper}
    fields = {"session_id": str(uuid4()), "cwd": PROJECT, "source": "startup", "prompt": PROMPT}
    given = json.dumps(fields).encode()
    time_process([*HOOK, str(store), "SessionStart"], environ, given)
    printed, _, total = time_process([*HOOK, str(store), "UserPromptSubmit"], environ, given)
    assert ANSWER in printed.decode()
    return {"total": total}


def used_by(pid: int) -> float:
    """Return the processor milliseconds of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1000


def show(name: str, runs: list[dict[str, tuple[float, float]]]) -> None:
    for at, kind in ((1, "processor"), (0, "wall")):
        steps = [
            f"{median(each[step][at] for each in runs):.1f}" if step in runs[0] else ""
            for step in (*STEPS, "total")
        ]
        print(f"| {name} | {kind} | {' | '.join(steps)} |")


def measure(store: Path, runs: int, against: Path | None) -> None:
    """Print the table; variants take turns, so that other load on the machine falls on all of them."""
    command = [sys.executable, "-m", "memctx.serve", str(store)]
    helper = subprocess.Popen(command)
    variants: dict[str, Callable[[], dict[str, tuple[float, float]]]] = {
        "steps": lambda: run_steps(store, None),
        "hook, in process": lambda: run_hook(store, "off"),
        "hook, with the helper": lambda: run_hook(store, "on"),
    }
    if against is not None:
        variants = {"steps, before": lambda: run_steps(store, against), **variants}
    try:
        while client.ask("hello", root=str(store)) is None:
            assert helper.poll() is None
            sleep(0.05)
        for variant in variants.values():
            variant()  # files are in the cache of the system from here on
        found: dict[str, list[Any]] = {name: [] for name in variants}
        before = used_by(helper.pid)
        for _ in range(runs):
            for name, variant in variants.items():
                found[name].append(variant())
        of_helper = (used_by(helper.pid) - before) / runs
    finally:
        helper.terminate()
        helper.wait()
    print(f"| ms | | {' | '.join((*STEPS, 'total'))} |\n|---|---|{'---:|' * (len(STEPS) + 1)}")
    for name, each in found.items():
        show(name, each)
    print(f"\nThe helper used {of_helper:.1f} ms of processor time for a start and a prompt.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, help="keep the store there, or use the one that is")
    parser.add_argument("--against", type=Path, help="a folder with another version of memctx")
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = asked.store or Path(folder) / "store"
        if not store.exists():
            fill(store)
        measure(store, asked.runs, asked.against)


if __name__ == "__main__":
    main()

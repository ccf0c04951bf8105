"""Steady turn on a PostgreSQL server beside the embedded store, on the caller's thread.

::

    PYTHONPATH=tests python benches/python/postgres_turn.py

Both memories get the same conversation turn by turn, in alternation, each in a process of its own; the figures are the
time of `prepare` in each and the ratio of the medians, in wall time and in processor time of the calling thread.
Without an address, the server is one of its own, as for the tests.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import memctx
from memctx.postgres import Administration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

Times: TypeAlias = "dict[str, list[tuple[float, float]]]"
WORDS = [
    "port",
    "deploy",
    "cache",
    "lease",
    "queue",
    "ledger",
    "parcel",
    "gate",
    "invoice",
    "token",
    "webhook",
    "release",
]


def main() -> None:
    """Print medians, ratios and the longest turns, in wall time and in processor time of the caller's thread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--namespace", default="bench")
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.05, help="seconds before each turn")
    options = parser.parse_args()
    with _server(options.address, options.namespace) as address:
        times = _times(address, options.namespace, options.messages, options.turns, options.pause)
    for number, kind in enumerate(("wall", "processor")):
        found = {name: sorted(each[number] for each in pairs) for name, pairs in times.items()}
        medians = {name: statistics.median(each) for name, each in found.items()}
        for name, each in found.items():
            p99 = each[len(each) * 99 // 100]
            print(
                f"{kind:9} {name:11} p50 {medians[name] * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms,"
                f" longest {each[-1] * 1e3:.2f} ms"
            )
        print(f"{kind:9} ratio of the medians: {medians['postgresql'] / medians['embedded']:.2f}")


@contextmanager
def _server(address: str | None, namespace: str) -> Iterator[str]:
    """Return the address of a server with the namespace; without one, start it."""
    if address is not None:
        yield address
        return
    from postgres.cluster import Cluster  # noqa: PLC0415 - of the tests

    cluster = Cluster({"fsync": "on"})
    try:
        with Administration(cluster.dsn()) as admin:
            admin.migrate()
            admin.create_role("turns", password="turns")  # noqa: S106 - of a server that lives for minutes
            admin.create_namespace(namespace, role="turns")
        yield f"postgresql://turns:turns@127.0.0.1:{cluster.port}/postgres"
    finally:
        cluster.close()


def _times(address: str, namespace: str, count: int, turns: int, pause: float) -> Times:
    """Return the seconds of the turns of each memory, after ``count`` messages."""
    home = Path(tempfile.mkdtemp())
    spawn = multiprocessing.get_context("spawn")
    given = {
        "embedded": (str(home / "embedded"), {}),
        "postgresql": (
            address,
            {"namespace": namespace, "postgres": {"cache_path": home / "cache"}},
        ),
    }
    ends: dict[str, Connection] = {}
    for name, (path, settings) in given.items():
        ends[name], other = spawn.Pipe()
        spawn.Process(target=_play, args=(other, path, settings, count), daemon=True).start()
        ends[name].recv()  # the first turn, with all messages
    times: Times = {name: [] for name in ends}
    for turn in range(turns):
        for name in sorted(ends, reverse=bool(turn % 2)):
            time.sleep(pause)
            ends[name].send(turn)
            times[name].append(ends[name].recv())
    for end in ends.values():
        end.send(None)
        end.recv()
    return times


def _play(end: Connection, path: str, settings: dict[str, Any], count: int) -> None:
    """Take a turn for each number that comes, and send its seconds, and those of the thread's processor time."""
    session = f"turn-{time.time_ns()}"
    with memctx.open(path, session_id=session, context_window=64_000, **settings) as memory:
        messages = [_message(number) for number in range(count)]
        memory.prepare(messages)
        end.send(None)
        while (turn := end.recv()) is not None:
            messages += [_message(count + 2 * turn), _message(count + 2 * turn + 1)]
            start, processor = time.perf_counter(), time.thread_time()
            memory.prepare([*messages])
            end.send((time.perf_counter() - start, time.thread_time() - processor))
    end.send(None)


def _message(number: int) -> dict[str, str]:
    words = " ".join(WORDS[(number * 7 + each * 5) % len(WORDS)] for each in range(12))
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": f"Message {number}: {words}; number {number * 31 % 9973}."}


if __name__ == "__main__":
    main()

"""Several processes index one directory and search it concurrently."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faults.stores import child, posix, said_by

from .stores import caught_up, contents, missing, opened, say, text, texts

if TYPE_CHECKING:
    import subprocess

TESTS = Path(__file__).parents[1]

BESIDE = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from disk_index.stores import missing, opened, say, text

    folder, tag, count, step = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    store = opened(folder, max_segments=20, lock_timeout=60)
    for start in range(0, count, step):
        said = [text(number, tag) for number in range(start, start + step)]
        say(store, said)
        wrong = missing(store, range(0, start + step, 5), tag, everything=True)
        assert wrong == [], (tag, start, wrong)
        store.catch_up()
        print(tag, start, flush=True)
    store.close()
"""


def beside(folder: Path, tag: str, count: int, step: int) -> subprocess.Popen[str]:
    """Start a process that archives messages, ``step`` at a time, and searches for them."""
    return child(BESIDE, TESTS, folder, tag, count, step)


def test_the_index_catches_up_with_another_process(tmp_path: Path) -> None:
    store = opened(tmp_path, max_segments=20)
    say(store, texts(100))
    assert caught_up(store).segments == 100
    said_by(beside(tmp_path, "there", 100, 50))
    status = caught_up(store)
    assert (status.state, status.segments) == ("ready", 200)
    assert missing(store, range(0, 100, 3), "there") == []
    assert missing(store, range(0, 100, 3)) == []


def test_a_search_of_everything_sees_messages_just_written_elsewhere(tmp_path: Path) -> None:
    store = opened(tmp_path, max_segments=20)
    process = beside(tmp_path, "there", 120, 20)
    assert process.stdout is not None
    try:
        for start in range(0, 120, 20):
            assert process.stdout.readline() == f"there {start}\n"
            assert missing(store, range(0, start + 20, 3), "there", everything=True) == []
    except AssertionError:
        process.kill()
        process.communicate()
        raise
    said_by(process)


@pytest.mark.slow
def test_processes_write_and_index_concurrently(tmp_path: Path) -> None:
    tags = ["one", "two", "three"]
    running = [beside(tmp_path, tag, 120, 10) for tag in tags]
    store = opened(tmp_path, max_segments=20, lock_timeout=60)
    while any(process.poll() is None for process in running):
        for options in ({}, {"everything": True}):
            hits = store.search("filed under since Tuesday", limit=50, **options)  # type: ignore[arg-type]
            assert max(Counter(contents(hits)).values(), default=1) == 1
    for process in running:
        assert len(said_by(process)) == 12
    status = caught_up(store)
    assert (status.state, status.segments, status.passages) == ("ready", 360, 360)
    assert status.fault is None
    for tag in tags:
        assert missing(store, range(120), tag, everything=True) == []


def test_threads_write_and_search_everything(tmp_path: Path) -> None:
    store = opened(tmp_path, max_segments=20)
    start = threading.Barrier(5)

    def write(tag: str) -> None:
        start.wait()
        for first in range(0, 60, 6):
            say(store, [text(number, tag) for number in range(first, first + 6)])
            assert missing(store, range(0, first + 6, 4), tag, everything=True) == []

    def look() -> None:
        start.wait()
        for _ in range(30):
            store.search("filed under")
            caught_up(store)
            status = store.disk_index()
            assert status is not None
            assert status.fault is None
            assert status.indexed_bytes <= status.log_bytes

    with ThreadPoolExecutor(5) as threads:
        jobs = [threads.submit(write, tag) for tag in ("one", "two", "three")]
        jobs += [threads.submit(look) for _ in range(2)]
        for job in jobs:
            job.result()
    assert caught_up(store).segments == 180


def test_closing_does_not_wait_for_indexing(tmp_path: Path) -> None:
    """Closing does not wait for a long log; the next process indexes the rest."""
    for turn in range(5):
        store = opened(tmp_path, max_segments=20)
        say(store, [text(number) for number in range(400 * turn, 400 * turn + 400)])
        store.close()
    store = opened(tmp_path, max_segments=20)
    assert missing(store, range(0, 2000, 37), everything=True) == []
    assert caught_up(store).segments == 2000


FORKED = """
    import os, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    import memctx
    from disk_index.stores import text, word

    folder = sys.argv[2]
    memory = memctx.open(folder, session_id="s1", disk=dict(durability="os", max_segments=10))
    memory.archive([{"role": "user", "content": text(number)} for number in range(60)])
    assert memory.search(word(1), limit=1, everything=True)[0].segment.content == text(1)
    child = os.fork()
    first = 1000 if child else 2000
    said = [{"role": "user", "content": text(number)} for number in range(first, first + 60)]
    memory.archive(said)
    for number in (2, first + 2):
        hits = memory.search(word(number), limit=1, everything=True)
        assert hits[0].segment.content == text(number), number
    memory.close()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        print("done")
"""


@posix
def test_a_forked_child_shares_no_index(tmp_path: Path) -> None:
    assert said_by(child(FORKED, TESTS, tmp_path)) == ["done"]
    store = opened(tmp_path, max_segments=10)
    for first in (0, 1000, 2000):
        assert missing(store, range(first, first + 60), everything=True) == []

"""Several processes write to one directory and read from it concurrently."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from .stores import SESSION, child, opened, said_by

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
    import sys, memctx
    folder, tag, count, session = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    store = memctx.lowlevel.Store(folder, memctx.lowlevel.StoreOptions(session_id=session, lock_timeout=60))
    for number in range(count):
        store.add([("user", f"{tag} says {number}: " + f"{tag}{number} " * (number % 50), None, None)])
        print(f"{tag} {number}", flush=True)
        if number % 7 == 0:
            assert store.search(f"{tag} says {number}", limit=3), number
"""

ECHO = """
    import json, sys, memctx
    folder, count = sys.argv[1], int(sys.argv[2])
    options = memctx.lowlevel.StoreOptions(session_id="s1", durability="os", lock_timeout=60)
    store = memctx.lowlevel.Store(folder, options)
    print("ready", flush=True)
    sys.stdin.readline()
    outcomes = []
    for number in range(count):
        (added,) = store.add([("user", f"the same remark, number {number}", None, None)])
        outcomes.append((added.outcome, added.id))
    print(json.dumps(outcomes))
"""


def expected(tag: str, number: int) -> str:
    return f"{tag} says {number}: " + f"{tag}{number} " * (number % 50)


@pytest.mark.parametrize(("writers", "count"), [(2, 150), (8, 50)])
def test_concurrent_writers_lose_duplicate_and_mix_nothing(
    tmp_path: Path, writers: int, count: int
) -> None:
    tags = [f"writer{number}" for number in range(writers)]
    running = [child(WRITER, tmp_path, tag, count, SESSION) for tag in tags]
    for process in running:
        assert len(said_by(process)) == count
    store = opened(tmp_path)
    stored = Counter(segment.content for segment in store.segments())
    assert stored == Counter(expected(tag, number) for tag in tags for number in range(count))
    assert len(store) == writers * count
    assert store.health()["skipped_lines"] == 0


def test_concurrent_sessions_keep_their_own_records(tmp_path: Path) -> None:
    running = {tag: child(WRITER, tmp_path, tag, 40, f"session {tag}") for tag in ("a", "b", "c")}
    for process in running.values():
        said_by(process)
    for tag in running:
        store = opened(tmp_path, f"session {tag}")
        order = [segment.content for segment in store.segments()]
        assert order == [expected(tag, number) for number in range(40)]


def test_a_message_from_two_processes_is_stored_once(tmp_path: Path) -> None:
    count = 3000
    running = [child(ECHO, tmp_path, count) for _ in range(2)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [json.loads(said_by(process)[-1]) for process in running]
    for pair in zip(*outcomes, strict=True):
        assert sorted(outcome for outcome, _ in pair) == ["added", "duplicate"]
        assert len({segment for _, segment in pair}) == 1
    assert len(list(opened(tmp_path).segments())) == count


def test_a_reader_sees_all_that_was_acknowledged_before_it_began(tmp_path: Path) -> None:
    count = 150
    running = [child(WRITER, tmp_path, tag, count, SESSION) for tag in ("a", "b")]
    long_open = opened(tmp_path)
    for number in range(count):
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline().endswith(f" {number}\n")
        if number % 10:
            continue
        acked = {expected(tag, before) for tag in ("a", "b") for before in range(number + 1)}
        valid = {expected(tag, before) for tag in ("a", "b") for before in range(count)}
        fresh = opened(tmp_path)
        for store in (fresh, long_open):
            stored = [segment.content for segment in store.segments()]
            assert acked <= set(stored) <= valid
            assert len(stored) == len(set(stored))
            assert len(store) >= len(acked)
            hits = [hit.segment.content for hit in store.search(f"a says {number}", limit=400)]
            assert expected("a", number) in hits
    for process in running:
        said_by(process)

"""Changes under an open store: a deleted directory, a replaced log, forks, closed streams."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import memctx
from embeddings import models
from memctx import StoreError
from memctx.lowlevel import LogReader

from .stores import child, contents, filled, linux, opened, posix, said_by, say, text

if TYPE_CHECKING:
    from pathlib import Path


@posix
def test_a_deleted_directory_is_recreated(tmp_path: Path) -> None:
    """Records in memory are still found, and a repeated message is written again: the lost bytes do not count."""
    folder = tmp_path / "store"
    texts = filled(folder)
    store = opened(folder)
    assert len(store) == 6
    shutil.rmtree(folder)
    assert len(store.search("deploy failed", limit=10)) == 6
    assert [added.outcome for added in say(store, "after the loss", texts[0])] == ["added"] * 2
    assert contents(opened(folder)) == ["after the loss", texts[0]]
    assert len(store.search("deploy failed", limit=10)) == 6
    assert not store.health()["ok"]
    store.close()


@posix
def test_a_deleted_log_is_recreated(tmp_path: Path) -> None:
    texts = filled(tmp_path)
    store = opened(tmp_path)
    assert len(store) == 6
    (tmp_path / "segments.jsonl").unlink()
    assert contents(store) == []
    say(store, *texts, "and one more")
    assert contents(opened(tmp_path)) == [*texts, "and one more"]
    store.snapshot()
    assert len(opened(tmp_path).search("deploy failed", limit=10)) == 6


@posix
def test_a_replaced_log_is_read_from_the_beginning(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    other = opened(tmp_path / "two")
    say(other, "another log altogether")
    store = opened(tmp_path / "one")
    assert len(store) == 6
    (tmp_path / "two" / "segments.jsonl").replace(tmp_path / "one" / "segments.jsonl")
    assert [hit.segment.content for hit in store.search("log deploy")] == ["another log altogether"]
    assert [added.outcome for added in say(store, text(0))] == ["added"]
    assert contents(opened(tmp_path / "one")) == ["another log altogether", text(0)]


@posix
def test_a_truncated_log_is_read_from_the_beginning(tmp_path: Path) -> None:
    texts = filled(tmp_path)
    store = opened(tmp_path)
    assert len(store) == 6
    log = tmp_path / "segments.jsonl"
    os.truncate(log, log.read_bytes().index(b"\n") + 1)
    assert len(store.search("deploy failed", limit=10)) == 1
    say(store, *texts)
    assert contents(opened(tmp_path)) == texts


@posix
def test_a_deleted_lock_file_is_recreated(tmp_path: Path) -> None:
    filled(tmp_path)
    one, other = opened(tmp_path), opened(tmp_path)
    say(one, "said before it went")
    (tmp_path / "LOCK").unlink()
    say(one, "one said so after it")
    say(other, "the other said so too")
    after = contents(opened(tmp_path))[6:]
    assert after == ["said before it went", "one said so after it", "the other said so too"]


FORK = """
    import os, signal, sys, threading, memctx
    folder, rounds = sys.argv[1], int(sys.argv[2])
    memory = memctx.open(folder, session_id="s1", disk={"durability": "os"})
    memory.archive([{"role": "user", "content": "said before the fork"}])
    stop = threading.Event()

    def keep_adding(name):
        number = 0
        while not stop.is_set():
            memory.archive([{"role": "user", "content": f"{name} goes on, number {number}"}])
            memory.search("goes on")
            number += 1

    threads = [threading.Thread(target=keep_adding, args=(f"thread {n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for number in range(rounds):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            memory.archive([{"role": "user", "content": f"child {number} speaks"}])
            found = memory.search("said before the fork", limit=1)
            os._exit(0 if found else 3)
        status = os.waitpid(child, 0)[1]
        assert status == 0, (number, status)
    stop.set()
    for thread in threads:
        thread.join()
    memory.archive([{"role": "user", "content": "said after the fork"}])
    print(len(list(memory.store.segments())))
"""


@posix
def test_a_forked_child_shares_no_lock_or_handle(tmp_path: Path) -> None:
    """Two threads add and search, so that locks are held when the process forks."""
    rounds = 20
    count = int(said_by(child(FORK, tmp_path, rounds))[-1])
    stored = contents(opened(tmp_path, max_segments=1_000_000))
    assert len(stored) == len(set(stored)) == count
    assert {f"child {number} speaks" for number in range(rounds)} <= set(stored)
    assert {"said before the fork", "said after the fork"} <= set(stored)


# The lock is taken through the store's own handle, as it is in the midst of a write.
INHERITED = """
    import os, sys, memctx
    memory = memctx.open(sys.argv[1], session_id="s1", embedding_model="hash")
    memory.archive([{"role": "user", "content": "said before the fork"}])
    handles = [f"/proc/self/fd/{fd}" for fd in range(64)]
    print(*(os.path.basename(os.readlink(handle)) for handle in handles if os.path.lexists(handle)))
"""


@linux
def test_no_child_inherits_the_lock(tmp_path: Path) -> None:
    """A child that did would keep the lock of a dead parent."""
    names = said_by(child(INHERITED, tmp_path))[-1].split()
    assert "segments.jsonl" in names
    assert "LOCK" not in names


MULTIPROCESSING = """
    import multiprocessing, sys, warnings, memctx
    warnings.simplefilter("ignore")
    memory = memctx.open(sys.argv[1], session_id="s1")

    def work(number):
        memory.archive([{"role": "user", "content": f"worker remark {number}"}])
        return len(memory.search("worker remark", limit=50))

    if __name__ == "__main__":
        with multiprocessing.get_context("fork").Pool(4) as pool:
            found = pool.map(work, range(40))
        assert min(found) >= 1, found
        print(len(memory.search("worker remark", limit=50)))
"""


@posix
def test_forked_workers_of_a_pool_add_and_search(tmp_path: Path) -> None:
    assert said_by(child(MULTIPROCESSING, tmp_path)) == ["40"]
    assert len(set(contents(opened(tmp_path)))) == 40


CLOSED_STREAMS = """
    import os, sys, memctx
    for handle in (0, 1, 2):
        os.close(handle)
    sys.stdin = sys.stdout = sys.stderr = None
    memory = memctx.open(sys.argv[1], session_id="s1", embedding_model=f"transformer:{sys.argv[1]}/../model")
    memory.archive([{"role": "user", "content": "said without streams"}])
    assert memory.search("streams")
    memory.store.snapshot()
    memory.close()
    with open(sys.argv[1] + "/../done", "w") as done:
        done.write("done")
"""


@posix
def test_a_store_works_without_standard_streams(tmp_path: Path) -> None:
    """The store may then have handles 0, 1 and 2, and nothing else may be written to them."""
    folder = tmp_path / "store"
    models.folder(tmp_path / "model")
    said_by(child(CLOSED_STREAMS, folder))
    assert (tmp_path / "done").read_text() == "done"
    assert contents(opened(folder)) == ["said without streams"]
    assert opened(folder).health()["skipped_lines"] == 0


def test_threads_share_a_store(tmp_path: Path) -> None:
    store = opened(tmp_path)
    count = 60
    start = threading.Barrier(6)

    def write(writer: int) -> None:
        start.wait()
        for number in range(count):
            say(store, f"writer {writer} says {number}", f"all say {number}")

    def read() -> None:
        start.wait()
        for _ in range(count):
            store.search("writer says", limit=5)
            assert all(segment.content for segment in store.segments())
            for call in (store.stats, store.health, store.sessions, store.refresh):
                call()

    with ThreadPoolExecutor(6) as threads:
        jobs = [threads.submit(write, writer) for writer in range(4)]
        jobs += [threads.submit(read) for _ in range(2)]
        for job in jobs:
            job.result()
    stored = contents(store)
    assert len(stored) == len(set(stored)) == 5 * count
    for writer in range(4):
        own = [said for said in stored if said.startswith(f"writer {writer} ")]
        assert own == [f"writer {writer} says {number}" for number in range(count)]


def test_closing_a_store_while_threads_use_it(tmp_path: Path) -> None:
    """Late calls raise; acknowledged records are there."""
    store = opened(tmp_path)
    acked: list[str] = []

    def write(writer: int) -> None:
        for number in range(10_000):
            said = f"writer {writer} says {number}"
            try:
                say(store, said)
            except StoreError:
                return
            acked.append(said)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(3)]
    for thread in threads:
        thread.start()
    while len(acked) < 50:
        store.search("writer says")
    store.close()
    for thread in threads:
        thread.join()
    assert set(acked) <= set(contents(opened(tmp_path)))


def test_a_closed_store_can_be_closed_again_and_raises_otherwise(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "the last word")
    scan = store.segments()
    store.close()
    store.close()
    for call in (
        lambda: say(store, "too late"),
        lambda: store.search("word"),
        lambda: store.get("x"),
        lambda: store.neighbors("x"),
        store.segments,
        store.sessions,
        store.stats,
        store.health,
        store.refresh,
        store.snapshot,
        lambda: len(store),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()
    assert [segment.content for segment in scan] == ["the last word"]
    assert repr(store)
    store.reopen()
    assert contents(store) == ["the last word"]


def test_a_closed_memory_raises(tmp_path: Path) -> None:
    memory = memctx.open(tmp_path, session_id="s1")
    memory.close()
    memory.close()
    for call in (
        lambda: memory.archive([]),
        lambda: memory.search("x"),
        memory.stats,
        memory.health,
    ):
        with pytest.raises(StoreError, match="takes no calls"):
            call()


def test_a_log_reader_reads_a_store_that_is_written_to(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "one thing", "two things")
    reader = LogReader(tmp_path)
    scan = reader.scan()
    next(scan)
    say(store, "three things")
    assert [segment.content for segment in scan] == ["two things"]
    assert [segment.content for segment in reader.scan()][-1] == "three things"

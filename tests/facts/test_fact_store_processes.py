"""Several processes write facts to one directory, fork, and die."""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import process
from memctx.errors import StoreLockedError

if TYPE_CHECKING:
    import subprocess

    from .conftest import Opener

WRITER = Path(__file__).with_name("writer.py")
MANY = 1_000_000
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def started(folder: Path, tag: str, count: int, said: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(folder), tag, str(count)]
    with said.open("wb") as out:
        return process.start(command, stdout=out, stderr=None)


def acknowledged(said: Path) -> list[list[str]]:
    """Return what a writer printed, without a line that a kill cut short."""
    return [line.split() for line in said.read_text().split("\n")[1:-1]]


def test_processes_write_facts_side_by_side(opened: Opener, folder: Path, tmp_path: Path) -> None:
    count, tags = 40, ("one", "two", "three")
    watching = opened()
    assert len(watching) == 0
    running = [started(folder, tag, count, tmp_path / tag) for tag in tags]
    stated = current = 0
    while any(writer.poll() is None for writer in running):
        before = stated, current
        stated, current = len(watching.facts(include_superseded=True)), len(watching)
        assert stated >= before[0], "facts only come"
        # A reader takes no lock, and of an append that crosses a page it may see a fact before it sees that this
        # supersedes another. Appends take turns, so one at most is seen half.
        assert current >= before[1] - 1, "and none goes without another in its place"
    assert [writer.returncode for writer in running] == [0, 0, 0]
    wanted = {f"{tag} counted {n}" for tag in tags for n in range(count)}
    wanted |= {f"everyone counts {n}" for n in range(count)}
    for store in (watching, opened()):
        assert sorted(fact.content for fact in store.facts()) == sorted(wanted), "each once"
        assert store.health()["ok"]
    for tag in tags:
        for old, new in acknowledged(tmp_path / tag):
            assert watching.get(old).superseded_by == new  # type: ignore[union-attr]


def test_acknowledged_facts_survive_a_kill(opened: Opener, folder: Path, tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    acked: list[list[str]] = []
    for number in range(4):
        logs = [tmp_path / f"{number}-{tag}" for tag in "ab"]
        running = [started(folder, log.name, MANY, log) for log in logs]
        waited = time.monotonic()
        while not all(b"\n" in log.read_bytes() for log in logs):
            assert time.monotonic() - waited < 30, "a writer does not begin"
            time.sleep(0.01)
        for writer in running:
            time.sleep(chance.uniform(0, 0.1))
            writer.kill()
            writer.wait(30)
        acked += [ids for log in logs for ids in acknowledged(log)]
        store = opened()
        for old, new in acked:
            fact = store.get(old)
            assert fact is not None
            assert fact.superseded_by == new
            assert store.get(new) is not None
        store.add("config", f"after round {number}")
    assert acked
    # A supersession is one append: never is a fact replaced by one that is not there.
    store = opened()
    replaced = [fact.superseded_by for fact in store.facts(include_superseded=True)]
    assert all(store.get(id_) for id_ in replaced if id_)


@posix
def test_a_forked_child_reopens_the_fact_store(opened: Opener) -> None:
    store = opened()
    store.add("config", "stated by the parent")
    child = os.fork()
    if child == 0:
        try:
            store.reopen()
            store.add("config", "stated by the child")
            os._exit(0 if len(store) == 2 else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert {fact.content for fact in store.facts()} == {
        "stated by the parent",
        "stated by the child",
    }


@posix
def test_a_held_lock_is_waited_for_no_longer_than_lock_timeout(
    opened: Opener, folder: Path
) -> None:
    fcntl = pytest.importorskip("fcntl")
    store = opened(lock_timeout=0.05)
    store.add("config", "before")
    with (folder / "LOCK").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreLockedError, match="nothing was written"):
            store.add("config", "meanwhile")
        assert [fact.content for fact in store.facts()] == ["before"], "a reader takes no lock"
    store.add("config", "after")
    assert len(store) == 2

"""Killed indexers: acknowledged messages are stored, indexed once, and found."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import process

HERE = Path(__file__).parent
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def said(log: Path, kind: str) -> set[str]:
    """Return the words that a writer printed, without a line that the kill cut short."""
    lines = log.read_text().split("\n")[:-1]
    return {line.split()[1] for line in lines if line.startswith(f"{kind} ")}


def files(folder: Path) -> set[tuple[str, int]]:
    """Return the files of an index and their sizes, while another process changes them."""
    found: set[tuple[str, int]] = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                found.add((f"{parent}/{name}", os.lstat(f"{parent}/{name}").st_size))
            except FileNotFoundError:
                continue
    return found


class Moments:
    """Moments to kill: at once, at random, or when files of the index appear, grow or disappear."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.inside = 0
        """Number of moments at which files were just changing."""

    def wait(self, index: Path, logs: list[Path]) -> None:
        chance = self._chance
        way = chance.choice(["opening", "any time", "file", "file", "file"])
        if way == "opening":
            time.sleep(chance.uniform(0, 0.3))
            return
        until = time.monotonic() + 30
        while not all("ready" in log.read_text() for log in logs):
            assert time.monotonic() < until, "a writer does not begin"
            time.sleep(0.002)
        if way == "any time":
            time.sleep(chance.uniform(0, 0.5))
            return
        time.sleep(chance.uniform(0, 0.2))
        known = files(index)
        until = time.monotonic() + 2
        while time.monotonic() < until:
            if files(index) != known:
                self.inside += 1
                time.sleep(chance.choice([0, 0, 0.0005, 0.002, 0.01]))
                return


def verified(store: Path, words: set[str]) -> tuple[list[str], dict[str, object]]:
    """Return the lost words, and the counts of the index."""
    command = [sys.executable, str(HERE / "disk_index_verify.py"), str(store)]
    done = process.run(command, input="\n".join(sorted(words)), timeout=120)
    *lost, report = done.stdout.splitlines()
    return lost, json.loads(report)


def generations(store: Path) -> set[str]:
    return {path.name for path in (store / "index" / "cold").glob("g*")}


def killed(folder: Path, rounds: int, seed: int) -> tuple[int, int]:
    """Kill the indexer in each round and check; return the number of messages, and how often files were changing.

    Every round all messages are counted and must come up in one search; those of the round and some others are
    searched by their unique words, and now and then all of them.
    """
    store = folder / "store"
    chance = random.Random(seed)
    moments = Moments(chance)
    tried: set[str] = set()
    acked: set[str] = set()
    first: set[str] = set()
    for number in range(rounds):
        writers = 2 if number % 4 == 3 else 1
        logs = [folder / f"said-{number}-{writer}" for writer in range(writers)]
        running: list[subprocess.Popen[bytes]] = []
        for writer, log in enumerate(logs):
            command = [sys.executable, str(HERE / "disk_index_writer.py"), str(store)]
            with log.open("wb") as out:
                tag = f"r{number}w{writer}"
                running.append(subprocess.Popen([*command, tag], stdout=out))
        try:
            moments.wait(store / "index" / "cold", logs)
            assert [process.poll() for process in running] == [None] * writers, "a writer failed"
        finally:
            for process in running:
                process.kill()
                process.wait(30)
        tried.update(*(said(log, "try") for log in logs))
        acked.update(*(said(log, "ack") for log in logs))
        fresh = set[str]().union(*(said(log, "ack") for log in logs))
        older = sorted(acked - fresh)
        is_thorough = number % 25 == 24 or number == rounds - 1
        some = older if is_thorough else chance.sample(older, min(len(older), 50))
        lost, report = verified(store, fresh.union(some))
        assert lost == [], f"round {number}: acknowledged and not found"
        stored = report["stored"]
        assert isinstance(stored, int)
        assert len(acked) <= stored <= len(tried), f"round {number}: {report}"
        counted = dict.fromkeys(("segments", "passages", "stored", "found"), stored)
        # Who is killed before anything is written may leave nothing to index.
        assert report.pop("state") in ({"ready"} if stored else {"ready", "absent"})
        expected = {"fault": None, "twice": 0, **counted}
        assert report == expected, f"round {number}"
        # A kill is no damage: what was indexed before stays.
        first = first or generations(store)
        assert generations(store) == first, f"round {number}: indexed again"
    return len(acked), moments.inside


@posix
@pytest.mark.slow
def test_messages_of_killed_indexers_are_found(tmp_path: Path) -> None:
    """Kill it in a second folder too if few kills fell into the indexing, which depends on the machine's load."""
    found, inside = killed(tmp_path, rounds=12, seed=1)
    if inside <= 2:
        again = tmp_path / "again"
        again.mkdir()
        more, also_inside = killed(again, rounds=12, seed=2)
        found, inside = found + more, inside + also_inside
    assert found > 20
    assert inside > 2


@posix
@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.timeout(1800)
def test_messages_of_hundreds_of_killed_indexers_are_found(tmp_path: Path) -> None:
    found, inside = killed(tmp_path, rounds=200, seed=2)
    assert found > 1000
    assert inside > 60

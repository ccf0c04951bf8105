"""Killed processes: acknowledged records stay, whole and once."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import process

from .stores import posix

CRASH = Path(__file__).parents[1] / "crash"
WRITERS = 3
MANY = "1000000"  # more than anyone writes before it is killed


def verified(folder: Path) -> Counter[str]:
    command = [sys.executable, str(CRASH / "verify.py"), str(folder)]
    done = process.run(command)
    return Counter(line.split()[1] for line in done.stdout.splitlines())


def tokens(log: Path, word: str) -> set[str]:
    """Return the tokens that a writer printed, without a line that the kill cut short."""
    lines = log.read_text().split("\n")[:-1]
    return {line.split()[1] for line in lines if line.startswith(word)}


def kill_writers(folder: Path, rounds: int, seed: int) -> int:
    """Kill all writers in each round and check the store; return the number of acknowledged records."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    tried: set[str] = set()
    acked: set[str] = set()
    for number in range(rounds):
        logs = [folder / f"said-{number}-{writer}" for writer in range(WRITERS)]
        running = []
        for log in logs:
            command = [
                sys.executable,
                str(CRASH / "writer.py"),
                str(folder / "store"),
                log.name,
                MANY,
            ]
            with log.open("wb") as out:
                running.append(process.start(command, stdout=out, stderr=None))
        waited = time.monotonic()
        while not all(log.stat().st_size for log in logs):
            assert time.monotonic() - waited < 30, "a writer does not begin"
            time.sleep(0.01)
        for writer in chance.sample(running, k=WRITERS):
            time.sleep(chance.uniform(0, 0.15))
            writer.kill()
        for writer in running:
            writer.wait(30)
        tried.update(*(tokens(log, "try") for log in logs))
        acked.update(*(tokens(log, "ack") for log in logs))
        stored = verified(folder / "store")
        assert acked <= stored.keys(), f"round {number}: acknowledged and lost"
        assert stored.keys() <= tried, f"round {number}: never written"
        assert set(stored.values()) <= {1}, f"round {number}: stored twice"
    return len(acked)


@posix
@pytest.mark.slow
def test_killed_writers_lose_no_acknowledged_record(tmp_path: Path) -> None:
    assert kill_writers(tmp_path, rounds=12, seed=1) > 100


@posix
@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.timeout(1200)
def test_hundreds_of_killed_writers_lose_no_acknowledged_record(tmp_path: Path) -> None:
    assert kill_writers(tmp_path, rounds=200, seed=2) > 2000

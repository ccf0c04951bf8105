"""Crashes of writers: every acknowledged entry stays, complete, once, and on the path."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import process

HERE = Path(__file__).parent
WRITERS = 2


def tokens(log: Path, word: str) -> set[str]:
    """Return the output of a writer, without a line that the kill cut short."""
    lines = log.read_text().split("\n")[:-1]
    return {line.split()[1] for line in lines if line.startswith(word)}


def stored(folder: Path) -> Counter[str]:
    command = [sys.executable, str(HERE / "verify.py"), str(folder)]
    done = process.run(command)
    return Counter(line.split()[1] for line in done.stdout.splitlines())


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
@pytest.mark.slow
def test_no_acknowledged_entry_is_lost(tmp_path: Path) -> None:
    chance = random.Random(6)  # noqa: S311 - no secret
    folder = tmp_path / "sessions"
    tried: set[str] = set()
    acked: set[str] = set()
    for number in range(4):
        logs = [tmp_path / f"r{number}w{writer}" for writer in range(WRITERS)]
        running = []
        for log in logs:
            with log.open("wb") as out:
                command = [
                    sys.executable,
                    str(HERE / "writer.py"),
                    str(folder),
                    log.name,
                    "1000000",
                ]
                running.append(process.start(command, stdout=out, stderr=None))
        waited = time.monotonic()
        while not all(tokens(log, "ack") for log in logs):
            assert time.monotonic() - waited < 30, "a writer does not begin"
            assert all(writer.poll() is None for writer in running), "a writer gave up"
            time.sleep(0.01)
        for writer in running:
            time.sleep(chance.uniform(0, 0.1))
            writer.kill()
            writer.wait(30)
        for log in logs:
            tried |= tokens(log, "try")
            acked |= tokens(log, "ack")
        found = stored(folder)
        assert acked <= found.keys(), f"round {number}: acknowledged and lost"
        assert found.keys() <= tried, f"round {number}: unknown line"
        assert set(found.values()) == {1}, f"round {number}: stored twice"
    assert len(acked) > 20

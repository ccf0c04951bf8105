"""Writers die at any moment: what they were told is stored stays, whole, once, and on the path."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memctx.session import Transcript

WRITER = Path(__file__).with_name("writer.py")
WRITERS = 2


def tokens(log: Path, word: str) -> list[str]:
    """What a writer said, without a line that the kill cut short."""
    lines = log.read_text().split("\n")[:-1]
    return [line.split()[1] for line in lines if line.startswith(word)]


def stored(path: Path) -> list[str]:
    found = Transcript.open(path)
    path_of_leaf = [each.id for each in found.lineage()]
    assert path_of_leaf == [each.id for each in found], "an entry fell off the path"
    return [
        (each.summary or str((each.message or {}).get("content", ""))).split()[0] for each in found
    ]


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
def test_no_acknowledged_entry_is_lost(tmp_path: Path) -> None:
    chance = random.Random(6)  # noqa: S311 - no secret
    path = tmp_path / "session.jsonl"
    tried: set[str] = set()
    acked: set[str] = set()
    for number in range(4):
        logs = [tmp_path / f"r{number}w{writer}" for writer in range(WRITERS)]
        running = []
        for log in logs:
            with log.open("wb") as out:
                command = [sys.executable, str(WRITER), str(path), log.name]
                running.append(subprocess.Popen(command, stdout=out))
        waited = time.monotonic()
        while not all(tokens(log, "ack") for log in logs):
            assert time.monotonic() - waited < 30, "a writer does not begin"
            assert all(process.poll() is None for process in running), "a writer gave up"
            time.sleep(0.01)
        for process in running:
            time.sleep(chance.uniform(0, 0.1))
            process.kill()
            process.wait(30)
        for log in logs:
            tried.update(tokens(log, "try"))
            acked.update(tokens(log, "ack"))
        found = stored(path)
        assert acked <= set(found), f"round {number}: acknowledged and lost"
        assert set(found) <= tried, f"round {number}: nobody wrote that"
        assert len(found) == len(set(found)), f"round {number}: stored twice"
    assert len(acked) > 20
    Transcript.open(path).append_message({"role": "user", "content": "goes-on"})
    assert stored(path)[-1] == "goes-on"

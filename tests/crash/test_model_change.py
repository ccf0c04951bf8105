"""Model changes of a store that is searched and written to by processes that are killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memctx
from embeddings import models
from memctx.lowlevel import vmem

HERE = Path(__file__).parent
NEEDLE = "The lighthouse keeper collects 4711 blue umbrellas"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def fill(store: Path, segments: int) -> None:
    """Add segments with hashed vectors, one of them the needle."""
    chance = random.Random(7)
    words = ("gateway", "retry", "queue", "ledger", "parser", "token", "deploy", "branch", "cache")
    texts = [f"{number} {' '.join(chance.choices(words, k=8))}" for number in range(segments - 1)]
    texts.insert(segments // 3, NEEDLE)
    with memctx.open(store, session_id="s", disk={"durability": "os"}) as memory:
        for start in range(0, segments, 1000):
            said = [{"role": "user", "content": text} for text in texts[start : start + 1000]]
            memory.archive(said)


def switch(store: Path, model: str, kills: int, chance: random.Random) -> tuple[set[str], int]:
    """Change the model in a process that is killed a few times; return its stored texts and number of searches."""
    stored: set[str] = set()
    lines: list[str] = []
    for round_ in range(kills + 1):
        log = store.parent / f"{model.replace(':', '-')}-{round_}.log"
        command = [sys.executable, str(HERE / "switcher.py"), str(store), model]
        with log.open("wb") as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            try:
                if round_ < kills:
                    until = time.monotonic() + 60
                    while "ready" not in log.read_text() and child.poll() is None:
                        assert time.monotonic() < until
                        time.sleep(0.01)
                    time.sleep(chance.uniform(0.0, 0.6))
                    child.kill()
                child.wait(timeout=900)
            finally:
                child.kill()
        lines = log.read_text().split("\n")[:-1]
        failed = [line for line in lines if line.startswith(("failed", "Traceback"))]
        assert not failed, failed[:3]
        stored |= {line.split()[1] for line in lines if line.startswith("stored ")}
    assert lines[-1].startswith("done "), lines[-3:]
    return stored, int(lines[-1].split()[1])


def check(store: Path, model: str, stored: set[str], segments: int) -> None:
    """Check that every acknowledged segment is there, with one vector of this model."""
    lines = (store / "segments.jsonl").read_bytes().splitlines()
    contents = [json.loads(line)["content"] for line in lines]
    there = {content.split()[1] for content in contents if content.startswith("remark ")}
    assert stored <= there
    assert len(contents) == segments + len(there)
    ids, values = vmem.read(store / "vectors.bin")
    assert len(ids) == len(set(ids)) == len(contents)
    assert (abs((values**2).sum(axis=1) - 1) < 1e-3).all()
    stamp = json.loads((store / "vectors.json").read_text())
    assert stamp["model"] == model
    assert "file" not in stamp
    assert not (store / "vectors.next.bin").exists()
    assert vmem.verify(store / "vectors.bin").ok


def change_twice(tmp_path: Path, model: str, name: str, segments: int, kills: int) -> None:
    store, chance = tmp_path / "memory", random.Random(11)
    fill(store, segments)
    stored, searches = switch(store, model, kills, chance)
    check(store, name, stored, segments)
    more, others = switch(store, "hash", kills, chance)
    stored |= more
    check(store, "hash", stored, segments)
    assert searches > 0
    assert others > 0
    told = f"{segments} segments, {len(stored)} archived meanwhile"
    print(f"{told}, {searches} and {others} searches after the last kill")


@posix
@pytest.mark.slow
def test_a_model_change_fails_no_search_and_loses_no_vector(tmp_path: Path) -> None:
    change_twice(tmp_path, "sums", "sums", segments=3_000, kills=3)


@posix
@pytest.mark.crash
@pytest.mark.timeout(3600)
def test_a_model_change_to_a_transformer_and_back_loses_no_vector(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    name = "all-MiniLM-L6-v2"
    folder = models.minilm(tmp_path / name)
    change_twice(tmp_path, f"transformer:{folder}", name, segments=20_000, kills=8)

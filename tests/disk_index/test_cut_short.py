"""Disk index files truncated during searches: an error and a fallback, never a signal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import memctx

from .stores import KEPT, MANY, PATIENT, SESSION, filled, folder_of, text, word

posix = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be cut there")

SEARCHER = f"""
    import json, sys, memctx
    from disk_index.stores import MANY, word
    settings = dict(embedding_model="hash", disk=dict(max_segments={KEPT}, eviction_days=0, deadline_ms={PATIENT}))
    memories = [memctx.open(path, session_id="{SESSION}", **settings) for path in sys.argv[1:]]

    def best(memory, number):
        hits = memory.search(word(number), limit=1)
        return hits[0].segment.content if hits else None

    def searched(memory):
        found = [best(memory, MANY - 1) for _ in range(6)]
        for number in range(0, MANY, 50):
            best(memory, number)
            memory.store.nearest([1.0] * 384, 3)
        health = memory.health()
        reports = {{name: health[name] for name in ("degraded", "reasons", "disk_index")}}
        return [found, best(memory, 3), reports]

    print(json.dumps([best(memory, 3) for memory in memories]), flush=True)
    for line in sys.stdin:
        print(json.dumps([searched(memory) for memory in memories]), flush=True)
    for memory in memories:
        memory.close()
"""


class Searcher:
    """A process with open memories that searches on request."""

    def __init__(self, *stores: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SEARCHER), *map(str, stores)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert self._answer() == [text(3)] * len(stores)

    def search(self) -> list[Any]:
        """Return for each store: its newest message, searched repeatedly, an old one, and its health."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        found: list[Any] = self._answer()
        return found

    def end(self) -> None:
        errors = self._process.communicate(timeout=60)[1]
        assert self._process.returncode == 0, errors[-2000:]

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, (self._process.wait(60), self._process.communicate()[1][-2000:])
        return json.loads(line)


def files_of(store: Path) -> list[Path]:
    """Return the non-empty files of the index."""
    found = folder_of(store).rglob("*")
    return sorted(
        path.relative_to(store) for path in found if path.is_file() and path.stat().st_size
    )


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("cut") / "store"
    filled(store)
    return store


@posix
@pytest.mark.parametrize("share", [0, 0.5], ids=["to nothing", "to a half"])
def test_a_process_survives_truncation_of_every_index_file(
    indexed: Path, tmp_path: Path, share: float
) -> None:
    names = files_of(indexed)
    assert {"rows", "pieces", "passages", "meta.json", "CURRENT"} <= {name.name for name in names}
    stores = [tmp_path / str(number) for number in range(len(names))]
    for store in stores:
        shutil.copytree(indexed, store)
    searcher = Searcher(*stores)
    for store, name in zip(stores, names, strict=True):
        os.truncate(store / name, int((store / name).stat().st_size * share))
    for name, (found, _, _) in zip(names, searcher.search(), strict=True):
        assert found == [text(MANY - 1)] * 6, name
    searcher.end()


@posix
@pytest.mark.parametrize("name", ["rows", "pieces", "passages", "meta.json", "*.idx", "*.term"])
def test_a_truncated_index_is_reported_and_rebuilt(
    indexed: Path, tmp_path: Path, name: str
) -> None:
    """Messages in memory are found throughout, evicted ones once the index is rebuilt."""
    store = tmp_path / "store"
    shutil.copytree(indexed, store)
    (path,) = folder_of(store).rglob(name)
    searcher = Searcher(store)
    os.truncate(path, 1)
    reports, old = [], None
    for _ in range(200):
        ((found, old, health),) = searcher.search()
        assert found == [text(MANY - 1)] * 6
        reports.append(health)
        if old == text(3) and not health["degraded"]:
            break
    searcher.end()
    assert old == text(3)
    faults = [health["disk_index"]["fault"] for health in reports if health["disk_index"]["fault"]]
    # What was read before the cut still answers, and then there is nothing to tell.
    assert faults or len(reports) == 1
    assert all(path.name in fault for fault in faults)
    degraded = [health for health in reports if health["degraded"]]
    assert all("disk index is unavailable" in health["reasons"][0] for health in degraded)
    assert not reports[-1]["reasons"]


@posix
def test_a_search_of_everything_works_right_after_a_truncation(
    indexed: Path, tmp_path: Path
) -> None:
    """A search that waits for everything gets everything, from an index rebuilt meanwhile."""
    store = tmp_path / "store"
    shutil.copytree(indexed, store)
    with memctx.open(
        store,
        session_id=SESSION,
        embedding_model="hash",
        disk={"max_segments": KEPT, "eviction_days": 0},
    ) as memory:
        assert memory.search(word(3), limit=1, everything=True)[0].segment.content == text(3)
        for path in folder_of(store).rglob("*"):
            if path.is_file():
                os.truncate(path, path.stat().st_size // 2)
        assert memory.search(word(3), limit=1, everything=True)[0].segment.content == text(3)


@posix
def test_a_deleted_index_is_rebuilt_by_an_open_memory(indexed: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(indexed, store)
    searcher = Searcher(store)
    shutil.rmtree(store / "index")
    answers = (searcher.search() for _ in range(200))
    assert any(old == text(3) and (store / "index").exists() for ((_, old, _),) in answers)
    searcher.end()

"""FIFOs, links and open folders in place of a store's files: refused at once, never followed."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import memctx
from memctx import StoreError

from .stores import REFUSED, child, filled, opened, posix, said_by

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = posix

USER = """
    import json, sys, memctx
    reported = []

    def tried(call):
        try:
            return call()
        except (memctx.MemctxError, OSError) as error:
            reported.append(f"{type(error).__name__}: {error}")

    disk = dict(max_segments=20, eviction_days=0, lock_timeout=0.5)
    settings = dict(session_id="s1", disk=disk, knowledge_extraction="rules", embedding_model="hash")
    memory = tried(lambda: memctx.open(sys.argv[1], context_window=4000, **settings))
    if memory is not None:
        said = [{"role": "user", "content": f"Remark {number} on the webhook " * 9} for number in range(60)]
        tried(lambda: memory.archive(said))
        tried(lambda: memory.prepare(said))
        tried(lambda: memory.search("webhook"))
        tried(lambda: memory.search("webhook", everything=True))
        tried(lambda: memory.facts.add("config", "The webhook listens on port 8443"))
        tried(lambda: memory.wait_for_facts(timeout=1).result(10))
        tried(lambda: memory.compact_sync(said))
        tried(lambda: memory.counters)
        tried(memory.store.snapshot)
        tried(memory.reembed)
        tried(memory.stats)
        reported += memory.health()["faults"] + memory.health()["reasons"]
        memory.close()
    print(json.dumps(reported))
"""


@pytest.fixture(scope="module")
def full_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with every kind of file."""
    store = tmp_path_factory.mktemp("full_store") / "store"
    assert json.loads(said_by(child(USER, store))[-1]) == []
    return store


def files_of(store: Path) -> list[Path]:
    return sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_fifo_in_a_store_does_not_block(full_store: Path, tmp_path: Path) -> None:
    """A FIFO replaces each file in turn; the process exits with status 0."""
    names = files_of(full_store)
    kinds = {name.parts[0] for name in names}
    assert {
        "segments.jsonl",
        "knowledge.jsonl",
        "LOCK",
        "vectors.bin",
        "index",
        "sessions",
    } <= kinds

    def told_of(number: int) -> list[str]:
        store, name = tmp_path / str(number), names[number]
        shutil.copytree(full_store, store)
        (store / name).unlink()
        os.mkfifo(store / name)
        reported: list[str] = json.loads(said_by(child(USER, store), timeout=120)[-1])
        return reported

    with ThreadPoolExecutor(4) as threads:
        all_reported = threads.map(told_of, range(len(names)))
    for name, reported in zip(names, all_reported, strict=True):
        if str(name) in {"segments.jsonl", "knowledge.jsonl", "LOCK"}:
            assert any("regular file" in each and name.name in each for each in reported), (
                name,
                reported,
            )


@pytest.mark.parametrize("folder", ["sessions", "extraction", "imports"])
def test_a_linked_folder_of_a_store_is_refused(tmp_path: Path, folder: str) -> None:
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    filled(store)
    elsewhere.mkdir()
    (store / folder).symlink_to(elsewhere)
    with pytest.raises(StoreError, match=rf"{folder}: it is a symbolic link"):
        memctx.open(store, session_id="s1")
    assert list(elsewhere.iterdir()) == []


def test_nothing_is_written_through_a_folder_that_becomes_a_link(tmp_path: Path) -> None:
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    elsewhere.mkdir()
    said = [
        {"role": "user", "content": f"Remark {number} on the webhook " * 9} for number in range(60)
    ]
    with memctx.open(store, session_id="s1", context_window=4_000) as memory:
        memory.prepare(said)
        memory.search("webhook")
        shutil.rmtree(store / "sessions", ignore_errors=True)
        (store / "sessions").symlink_to(elsewhere)
        turn = memory.prepare([*said, {"role": "user", "content": "Which webhook?"}])
        assert turn.messages
    assert list(elsewhere.iterdir()) == []


def test_nothing_is_read_through_a_linked_index(tmp_path: Path) -> None:
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    filled(store)
    with memctx.open(store, session_id="s1") as memory:
        assert memory.store.snapshot()
    (store / "index").rename(elsewhere)
    (store / "index").symlink_to(elsewhere)
    with memctx.open(store, session_id="s1") as memory:
        assert "symbolic link" in memory.health()["snapshot"]
        assert memory.search("deploy failed")


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o777, 0o702])
def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    store = tmp_path / "store"
    filled(store)
    store.chmod(mode)
    for open_it in (
        opened,
        memctx.lowlevel.LogReader,
        lambda path: memctx.open(path, session_id="s1"),
    ):
        with pytest.raises(StoreError) as caught:
            open_it(store)
        reported = str(caught.value)
        assert str(store) in reported
        assert f"{mode:04o}" in reported
        assert f"chmod 700 {store}" in reported
    store.chmod(0o700)
    assert opened(store).search("deploy failed")


def test_a_fifo_as_vector_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for use in (memctx.lowlevel.vmem.read, memctx.lowlevel.vmem.verify):
        with pytest.raises(REFUSED, match="regular file"):
            use(tmp_path / "fifo")

"""`verify`, its repair, and `gc`: what may be lost is named before, and nothing else is."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memctx
import process
from cli.verbs.stocked import messages, opened, stocked
from memctx import ConfigError
from memctx.cli.verbs import upkeep
from memctx.cli.verbs.upkeep import gc, verify
from memctx.errors import StoreLockedError, UnsupportedVersionError
from memctx.lowlevel import vmem

if TYPE_CHECKING:
    from collections.abc import Sequence


def contents(store: Path) -> list[str]:
    return [segment.content for segment in memctx.lowlevel.LogReader(store).scan()]


def snapshot(store: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(store.rglob("*")) if file.is_file()}


def test_verify_passes_a_sound_store(store: Path) -> None:
    outcome = verify(store)
    assert outcome.is_ok
    assert outcome.data["checked"]["segments"] == 6
    assert outcome.text.endswith("No damage found.")


def test_verify_and_gc_plans_change_nothing(store: Path) -> None:
    with (store / "segments.jsonl").open("ab") as log:
        log.write(b"torn\n")
    before = snapshot(store)
    assert not verify(store).is_ok
    assert not verify(store, repair=True).is_ok
    assert not verify(store, is_sure=True).is_ok
    assert gc(store, sessions=["shop"]).data["segments"] == 4
    assert gc(store, older_than_days=1).data["segments"] == 6
    assert snapshot(store) == before


def test_folders_without_a_store_are_refused(tmp_path: Path) -> None:
    for verb in (verify, gc):
        with pytest.raises(ConfigError, match="there is no store"):
            verb(tmp_path)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=15)
@given(
    damage=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), min_size=1, max_size=4)
)
def test_repair_moves_the_damaged_lines_and_keeps_all_others(damage: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = stocked(Path(folder) / "store")
        log = store / "segments.jsonl"
        data = bytearray(log.read_bytes())
        for at, flip in damage:
            data[at % len(data)] ^= flip
        log.write_bytes(data)
        readable = contents(store)
        outcome = verify(store, repair=True, is_sure=True)
        assert outcome.is_ok
        assert verify(store).is_ok
        assert contents(store) == readable
        aside = store / "segments.jsonl.damaged"
        moved = aside.read_bytes() if aside.exists() else b""
        kept = sorted((log.read_bytes() + moved).splitlines())
        assert kept == sorted(bytes(data).splitlines())


def test_more_damage_than_is_named_is_repaired_too(store: Path) -> None:
    with (store / "segments.jsonl").open("ab") as log:
        log.write(b"no line\n" * 250)
    assert "150 more lines like these" in verify(store).text
    outcome = verify(store, repair=True, is_sure=True)
    assert outcome.is_ok
    assert outcome.data["left"] == 0
    assert (store / "segments.jsonl.damaged").read_bytes() == b"no line\n" * 250
    assert len(contents(store)) == 6


def test_damaged_derived_and_small_files_are_rebuilt(store: Path) -> None:
    with opened(store) as memory:
        memory.prepare(messages("shop"), format="pi")
        memory.store.snapshot()
    (store / "vectors.bin").write_bytes(b"VMEM\x01\0\0\0")
    (store / "sessions" / "shop.json").write_text("{")
    assert {each["file"] for each in verify(store).data["findings"]} == {
        "vectors.bin",
        "sessions/shop.json",
    }
    assert verify(store, repair=True, is_sure=True).is_ok
    with opened(store) as memory:
        assert memory.search("webhook port")


def test_damaged_facts_are_moved_and_the_others_hold(store: Path) -> None:
    log = store / "knowledge.jsonl"
    log.write_bytes(log.read_bytes().replace(b"rounds", b"rouxds", 1))
    assert verify(store, repair=True, is_sure=True).is_ok
    with opened(store) as memory:
        assert [fact.content[-4:] for fact in memory.facts] == ["8443"]


def test_gc_of_a_session_leaves_nothing_of_it_and_all_of_the_others(store: Path) -> None:
    with opened(store) as memory:
        memory.prepare(messages("shop"), format="pi")
    (store / "sessions" / "shop.blocks").write_text("0123456789abcdef\n")
    outcome = gc(store, sessions=["shop"], is_sure=True)
    assert not [*store.rglob("shop*")]
    assert (outcome.data["segments"], outcome.data["fact_lines"]) == (4, 4)
    assert b"shop" not in b"".join(snapshot(store).values())
    assert len(contents(store)) == 2
    assert verify(store).is_ok
    with opened(store, "blog") as memory:
        assert memory.search("dark variant")


def test_gc_keeps_the_vectors_of_remaining_segments(tmp_path: Path) -> None:
    """The vectors may have been paid for."""
    asked: list[str] = []

    class Paid:
        name, revision, dim = "paid", "1", 8

        def embed(self, text: str) -> list[float]:
            return self.embed_many([text])[0]

        def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
            asked.extend(texts)
            return [[float(len(text)), *[1.0] * 7] for text in texts]

    paid: dict[str, Any] = {"embedding_model": Paid()}
    path = tmp_path / "store"
    for session in ("shop", "blog"):
        long = " ".join(f"Line {number} of the {session} is settled." for number in range(300))
        with opened(path, session, **paid) as memory:
            memory.archive([*messages(session), {"role": "user", "content": long}])
            memory.reembed()
    before = set(asked)
    ids, _ = vmem.read(path / "vectors.bin")
    assert len(ids) == len(before) > 8
    gc(path, sessions=["shop"], is_sure=True)
    kept, _ = vmem.read(path / "vectors.bin", strict=True)
    staying = {segment.id for segment in memctx.lowlevel.LogReader(path).scan()}
    assert set(kept) == {name for name in ids if name.partition("#")[0] in staying}
    assert len(staying) == 3 < len(kept)
    asked.clear()
    with opened(path, "blog", **paid) as memory:
        memory.archive([{"role": "user", "content": "The feed is rebuilt every hour"}])
        memory.reembed()
        assert memory.search("dark variant")
    assert set(asked).isdisjoint(before)
    assert verify(path).is_ok


def test_gc_leaves_everything_if_the_vectors_are_of_a_newer_version(store: Path) -> None:
    with opened(store) as memory:
        memory.store.snapshot()
    vectors = store / "vectors.bin"
    data = bytearray(vectors.read_bytes())
    data[4] = 9
    vectors.write_bytes(data)
    before = snapshot(store)
    with pytest.raises(UnsupportedVersionError, match="version 9"):
        gc(store, sessions=["shop"], is_sure=True)
    assert snapshot(store) == before


def test_repair_keeps_the_vectors_that_can_be_read(store: Path) -> None:
    with opened(store) as memory:
        memory.store.snapshot()
    path = store / "vectors.bin"
    ids, matrix = vmem.read(path)
    vmem.write(path, ids, matrix)
    path.write_bytes(path.read_bytes()[:-100])
    assert verify(store).data["findings"][0]["remedy"] == "keep what can be read"
    assert verify(store, repair=True, is_sure=True).is_ok
    assert vmem.read(path, strict=True)[0] == ids[:-1]


def test_gc_by_age_keeps_younger_segments_and_all_facts(store: Path) -> None:
    days = (time.time() - 1_765_000_000) / 86_400
    outcome = gc(store, older_than_days=days, is_sure=True)
    assert (outcome.data["segments"], outcome.data["fact_lines"]) == (2, 0)
    with opened(store, cross_session=True) as memory:
        assert memory.store.sessions() == ["shop"]
        assert len(memory.facts) == 2


def test_facts_are_extracted_once_whatever_gc_takes(tmp_path: Path) -> None:
    def said(text: str, at: int) -> dict[str, object]:
        return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": at}

    store = tmp_path / "store"
    old, new = 1_700_000_000_000, int(time.time() * 1000)
    with opened(store, knowledge_extraction="rules") as memory:
        texts = ("We decided: the cache is Valkey.", "We decided: the queue is NATS.")
        memory.archive([said(texts[0], old), said(texts[1], new)], format="pi")
        memory.wait_for_facts().result(timeout=30)
    assert gc(store, older_than_days=30, is_sure=True).data["segments"] == 1
    with opened(store, knowledge_extraction="rules") as memory:
        memory.archive(
            [
                said(
                    "We decided: the database of the shop is Postgres, in the newest version there is. "
                    * 3,
                    new,
                )
            ],
            format="pi",
        )
        assert memory.wait_for_facts().result(timeout=30).is_complete
        known = [fact.content for fact in memory.facts]
        assert memory.extraction is not None
        assert memory.extraction.progress().counts.added == 3
    assert len(known) == 3


def test_gc_by_age_and_session_needs_both_to_match(store: Path) -> None:
    assert gc(store, older_than_days=1, sessions=["blog"]).data["segments"] == 2
    days = (time.time() - 1_765_000_000) / 86_400
    assert gc(store, older_than_days=days, sessions=["shop"]).data["segments"] == 0


def test_an_open_store_works_after_gc(store: Path) -> None:
    with opened(store, "blog") as memory:
        assert memory.search("dark variant")
        gc(store, sessions=["shop"], is_sure=True)
        memory.archive([{"role": "user", "content": "The feed is rebuilt every hour"}])
        assert memory.search("feed rebuilt")[0].segment.content == "The feed is rebuilt every hour"
        assert memory.search("dark variant")
    assert len(contents(store)) == 3
    assert verify(store).is_ok


WRITER = """
import sys, memctx
with memctx.open(sys.argv[1], session_id="writer", knowledge_extraction=False) as memory:
    for number in range(int(sys.argv[2])):
        memory.archive([{"role": "user", "content": f"Message {number} of the writer, number {number * 7919}"}])
        memory.facts.add("config", f"The value of option {number} is {number * 7919}")
"""


def test_nothing_is_lost_while_another_process_writes(store: Path) -> None:
    """Both logs are replaced again and again under a process that appends to them."""
    command = [sys.executable, "-c", WRITER, str(store), "60"]
    environ = {**os.environ, "PYTHONPATH": str(Path(memctx.__file__).parents[1])}
    rounds = 0
    with process.start(command, env=environ, stderr=None) as writer:
        while writer.poll() is None:
            rounds += 1
            with opened(store, f"victim {rounds}") as memory:
                memory.archive([{"role": "user", "content": f"Victim {rounds} says something"}])
                memory.facts.add("config", f"Victim {rounds} is known")
            with (store / "segments.jsonl").open("ab") as log:
                log.write(b"no line\n")
            assert gc(store, sessions=[f"victim {rounds}"], is_sure=True).data["fact_lines"] == 1
            verify(store, repair=True, is_sure=True)
    assert writer.returncode == 0
    assert rounds > 1
    assert verify(store).is_ok
    said = [
        segment.content
        for segment in memctx.lowlevel.LogReader(store).scan(
            memctx.SearchFilter(session_id="writer")
        )
    ]
    assert [int(text.split()[1]) for text in said] == list(range(60))
    with opened(store, "writer") as memory:
        assert len(memory.facts) == 60
    assert (
        "Victim"
        not in (store / "segments.jsonl").read_text() + (store / "knowledge.jsonl").read_text()
    )


def test_gc_waits_for_a_writer_and_gives_up(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "LOCK_TIMEOUT", 0.05)
    before = snapshot(store)
    with process.holding(store / "LOCK"), pytest.raises(StoreLockedError):
        gc(store, sessions=["shop"], is_sure=True)
    assert snapshot(store) == before


@pytest.mark.parametrize("days", [0.0, -1.0, float("nan")])
def test_an_invalid_age_is_refused(store: Path, days: float) -> None:
    with pytest.raises(ConfigError, match="older_than_days is"):
        gc(store, older_than_days=days)


def test_temporary_files_older_than_a_day_are_removed(store: Path) -> None:
    old, new = store / ".segments.jsonl.1.tmp", store / ".segments.jsonl.2.tmp"
    for file in (old, new):
        file.write_bytes(b"x" * 10)
    os.utime(old, (1, 1))
    with opened(store) as memory:
        memory.store.snapshot()
    snapshots = [str(file.relative_to(store)) for file in (store / "index").glob("*.snapshot")]
    assert snapshots
    assert gc(store).data["files"] == [old.name, *snapshots]
    assert old.exists()
    gc(store, is_sure=True)
    assert (old.exists(), new.exists()) == (False, True)
    assert not list((store / "index").iterdir())
    with opened(store) as memory:
        assert memory.search("webhook port")


def test_gc_removes_the_disk_index_of_removed_segments(store: Path) -> None:
    """It has the words of what is deleted; where nothing is, it stays."""
    index = store / "index" / "cold"
    deep = index / "g7" / "texts"

    def make() -> int:
        deep.mkdir(parents=True, exist_ok=True)
        (deep / "words").write_bytes(b"shop" * 1000)
        return sum(file.stat().st_size for file in index.rglob("*") if file.is_file())

    make()
    assert "index/cold" not in gc(store, is_sure=True).data["files"]
    assert deep.exists()
    size = make()
    planned = gc(store, sessions=["shop"])
    assert "index/cold" in planned.data["files"]
    assert planned.data["bytes"] > size
    assert deep.exists()
    assert gc(store, sessions=["shop"], is_sure=True).data["bytes"] == planned.data["bytes"]
    assert not index.exists()
    make()
    with (store / "segments.jsonl").open("ab") as log:
        log.write(b"torn\n")
    assert verify(store, repair=True, is_sure=True).is_ok
    assert not index.exists()

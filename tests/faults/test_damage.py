"""Damaged files: a damaged line costs that line, damage to derived files costs nothing."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Literal

import pytest

from memctx import StoreError
from memctx.errors import CorruptStoreError, UnsupportedVersionError

from .stores import contents, filled, opened, results, say, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 6
SNAPSHOT = "index/*.snapshot"
Harm = Literal["flip", "cut"]


class Damage:
    """A store, and copies of it with one fault each."""

    def __init__(self, folder: Path, *, with_snapshot: bool, count: int = COUNT) -> None:
        self.whole, self.copy = folder / "whole", folder / "copy"
        self.texts = filled(self.whole, count)
        if with_snapshot:
            store = opened(self.whole)
            assert store.snapshot()
            store.close()
        self.results = results(opened(self.whole))
        self.chance = random.Random(20)  # noqa: S311 - no secret

    def file(self, name: str) -> Path:
        (found,) = self.whole.glob(name)
        return found

    def copies(
        self, name: str, harm: Harm, most: int = 2500, *, fresh: bool = False
    ) -> Iterator[tuple[int, Path]]:
        """Yield copies with one damaged byte, at every offset or as many as there is time for.

        ``fresh`` copies the whole store each time, for tests that write to it.
        """
        source = self.file(name)
        original = source.read_bytes()
        places = sorted(self.chance.sample(range(len(original)), min(len(original), most)))
        for place in places:
            if fresh or not self.copy.exists():
                shutil.rmtree(self.copy, ignore_errors=True)
                shutil.copytree(self.whole, self.copy)
            damaged = bytearray(original)
            if harm == "flip":
                damaged[place] ^= 1 << self.chance.randrange(8)
            else:
                del damaged[place:]
            (self.copy / source.relative_to(self.whole)).write_bytes(damaged)
            yield place, self.copy


@pytest.fixture
def damage(tmp_path: Path) -> Damage:
    return Damage(tmp_path, with_snapshot=False)


@pytest.fixture
def snapped(tmp_path: Path) -> Damage:
    return Damage(tmp_path, with_snapshot=True)


@pytest.mark.parametrize("harm", ["flip", "cut"])
@pytest.mark.parametrize(("name", "most"), [("vectors.bin", 200), ("vectors.json", 100)])
def test_damage_beside_the_log_changes_nothing(
    damage: Damage, name: str, most: int, harm: Harm
) -> None:
    for place, folder in damage.copies(name, harm, most):
        store = opened(folder)
        assert results(store) == damage.results, place
        assert contents(store) == damage.texts, place


def test_a_flipped_bit_in_the_lock_file_locks_no_process_out(damage: Damage) -> None:
    """The fourth bit turns a 1 into a 9, an unknown version."""
    lock = damage.whole / "LOCK"
    original = lock.read_bytes()
    for place in range(len(original)):
        for bit in (0, 3, 6):
            damaged = bytearray(original)
            damaged[place] ^= 1 << bit
            lock.write_bytes(damaged)
            store = opened(damage.whole, durability="os")
            assert len(store) == COUNT, (place, bit)
            assert not store.health()["read_only"], (place, bit)


def test_a_truncated_lock_file_still_locks(damage: Damage) -> None:
    for place, folder in damage.copies("LOCK", "cut"):
        store = opened(folder, durability="os")
        assert [added.outcome for added in say(store, f"cut at {place}")] == ["added"]
    assert len(opened(damage.copy)) == COUNT + len(damage.file("LOCK").read_bytes())


@pytest.mark.parametrize("harm", ["flip", "cut"])
def test_a_damaged_snapshot_is_rebuilt(snapped: Damage, harm: Harm) -> None:
    assert opened(snapped.whole).health()["snapshot"] == f"{COUNT} segments loaded"
    for place, folder in snapped.copies(SNAPSHOT, harm, 250):
        store = opened(folder)
        assert results(store) == snapped.results, place
        assert len(store) == COUNT, place


@pytest.mark.parametrize("with_snapshot", [False, True])
@pytest.mark.slow
def test_a_flipped_bit_in_the_log_costs_the_record_it_hit(
    tmp_path: Path, *, with_snapshot: bool
) -> None:
    """At every byte. A damaged line feed joins two records, so it may cost both."""
    damage = Damage(tmp_path, with_snapshot=with_snapshot, count=3)
    log = damage.file("segments.jsonl").read_bytes()
    for place, folder in damage.copies("segments.jsonl", "flip", 300 if with_snapshot else 2500):
        hit = log[:place].count(b"\n")
        lost = {hit, hit + 1} if log[place : place + 1] == b"\n" else {hit}
        wanted = [text(number) for number in range(3) if number not in lost]
        store = opened(folder)
        assert contents(store) == wanted, place
        for found, original in zip(results(store), damage.results, strict=True):
            assert {said for said, _ in found} == {said for said, _ in original} & set(wanted)
        # A last line without its end may be one that is being written.
        assert not store.health()["ok"] or place == len(log) - 1, place


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_truncated_log_keeps_the_records_before(tmp_path: Path, *, with_snapshot: bool) -> None:
    """The next record is whole, wherever the cut was."""
    damage = Damage(tmp_path, with_snapshot=with_snapshot)
    log = damage.file("segments.jsonl").read_bytes()
    for place, folder in damage.copies("segments.jsonl", "cut", 100, fresh=True):
        kept = damage.texts[: log[:place].count(b"\n")]
        store = opened(folder, durability="os")
        found = contents(store)
        # A last line that lacks nothing but its end may count.
        assert found in (kept, damage.texts[: len(kept) + 1]), place
        say(store, "the next record")
        after = contents(opened(folder))
        assert (after[: len(kept)], after[-1]) == (kept, "the next record"), place


@pytest.mark.parametrize("harm", ["flip", "cut"])
def test_damaged_vectors_are_rebuilt(damage: Damage, harm: Harm) -> None:
    """The file is rebuilt once, and neither stays damaged nor grows with every start."""
    whole = damage.file("vectors.bin").stat().st_size
    for place, folder in damage.copies("vectors.bin", harm, 6, fresh=True):
        for number in range(3):
            store = opened(folder)
            say(store, f"remark {number} after the damage")
            store.close()
        assert opened(folder).health()["vectors"] == f"{COUNT + 3} loaded", place
        assert (folder / "vectors.bin").stat().st_size < 2 * whole


def test_a_newer_format_is_left_alone(damage: Damage) -> None:
    """It is opened read-only if it may be read, refused if not; its bytes stay."""
    lock = damage.whole / "LOCK"
    for reader, writer in [(1, 2), (2, 2)]:
        said = {"format": 2, "min_reader": reader, "min_writer": writer}
        lock.write_text(json.dumps(said, separators=(",", ":")) + "\n")
        before = {path: path.read_bytes() for path in damage.whole.rglob("*") if path.is_file()}
        if reader == 1:
            store = opened(damage.whole)
            assert results(store) == damage.results
            with pytest.raises(StoreError, match="read-only"):
                say(store, "cannot be stored")
            store.close()
        else:
            with pytest.raises(UnsupportedVersionError):
                opened(damage.whole)
        after = {path: path.read_bytes() for path in damage.whole.rglob("*") if path.is_file()}
        assert after == before


def test_a_damaged_neighbor_is_left_out(snapped: Damage) -> None:
    """Other neighbors are still returned; only a request for its id raises."""
    store = opened(snapped.whole)
    assert len(store) == COUNT
    ids = [segment.id for segment in store.segments()]
    log = snapped.file("segments.jsonl")
    lines = log.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b"deploy", b"demolt", 1)
    log.write_bytes(b"\n".join(lines))
    around = [segment.content for segment in store.neighbors(ids[3], 2)]
    assert around == [text(number) for number in (1, 4, 5)]
    with pytest.raises(CorruptStoreError, match="checksum"):
        store.get(ids[2])
    hits = store.search("deploy failed service 3", limit=1, window=2)
    assert text(2) not in [hit.segment.content for hit in hits]
    assert text(3) in [hit.segment.content for hit in hits]
    assert store.health()["damaged"] == 2


def test_a_record_that_lacks_only_its_line_end_is_not_stored_again(damage: Damage) -> None:
    """It is whole, so the next writer ends its line and finds the duplicate."""
    log = damage.file("segments.jsonl")
    log.write_bytes(log.read_bytes()[:-1])
    store = opened(damage.whole)
    assert [added.outcome for added in say(store, damage.texts[-1])] == ["duplicate"]
    assert contents(opened(damage.whole)) == damage.texts
    assert store.health()["repaired"] == 1


def test_a_snapshot_knows_how_many_lines_were_skipped(damage: Damage) -> None:
    with damage.file("segments.jsonl").open("ab") as log:
        log.write(b"no record\n" * 250)
    store = opened(damage.whole)
    assert store.health()["skipped_lines"] == 250
    assert store.snapshot()
    store.close()
    assert opened(damage.whole).health()["skipped_lines"] == 250

"""The index is derived data: in spite of any damage, the answers are those of the log."""

from __future__ import annotations

import json
import shutil
import time
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from faults.stores import child, said_by
from memctx.cli.verbs.upkeep import gc, verify

from .stores import (
    MANY,
    best,
    caught_up,
    contents,
    filled,
    folder_of,
    missing,
    opened,
    say,
    text,
    texts,
    word,
)

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.lowlevel import Store

SOME = range(0, MANY, 23)
CHECKSUM = 9  # hexadecimal, at the end of what names the files of a commit


def fault_of(store: Store) -> str | None:
    status = store.disk_index()
    assert status is not None
    return status.fault


def test_an_index_deleted_between_two_openings_is_rebuilt(tmp_path: Path) -> None:
    filled(tmp_path)
    shutil.rmtree(tmp_path / "index")
    store = opened(tmp_path)
    assert missing(store, SOME, everything=True) == []
    status = caught_up(store)
    assert (status.state, status.segments, status.fault) == ("ready", MANY, None)


@pytest.mark.parametrize("part", ["index", "index/cold"])
def test_an_index_deleted_under_an_open_store_is_rebuilt(tmp_path: Path, part: str) -> None:
    filled(tmp_path)
    store = opened(tmp_path)
    assert missing(store, SOME) == []
    for turn in range(3):
        while (tmp_path / part).exists():  # files may come while it goes
            shutil.rmtree(tmp_path / part, ignore_errors=True)
        assert missing(store, range(MANY - 20, MANY)) == []  # what is in memory is there at once
        more = MANY + 10 * turn
        say(store, [text(number) for number in range(more, more + 10)])
        assert missing(store, SOME, everything=True) == []
        assert missing(store, range(MANY, more + 10), everything=True) == []
        status = caught_up(store)
        assert (status.state, status.segments) == ("ready", more + 10)
    fresh = opened(tmp_path)
    assert missing(fresh, SOME) == []


def test_a_foreign_file_instead_of_the_index_is_ignored(tmp_path: Path) -> None:
    """A foreign file under its name does not prevent opening and searching."""
    filled(tmp_path, 120)
    shutil.rmtree(folder_of(tmp_path))
    folder_of(tmp_path).write_text("not a folder")
    store = opened(tmp_path)
    assert missing(store, range(80, 120)) == []
    store.close()
    folder_of(tmp_path).unlink()
    store = opened(tmp_path)
    assert missing(store, range(0, 120, 7), everything=True) == []


def test_an_index_of_another_store_is_rejected(tmp_path: Path) -> None:
    filled(tmp_path / "ours", 200)
    filled(tmp_path / "theirs", 200, tag="their")
    shutil.rmtree(folder_of(tmp_path / "ours"))
    shutil.copytree(folder_of(tmp_path / "theirs"), folder_of(tmp_path / "ours"))
    store = opened(tmp_path / "ours")
    assert missing(store, range(0, 200, 7), everything=True) == []
    hits = store.search("filed under since Tuesday", limit=400, everything=True)
    assert sorted(contents(hits)) == sorted(texts(200))
    assert caught_up(store).segments == 200


def test_an_index_ahead_of_the_log_finds_no_missing_message(tmp_path: Path) -> None:
    """As after restoring a backup of the log."""
    filled(tmp_path)
    log = tmp_path / "segments.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:200]))
    store = opened(tmp_path)
    assert missing(store, range(0, 200, 7), everything=True) == []
    assert best(store, word(300), everything=True) != text(300)
    assert caught_up(store).segments == 200
    say(store, [text(number) for number in range(600, 700)])
    assert missing(store, range(600, 700, 7), everything=True) == []
    hits = store.search("filed under since Tuesday", limit=2 * MANY, everything=True)
    assert len(contents(hits)) == len(set(contents(hits))) == 300


def test_a_log_that_is_cut_short_under_an_open_store_is_indexed_again(tmp_path: Path) -> None:
    filled(tmp_path)
    visitor = opened(tmp_path, "visitor", cross_session=True)
    assert caught_up(visitor).segments == 500
    log = tmp_path / "segments.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:200]))
    store = opened(tmp_path)
    time.sleep(0.1)  # a look at the files counts for 50 ms
    assert caught_up(store).segments == 200
    assert missing(store, range(0, 200, 7), everything=True) == []
    visitor.close()


def test_messages_deleted_by_gc_are_not_found_in_an_open_store(tmp_path: Path) -> None:
    filled(tmp_path, 200, "goes", tag="goes")
    filled(tmp_path, 200, "stays", tag="stays")
    store = opened(tmp_path, "visitor", max_segments=20, cross_session=True)
    assert missing(store, range(0, 200, 13), "goes") == []
    size = sum(path.stat().st_size for path in folder_of(tmp_path).rglob("*") if path.is_file())
    outcome = gc(tmp_path, sessions=["goes"], is_sure=True)
    assert outcome.data["segments"] == 200
    assert outcome.data["bytes"] > size
    assert "index/cold" in outcome.data["files"]
    for options in ({}, {"everything": True}, {}):
        for number in range(0, 200, 13):
            hits = store.search(word(number, "goes"), limit=400, **options)  # type: ignore[arg-type]
            assert "goes" not in "".join(contents(hits))
    assert missing(store, range(0, 200, 13), "stays", everything=True) == []
    store.close()
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert word(3, "goes").encode() not in left


def test_all_remaining_messages_are_found_after_a_log_repair(tmp_path: Path) -> None:
    filled(tmp_path, 200)
    log = tmp_path / "segments.jsonl"
    log.write_bytes(log.read_bytes().replace(word(100).encode(), word(100).upper().encode(), 1))
    assert verify(tmp_path, repair=True, is_sure=True).is_ok
    store = opened(tmp_path)
    assert missing(store, range(100), everything=True) == []
    assert missing(store, range(101, 200), everything=True) == []
    assert best(store, word(100), everything=True) != text(100)
    assert caught_up(store).segments == 199


DAMAGE = """
    import json, shutil, sys
    from pathlib import Path
    from memctx.lowlevel import Store, StoreOptions

    pristine, scratch, words = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    every = int(sys.argv[4])

    def empty(path): path.write_bytes(b"")
    def cut(path): path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    def zeros(path): path.write_bytes(bytes(path.stat().st_size))
    def noise(path): path.write_bytes(bytes((7 * at + 13) % 256 for at in range(path.stat().st_size)))
    def longer(path): path.write_bytes(path.read_bytes() + b"more than there was")
    def gone(path): path.unlink()

    def flipped(share):
        def flip(path):
            data = bytearray(path.read_bytes())
            if data:
                data[min(int(len(data) * share), len(data) - 1)] ^= 0x10
            path.write_bytes(data)
        flip.__name__ = f"flipped at {share}"
        return flip

    damages = [empty, cut, zeros, noise, longer, gone, *map(flipped, (0.0, 0.3, 0.7, 1.0))]
    cold = pristine / "index" / "cold"
    files = sorted(path.relative_to(pristine) for path in cold.rglob("*") if path.is_file())
    for at, file in enumerate(files):
        for damage in damages[at % every :: every]:
            case = f"{file} {damage.__name__}"
            print("begin", case, flush=True)
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.copytree(pristine, scratch)
            damage(scratch / file)
            settings = dict(max_segments=5, eviction_days=0.0, disk_deadline_ms=20_000.0)
            store = Store(scratch, StoreOptions(session_id="s1", durability="os", **settings))
            early = store.search(words[0], limit=1)  # it may know little yet, it may not fail
            wrong = []
            for word in words:
                hits = store.search(word, limit=1, everything=True)
                if not hits or word not in hits[0].segment.content:
                    wrong.append(word)
            status = store.catch_up()
            report = [status.state, status.segments, status.passages, status.fault]
            store.close()
            print("done", json.dumps([str(file), damage.__name__, wrong, report]), flush=True)
"""


def check_damage(tmp_path: Path, *, every: int) -> int:
    """Damage each file of an index in several ways and check the answers; return the number of ways.

    The checks run in another process, which undetected damage could crash.
    """
    count = 60
    pristine = tmp_path / "pristine"
    store = opened(pristine, max_segments=5)
    for start in range(0, count, 20):  # several commits
        say(store, [text(number) for number in range(start, start + 20)])
        caught_up(store)
    store.close()
    words = [word(number) for number in range(0, count, 9)]
    process = child(DAMAGE, pristine, tmp_path / "scratch", json.dumps(words), every)
    lines = said_by(process, timeout=1100 / every)
    cases = [json.loads(line.partition(" ")[2]) for line in lines if line.startswith("done")]
    assert 2 * len(cases) == len(lines)
    unnoticed: list[str] = []
    for file, damage, wrong, (state, segments, passages, fault) in cases:
        assert wrong == [], (file, damage)
        assert (state, segments, passages) == ("ready", count, count), (file, damage)
        name = file.rpartition("/")[2]
        matters = name in {"meta.json", "passages", "rows", "scales"}
        if matters and damage in {"empty", "cut", "zeros", "noise", "gone"} and not fault:
            unnoticed.append(f"{file} {damage}")
    assert unnoticed == []
    return len(cases)


@pytest.mark.slow
def test_damaged_index_files_are_detected_and_rebuilt(tmp_path: Path) -> None:
    assert check_damage(tmp_path, every=6) >= 10


@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.timeout(1200)
def test_index_files_damaged_in_any_way_are_detected_and_rebuilt(tmp_path: Path) -> None:
    assert check_damage(tmp_path, every=1) >= 60


@pytest.mark.parametrize("change", ["ours", "foreign", "no payload"])
def test_an_index_of_another_version_is_rebuilt_and_reported(tmp_path: Path, change: str) -> None:
    filled(tmp_path, 200)
    (meta,) = folder_of(tmp_path).rglob("meta.json")
    found: dict[str, Any] = json.loads(meta.read_bytes()[:-CHECKSUM])
    if change == "ours":
        manifest: dict[str, Any] = json.loads(found["payload"])
        manifest["version"] += 1
        found["payload"] = json.dumps(manifest)
    elif change == "foreign":
        found["payload"] = "not ours"
    else:
        found.pop("payload")
    content = json.dumps(found).encode()
    meta.write_bytes(content + b"%08x\n" % zlib.crc32(content))
    store = opened(tmp_path)
    assert missing(store, range(0, 200, 7), everything=True) == []
    assert fault_of(store)
    status = caught_up(store)
    assert (status.state, status.segments) == ("ready", 200)
    store.close()
    assert said_by(child(AGAIN, tmp_path)) == ["None 200"], "nothing is wrong any more"


AGAIN = """
    import sys
    from memctx.lowlevel import Store, StoreOptions

    status = Store(sys.argv[1], StoreOptions(session_id="s1", max_segments=5)).catch_up()
    print(status.fault, status.segments)
"""


def test_foreign_files_beside_the_index_are_left_alone(tmp_path: Path) -> None:
    """Leftovers of a dead process, and foreign files."""
    filled(tmp_path, 200)
    (generation,) = (path for path in folder_of(tmp_path).iterdir() if path.is_dir())
    (folder_of(tmp_path) / "notes.txt").write_text("mine")
    (generation / "rows-7").write_bytes(b"half a file")
    (folder_of(tmp_path) / "g999").mkdir()
    store = opened(tmp_path)
    assert missing(store, range(0, 200, 7), everything=True) == []
    status = caught_up(store)
    assert (status.state, status.segments) == ("ready", 200)


def test_index_files_are_private(tmp_path: Path) -> None:
    filled(tmp_path, 100)
    paths = [folder_of(tmp_path), *folder_of(tmp_path).rglob("*")]
    assert len(paths) > 3
    modes = {path: path.stat().st_mode & 0o777 for path in paths}
    assert {path: mode for path, mode in modes.items() if mode & 0o077} == {}

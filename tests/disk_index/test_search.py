"""Search over evicted messages, ranked as if they were in memory."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import MemctxError, SearchFilter
from memctx.lowlevel import HashEmbedder

from .stores import (
    HOUR,
    KEPT,
    LATER,
    MANY,
    PATIENT,
    best,
    caught_up,
    contents,
    filled,
    missing,
    opened,
    say,
    text,
    texts,
    wait_for_disk,
    word,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("everything", [False, True])
def test_evicted_messages_are_found(tmp_path: Path, everything: bool) -> None:  # noqa: FBT001
    store = opened(tmp_path)
    say(store, texts())
    assert store.stats()["evicted"] == MANY - KEPT
    status = caught_up(store)
    assert (status.state, status.segments, status.passages) == ("ready", MANY, MANY)
    assert missing(store, range(MANY), everything=everything) == []


def test_a_search_of_everything_finds_unindexed_messages(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for start in range(0, MANY, 100):
        say(store, [text(number) for number in range(start, start + 100)])
        assert missing(store, range(0, start + 100, 9), everything=True) == []


def test_evicted_messages_are_indexed_in_the_background(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, texts())
    until = time.monotonic() + 30
    while best(store, word(3)) != text(3):
        assert time.monotonic() < until, store.disk_index()
        time.sleep(0.02)


def test_an_index_survives_reopening(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path)
    assert missing(store, range(0, MANY, 11)) == []
    assert missing(store, range(0, MANY, 11), everything=True) == []
    store.close()
    store.reopen()
    assert missing(store, range(0, MANY, 11), everything=True) == []


def test_messages_too_old_to_be_loaded_are_found(tmp_path: Path) -> None:
    store = opened(tmp_path, eviction_days=1.0)
    long_ago = 1_600_000_000_000.0
    store.add([("user", each, long_ago + at, None) for at, each in enumerate(texts(30))])
    store.add([("user", "Two days passed", long_ago + 48 * HOUR, None)])
    store.close()
    store = opened(tmp_path, eviction_days=1.0)
    assert store.stats()["segments"] == 1
    assert missing(store, range(30), everything=True) == []


def test_without_a_disk_index_only_memory_is_searched(tmp_path: Path) -> None:
    store = opened(tmp_path, disk_index=False)
    say(store, texts())
    assert store.disk_index() is None
    assert missing(store, range(MANY - KEPT, MANY)) == []
    assert len(missing(store, range(0, MANY - KEPT, 10))) == (MANY - KEPT) // 10
    assert not (tmp_path / "index" / "cold").exists()
    assert store.catch_up() is None


def test_a_search_with_no_deadline_finds_messages_in_memory(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path, disk_deadline_ms=0.0)
    assert missing(store, range(MANY - KEPT, MANY)) == []
    assert missing(store, range(0, MANY, 50), everything=True) == []


def test_late_disk_results_join_the_next_identical_search(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path)
    hits, unsearched, _ = store.search_within(word(3), 0.0, limit=1)
    assert (contents(hits) == [text(3)], unsearched) == (False, "late")
    assert contents(wait_for_disk(store, word(3), limit=1)) == [text(3)]
    say(store, [f"and now {word(3)} is filed elsewhere"])
    hits, unsearched, _ = store.search_within(word(3), 0.0, limit=2)
    assert contents(hits) != [text(3)] * 2
    with pytest.raises(MemctxError, match="deadline_ms must be 0 or more"):
        store.search_within(word(3), -1.0)


def test_late_disk_results_serve_fewer_results_and_outlive_other_searches(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path)
    assert store.search_within(word(3), 0.0, limit=8)[1] == "late"
    wait_for_disk(store, word(3), limit=8)
    assert contents(store.search(word(5), limit=1)) == [text(5)]
    hits, unsearched, _ = store.search_within(word(3), 0.0, limit=1)
    assert (contents(hits), unsearched) == ([text(3)], None)


def test_a_search_reports_what_is_not_indexed(tmp_path: Path) -> None:
    store = opened(tmp_path, disk_index=False)
    say(store, texts())
    assert store.search_within(word(3), PATIENT)[1] is None, "there is no index to search"
    store.close()
    store = opened(tmp_path)
    assert store.search_within(word(3), PATIENT)[1] in {"unavailable", "unindexed"}
    caught_up(store)
    hits, unsearched, _ = store.search_within(word(3), PATIENT, limit=1)
    assert (contents(hits), unsearched) == ([text(3)], None)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_an_invalid_deadline_is_refused(tmp_path: Path, value: float) -> None:
    with pytest.raises(MemctxError, match="disk_deadline_ms"):
        opened(tmp_path, disk_deadline_ms=value)


@pytest.mark.parametrize("everything", [False, True])
def test_memory_and_disk_give_one_ranking(tmp_path: Path, everything: bool) -> None:  # noqa: FBT001
    """A message both in memory and indexed is one hit; one on disk only is not ranked behind."""
    filled(tmp_path)
    store = opened(tmp_path)
    for query in ("parcel for Lisbon", "ledger filed since Tuesday", "重庆"):
        for limit in (1, 10, 120):
            hits = store.search(query, limit=limit, everything=everything)
            ids = [hit.segment.id for hit in hits]
            assert len(ids) == len(set(ids)) == limit or query == "重庆"
            assert len(ids) <= limit
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
    about = [said for said in texts() if "violin for Quito" in said]
    assert len(about) > 3
    assert set(contents(store.search("violin Quito", limit=len(about)))) == set(about)


def test_the_best_hit_is_that_of_a_store_that_holds_all_in_memory(tmp_path: Path) -> None:
    filled(tmp_path)
    small, large = opened(tmp_path), opened(tmp_path, max_segments=10_000, disk_index=False)
    for number in range(0, MANY, 13):
        query = f"which {text(number).split()[1]} is filed under {word(number)}?"
        (ours,) = small.search(query, limit=1, everything=True, explain=True)
        (theirs,) = large.search(query, limit=1)
        assert ours.segment.id == theirs.segment.id
        assert ours.segment.content == theirs.segment.content
        assert ours.score == pytest.approx(theirs.score, abs=0.1)
        assert ours.passage == theirs.passage
        assert ours.explanation is not None


def test_filters_apply_to_evicted_messages(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.add_topic("bridges", ["bridge"])
    roles = ("user", "assistant", "tool")
    store.add(
        [(roles[number % 3], text(number), LATER + number * HOUR, None) for number in range(MANY)]
    )
    caught_up(store)

    def found(**conditions: Any) -> set[str]:
        query, wanted = "filed under since Tuesday", SearchFilter(**conditions)
        plain = contents(store.search(query, limit=MANY, filter=wanted))
        everything = store.search(query, limit=MANY, everything=True, filter=wanted)
        assert sorted(contents(everything)) == sorted(plain)
        return set(plain)

    def wanted(*numbers: int) -> set[str]:
        return {text(number) for number in numbers}

    assert found(roles=["assistant"]) == wanted(*range(1, MANY, 3))
    assert found(roles=["user", "tool"]) == wanted(*(n for n in range(MANY) if n % 3 != 1))
    assert found(since=LATER + 20 * HOUR, until=LATER + 29 * HOUR) == wanted(*range(20, 30))
    assert found(until=LATER + 5 * HOUR) == wanted(*range(6))
    assert found(since=LATER + (MANY - 3) * HOUR) == wanted(*range(MANY - 3, MANY))
    bridges = [number for number in range(MANY) if "bridge" in text(number)]
    assert found(topics=["bridges"]) == found(topics=["Bridges"]) == wanted(*bridges)
    assert found(topics=["bridges"], roles=["tool"], until=LATER + 100 * HOUR) == wanted(
        *(number for number in bridges if number % 3 == 2 and number <= 100)
    )
    assert found(roles=["missing"]) == found(since=LATER + MANY * HOUR) == set()
    assert found(session_id="another") == set()


def test_messages_of_one_second_are_told_apart_on_disk(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.add([("user", text(number), LATER + number, None) for number in range(MANY)])
    caught_up(store)

    def found(since: int, until: int) -> set[str]:
        conditions = SearchFilter(since=LATER + since, until=LATER + until)
        return set(contents(store.search("filed under since Tuesday", limit=3, filter=conditions)))

    for first in (0, 151, 349):
        assert found(first, first + 2) == {text(number) for number in range(first, first + 3)}
    assert found(MANY, MANY + 400) == set()


def test_nearest_returns_as_many_as_are_asked_for_in_spite_of_damage(tmp_path: Path) -> None:
    many = 6_000
    store = opened(tmp_path)
    say(store, [f"{word(number)} parcel" for number in range(many)])
    caught_up(store)
    vector = HashEmbedder().embed(f"{word(7)} parcel")
    assert len(store.nearest(vector, 5_000)) == 5_000
    [best] = store.nearest(vector, 1)
    store.close()
    [rows] = tmp_path.glob("index/cold/*/**/rows")
    rows.write_bytes(bytes(255 - each for each in rows.read_bytes()))
    store = opened(tmp_path)
    assert len(store.nearest(vector, 40)) == 40, "those in memory"
    caught_up(store)
    assert store.nearest(vector, 1) == [best]


def test_nearest_ranks_memory_and_disk_by_cosine(tmp_path: Path) -> None:
    store = opened(tmp_path)
    ids = say(store, texts())
    caught_up(store)
    embedder = HashEmbedder()
    for number in (0, 7, 123, MANY - 1):
        hits = store.nearest(embedder.embed(text(number)), 5)
        assert [len(hits), hits[0].id] == [5, ids[number]]
        assert hits[0].score == pytest.approx(1.0, abs=1e-5)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert {hit.id for hit in hits} <= set(ids)
    for vector in (embedder.embed("x")[:-1], [float("nan")] * embedder.dim):
        with pytest.raises((MemctxError, ValueError)):
            store.nearest(vector, 5)


def test_an_empty_disk_index_finds_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert store.search("parcel", everything=True) == []
    status = caught_up(store)
    assert (status.segments, status.passages, status.log_bytes, status.fault) == (0, 0, 0, None)
    assert store.nearest(HashEmbedder().embed("parcel"), 3) == []


def test_indexing_progress_reaches_the_end_of_the_log(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, texts())
    size = (tmp_path / "segments.jsonl").stat().st_size
    steps: list[tuple[int, int]] = []
    for rebuild in (False, True):
        steps.clear()
        status = caught_up(store, lambda *step: steps.append(step), rebuild=rebuild)
        assert steps[-1] == (size, size)
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)
        assert {total for _, total in steps} == {size}
        assert (status.indexed_bytes, status.log_bytes, status.segments) == (size, size, MANY)
        assert status.disk_bytes > 0
        assert missing(store, range(0, MANY, 31)) == []


def test_an_exception_of_a_progress_callback_is_raised_and_breaks_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, texts())

    def interrupted(_: int, __: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.catch_up(interrupted, rebuild=True)
    assert missing(store, range(0, MANY, 31), everything=True) == []


def test_a_long_message_is_found_by_each_of_its_passages(tmp_path: Path) -> None:
    store = opened(tmp_path)
    parts = [f"{text(number)}. " + "Nothing else was said of it. " * 60 for number in range(8)]
    say(store, ["\n\n".join(parts)])
    say(store, [text(number) for number in range(100, 300)])
    status = caught_up(store)
    assert (status.segments, status.passages > 201) == (201, True)
    for number in range(8):
        (hit,) = store.search(word(number), limit=1)
        start, end = hit.passage
        assert word(number) in hit.segment.content[start:end]


def test_memory_search_includes_the_disk_index(tmp_path: Path) -> None:
    said = [{"role": "user", "content": each} for each in texts(120)]
    disk = {"max_segments": 10, "deadline_ms": PATIENT, "durability": "os"}
    with memctx.open(tmp_path, session_id="s1", disk=disk) as memory:
        memory.archive(said)
        (hit,) = memory.search(word(5), limit=1, everything=True)
        assert hit.segment.content == text(5)
        (hit,) = asyncio.run(memory.asearch(word(6), limit=1, everything=True))
        assert hit.segment.content == text(6)
        index, disk = memory.stats()["disk_index"], memory.stats()["disk"]
        assert (index["state"], index["segments"], index["fault"]) == ("ready", 120, None)
        assert disk["log"] == index["log_bytes"] == (tmp_path / "segments.jsonl").stat().st_size
        assert disk["index"] >= index["disk_bytes"] > 0
    with memctx.open(tmp_path, session_id="s1", disk={"index": False}) as memory:
        assert memory.stats()["disk_index"] is None
        with pytest.raises(memctx.ConfigError, match="everything is True; expected the setting"):
            memory.search(word(5), everything=True)


def test_a_closed_store_refuses_indexing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, texts(3))
    store.close()
    for call in (
        store.disk_index,
        store.catch_up,
        lambda: store.search("parcel", everything=True),
        lambda: store.nearest(HashEmbedder().embed("parcel"), 3),
    ):
        with pytest.raises(memctx.StoreError, match="closed"):
            call()

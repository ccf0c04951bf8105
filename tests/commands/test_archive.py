from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commands.stocked import SAID, opened
from memctx import ConfigError
from memctx.commands import archive
from memctx.memory import cold_data

if TYPE_CHECKING:
    from pathlib import Path

    import memctx


def test_search_finds_across_sessions_and_shows_where_it_matched(memory: memctx.Memory) -> None:
    outcome = archive.search(memory, "which port has the webhook?", limit=2)
    assert outcome.is_ok
    contents = [hit["segment"]["content"] for hit in outcome.data["hits"]]
    assert "8443" in contents[0]
    assert "2026-02-02 02:40" in outcome.text
    assert len(contents) == 2
    assert (
        archive.search(memory, "theme dark variant").data["hits"][0]["segment"]["session_id"]
        == "blog"
    )


def test_search_of_nothing_says_so(memory: memctx.Memory) -> None:
    outcome = archive.search(memory, "zzzqqq")
    assert not outcome.is_ok
    assert outcome.data | {"cold": None} == {
        "query": "zzzqqq",
        "hits": [],
        "unsearched": 0,
        "cold": None,
    }
    assert outcome.text == "Nothing found for 'zzzqqq'."


def test_search_says_what_it_did_not_search(store: Path) -> None:
    with opened(store, max_segments=1, cold=False) as memory:
        outcome = archive.search(memory, "ledger")
        assert outcome.data["unsearched"] == 3
        assert outcome.data["cold"] is None
        assert "3 older segments are on disk only and were not searched." in outcome.text


def test_search_of_everything_leaves_nothing_out(store: Path) -> None:
    with opened(store, max_segments=1) as memory:
        outcome = archive.search(memory, "payment webhook port", limit=1, everything=True)
        assert "8443" in outcome.data["hits"][0]["segment"]["content"]
        assert outcome.data["unsearched"] == 0
        assert "older segment" not in outcome.text
        assert outcome.data["cold"]["state"] == "ready"
        plain = archive.search(memory, "payment webhook port", limit=1)
        assert (plain.data["unsearched"], "--all" in plain.text) == (0, False)


@pytest.mark.parametrize(
    ("told", "unsearched", "words"),
    [
        ({"state": "absent"}, 3, "3 older segments are on disk only and not indexed yet; --all"),
        ({"state": "absent", "fault": "no room"}, 3, "not indexed yet (no room); --all searches"),
        ({"state": "indexing"}, 0, "The log is indexed to 99 %; --all searches all of the 3 older"),
        ({"state": "ready"}, 0, "The log is indexed to 99 %; --all searches all of the 3 older"),
        ({"state": "ready", "indexed_bytes": 1000}, 0, None),
    ],
)
def test_search_says_how_far_the_index_is(
    store: Path, told: dict[str, Any], unsearched: int, words: str | None
) -> None:
    with opened(store, max_segments=1) as memory:
        memory.store.catch_up()
        outcome = archive.search(_Behind(memory, told), "ledger")  # type: ignore[arg-type]
        assert outcome.data["unsearched"] == unsearched
        assert outcome.data["cold"]["state"] == told["state"]
        assert (words or "") in outcome.text
        assert ("--all" in outcome.text) == (words is not None)


def test_reindex_indexes_and_says_how_much(store: Path) -> None:
    steps: list[tuple[int, int]] = []
    size = (store / "segments.jsonl").stat().st_size
    with opened(store, max_segments=1) as memory:
        for anew in (False, True):
            outcome = archive.reindex(
                memory, anew=anew, on_progress=lambda *step: steps.append(step)
            )
            assert outcome.is_ok
            assert outcome.data["anew"] == anew
            assert (outcome.data["segments"], outcome.data["state"]) == (6, "ready")
            assert outcome.data["indexed_bytes"] == outcome.data["log_bytes"] == size
            assert "6 segments in 6 passages" in outcome.text
    assert steps[-1] == (size, size)
    assert all(0 <= done <= total == size for done, total in steps)


def test_what_is_switched_off_cannot_be_asked_for(store: Path) -> None:
    with opened(store, cold=False) as memory:
        with pytest.raises(ConfigError, match="cold is False; expected the setting to be on"):
            archive.reindex(memory)
        with pytest.raises(ConfigError, match="everything is True; expected the setting cold"):
            archive.search(memory, "ledger", everything=True)
        assert archive.stats(memory).data["cold"] is None
        assert "off" in archive.stats(memory).text


class _Behind:
    """A memory whose index is as far as a test says."""

    def __init__(self, memory: memctx.Memory, told: dict[str, Any]) -> None:
        self._memory = memory
        self._told = {"fault": None, "indexed_bytes": 999, "log_bytes": 1000, **told}

    @property
    def store(self) -> _Behind:
        return self

    def search(self, query: str, **options: Any) -> list[memctx.StoreHit]:
        return self._memory.search(query, **options)

    def stats(self) -> dict[str, Any]:
        return self._memory.store.stats()

    def cold(self) -> Any:
        found = self._memory.store.cold()
        assert found is not None
        return SimpleNamespace(**{**cold_data(found), **self._told})


def test_search_explains_on_request(memory: memctx.Memory) -> None:
    outcome = archive.search(memory, "webhook", limit=1, explain=True)
    assert outcome.data["hits"][0]["explanation"]["name"] in outcome.text


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("around", [0, 1, 2, 9])
def test_show_sets_a_segment_between_its_neighbours(
    memory: memctx.Memory, place: int, around: int
) -> None:
    texts = [text for _, text, _ in SAID["shop"]]
    wanted = {segment.content: segment.id for segment in memory.store.segments()}[texts[place]]
    data = archive.show(memory, wanted[:8], neighbours=around).data
    assert data["segment"]["content"] == texts[place]
    assert [each["content"] for each in data["before"]] == texts[max(place - around, 0) : place]
    assert [each["content"] for each in data["after"]] == texts[place + 1 : place + 1 + around]


@pytest.mark.parametrize("place", [0, 1])
def test_show_knows_the_order_of_two(memory: memctx.Memory, place: int) -> None:
    texts = [text for _, text, _ in SAID["blog"]]
    wanted = {segment.content: segment.id for segment in memory.store.segments()}[texts[place]]
    data = archive.show(memory, wanted).data
    assert [each["content"] for each in data["before"]] == texts[:place]
    assert [each["content"] for each in data["after"]] == texts[place + 1 :]


def test_an_id_that_is_none_too_short_or_shared_is_refused(memory: memctx.Memory) -> None:
    with pytest.raises(ConfigError, match="id is 'ffff0000ffff'; no segment has it"):
        archive.show(memory, "ffff0000ffff")
    with pytest.raises(ConfigError, match="expected at least 4 characters"):
        archive.show(memory, "a")


def test_stats_counts_both_sessions(memory: memctx.Memory) -> None:
    outcome = archive.stats(memory)
    assert (outcome.data["segments"], outcome.data["sessions"]) == (6, 2)
    assert outcome.data["facts"]["superseded"] == 1
    assert "facts that hold" in outcome.text


def test_stats_tells_the_index_and_the_disk(memory: memctx.Memory, store: Path) -> None:
    memory.store.catch_up()
    outcome = archive.stats(memory)
    cold, disk = outcome.data["cold"], outcome.data["disk"]
    assert (cold["state"], cold["segments"], cold["passages"]) == ("ready", 6, 6)
    assert (cold["graph_passages"], cold["fault"]) == (0, None)
    assert cold["indexed_bytes"] == cold["log_bytes"] == disk["log"]
    assert 0 < cold["disk_bytes"] <= disk["index"]
    assert disk["log"] == (store / "segments.jsonl").stat().st_size
    assert disk["knowledge"] == (store / "knowledge.jsonl").stat().st_size
    assert disk["total"] == sum(size for part, size in disk.items() if part != "total")
    rows = dict(line.rsplit("  ", 1) for line in outcome.text.splitlines())
    told = {name.strip(): value.strip() for name, value in rows.items()}
    assert told["index on disk"] == "ready"
    assert told["log indexed"] == "100 %"
    assert {"size of the vectors", "size of the index", "size of session files"} <= told.keys()

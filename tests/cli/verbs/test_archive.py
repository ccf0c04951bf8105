from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cli.verbs.stocked import SAID, opened
from memctx import ConfigError
from memctx._session import disk_index_data
from memctx.cli.verbs import archive
from memctx.cli.verbs.request import ChatRequest

if TYPE_CHECKING:
    from pathlib import Path

    import memctx


def test_search_finds_across_sessions_and_shows_where_it_matched(memory: memctx.Memory) -> None:
    outcome = archive.search(ChatRequest(memory), "which port has the webhook?", limit=2)
    assert outcome.is_ok
    contents = [hit["segment"]["content"] for hit in outcome.data["hits"]]
    assert "8443" in contents[0]
    assert "2026-02-02 02:40" in outcome.text
    assert len(contents) == 2
    assert (
        archive.search(ChatRequest(memory), "theme dark variant").data["hits"][0]["segment"][
            "session_id"
        ]
        == "blog"
    )


def test_search_without_hits_is_not_ok(memory: memctx.Memory) -> None:
    outcome = archive.search(ChatRequest(memory), "zzzqqq")
    assert not outcome.is_ok
    assert outcome.data | {"disk_index": None} == {
        "query": "zzzqqq",
        "hits": [],
        "unsearched": 0,
        "disk_index": None,
        "lacking": 0,
    }
    assert outcome.text == "Nothing found for 'zzzqqq'."


def test_search_names_unsearched_segments(store: Path) -> None:
    with opened(store, disk={"max_segments": 1, "index": False}) as memory:
        outcome = archive.search(ChatRequest(memory), "ledger")
        assert outcome.data["unsearched"] == 3
        assert outcome.data["disk_index"] is None
        assert "3 older segments are on disk only and were not searched." in outcome.text


def test_search_of_everything_covers_the_disk(store: Path) -> None:
    with opened(store, disk={"max_segments": 1}) as memory:
        outcome = archive.search(
            ChatRequest(memory), "payment webhook port", limit=1, everything=True
        )
        assert "8443" in outcome.data["hits"][0]["segment"]["content"]
        assert outcome.data["unsearched"] == 0
        assert "older segment" not in outcome.text
        assert outcome.data["disk_index"]["state"] == "ready"
        plain = archive.search(ChatRequest(memory), "payment webhook port", limit=1)
        assert (plain.data["unsearched"], "--all" in plain.text) == (0, False)


@pytest.mark.parametrize(
    ("status", "unsearched", "words"),
    [
        ({"state": "absent"}, 3, "3 older segments are on disk only and not indexed yet; --all"),
        ({"state": "absent", "fault": "no room"}, 3, "not indexed yet (no room); --all searches"),
        ({"state": "indexing"}, 0, "The log is indexed to 99 %; --all searches all of the 3 older"),
        ({"state": "ready"}, 0, "The log is indexed to 99 %; --all searches all of the 3 older"),
        ({"state": "ready", "indexed_bytes": 1000}, 0, None),
    ],
)
def test_search_describes_a_partial_index(
    store: Path, status: dict[str, Any], unsearched: int, words: str | None
) -> None:
    with opened(store, disk={"max_segments": 1}) as memory:
        memory.store.catch_up()
        outcome = archive.search_archive(_PartiallyIndexed(memory, status), "ledger")  # type: ignore[arg-type]
        assert outcome.data["unsearched"] == unsearched
        assert outcome.data["disk_index"]["state"] == status["state"]
        assert (words or "") in outcome.text
        assert ("--all" in outcome.text) == (words is not None)


class _PartiallyIndexed:
    """A memory with a given status of its disk index."""

    def __init__(self, memory: memctx.Memory, status: dict[str, Any]) -> None:
        self._memory = memory
        self._status = {"fault": None, "indexed_bytes": 999, "log_bytes": 1000, **status}

    @property
    def store(self) -> _PartiallyIndexed:
        return self

    def search(self, query: str, **options: Any) -> list[memctx.SearchHit]:
        return self._memory.search(query, **options)

    def stats(self) -> dict[str, Any]:
        return self._memory.store.stats()

    def embedding(self) -> Any:
        return self._memory.store.embedding()

    def disk_index(self) -> Any:
        found = self._memory.store.disk_index()
        assert found is not None
        return SimpleNamespace(**{**disk_index_data(found), **self._status})


def test_search_explains_on_request(memory: memctx.Memory) -> None:
    outcome = archive.search(ChatRequest(memory), "webhook", limit=1, explain=True)
    assert outcome.data["hits"][0]["explanation"]["name"] in outcome.text


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("around", [0, 1, 2, 9])
def test_show_prints_a_segment_between_its_neighbors(
    memory: memctx.Memory, place: int, around: int
) -> None:
    texts = [text for _, text, _ in SAID["shop"]]
    wanted = {segment.content: segment.id for segment in memory.store.segments()}[texts[place]]
    data = archive.show(ChatRequest(memory), wanted[:8], neighbors=around).data
    assert data["segment"]["content"] == texts[place]
    assert [each["content"] for each in data["before"]] == texts[max(place - around, 0) : place]
    assert [each["content"] for each in data["after"]] == texts[place + 1 : place + 1 + around]


@pytest.mark.parametrize("place", [0, 1])
def test_show_orders_a_session_of_two_segments(memory: memctx.Memory, place: int) -> None:
    texts = [text for _, text, _ in SAID["blog"]]
    wanted = {segment.content: segment.id for segment in memory.store.segments()}[texts[place]]
    data = archive.show(ChatRequest(memory), wanted).data
    assert [each["content"] for each in data["before"]] == texts[:place]
    assert [each["content"] for each in data["after"]] == texts[place + 1 :]


def test_unknown_or_too_short_segment_id_is_refused(memory: memctx.Memory) -> None:
    with pytest.raises(ConfigError, match="id is 'ffff0000ffff'; no segment has it"):
        archive.show(ChatRequest(memory), "ffff0000ffff")
    with pytest.raises(ConfigError, match="expected at least 4 characters"):
        archive.show(ChatRequest(memory), "a")

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands.stocked import SAID, opened
from memctx import ConfigError
from memctx.commands import archive

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
    assert outcome.data == {"query": "zzzqqq", "hits": [], "unsearched": 0}
    assert outcome.text == "Nothing found for 'zzzqqq'."


def test_search_says_what_it_did_not_search(store: Path) -> None:
    with opened(store, max_segments=1) as memory:
        outcome = archive.search(memory, "ledger")
        assert outcome.data["unsearched"] == 3
        assert "3 older segments are on disk only" in outcome.text


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

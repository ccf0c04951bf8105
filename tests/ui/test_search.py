"""Facts beside the messages of a search: within its session and period, however many facts of others answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import memctx
from ui.conftest import SHOP, Page, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PORT = "The payment webhook listens on port"


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[Page]:
    """Serve a store in which one session has the oldest fact about a port, and another one 30 newer ones."""
    store = tmp_path / "store"
    for session, count in (("s1", 1), ("s2", 30)):
        with memctx.open(store, session_id=session, embedding_model="hash") as memory:
            memory.archive([{"role": "user", "content": f"Which port has {session}?"}])
            for number in range(count):
                memory.facts.store.add(
                    "config", f"{PORT} {number + 3000} in {session}", timestamp=1_000.0 + number
                )
    with serve(store, may_write=False) as page:
        yield page


def sessions(found: Any) -> set[str]:
    return {each["session"] for each in found["facts"]}


def test_facts_of_other_sessions_are_not_among_those_of_a_session(page: Page) -> None:
    assert sessions(page.get("search", query="payment webhook port")) == {SHOP, "s2"}
    assert sessions(page.get("search", query="payment webhook port", session="s2")) == {"s2"}
    assert page.get("search", query="Valkey cache", session="s2")["facts"] == []


def test_facts_of_a_session_are_found_behind_many_of_others(ports: Page) -> None:
    found = ports.get("search", query="payment webhook port", session="s1")
    assert (sessions(found), found["facts_found"]) == ({"s1"}, 1)


def test_facts_of_another_time_are_not_among_those_of_a_period(ports: Page) -> None:
    def times(**period: float) -> list[float]:
        found = ports.get("search", query="payment webhook port", session="s2", **period)["facts"]
        return sorted(each["time"] for each in found)

    assert times(since=1_028) == [1_028, 1_029]
    assert times(until=1_001) == [1_000, 1_001]
    assert times(since=1_010, until=1_011) == [1_010, 1_011]
    assert times(since=1_030) == []


def test_a_search_tells_how_many_facts_answer_it(ports: Page) -> None:
    found = ports.get("search", query="payment webhook port")
    assert (len(found["facts"]), found["facts_found"]) == (5, 31)


def test_as_many_messages_are_found_as_the_page_asks_for(page: Page) -> None:
    few = page.get("search", query="customer gate", limit=12)["hits"]
    many = page.get("search", query="customer gate", limit=100)["hits"]
    assert len(few) == 12 < len(many) <= 100
    assert page.refusal("search", query="customer gate", limit=101)[0] == 400

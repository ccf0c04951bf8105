"""`update`: planned against a real store and written in one append."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memctx._core import FactStore
from memctx.knowledge import Draft, update

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memctx._core import FactChange, FactOutcome


@pytest.fixture
def store(tmp_path: Path) -> FactStore:
    return FactStore(tmp_path, session_id="s1", durability="os")


def contents(store: FactStore) -> set[str]:
    return {fact.content for fact in store.facts()}


def lines(store: FactStore) -> int:
    return Path(store.path, "knowledge.jsonl").read_bytes().count(b"\n")


def test_a_batch_is_planned_and_written(store: FactStore) -> None:
    port = store.add("config", "The webhook listens on port 3000")
    store.add("decision", "We use Postgres")
    ops = update(
        store,
        [
            Draft("config", "The webhook listens on port 8443", sources=("seg-1",)),
            Draft("decision", "We use Postgres 15 with the pgvector extension"),
            Draft("config", "The webhook listens on port 8443."),
            Draft("issue", "The importer leaks file handles"),
        ],
    )
    assert [op.action for op in ops] == ["supersede", "update", "none", "add"]
    assert contents(store) == {
        "The webhook listens on port 8443",
        "We use Postgres 15 with the pgvector extension",
        "The importer leaks file handles",
    }
    current = ops[0].draft.id
    states = [(fact.id, fact.content) for fact in store.history(current)]
    assert states[0] == (port.id, "The webhook listens on port 3000")
    assert (current, "The webhook listens on port 8443") in states
    held = store.get(current)
    superseded = store.get(port.id)
    assert held is not None
    assert held.sources == ("seg-1",)
    assert superseded is not None
    assert superseded.superseded_by == current


def test_the_same_batch_again_writes_nothing(store: FactStore) -> None:
    """A crash between writing and noting it makes the extractor read a batch once more."""
    store.add("config", "The webhook listens on port 3000")
    said = ["The webhook listens on port 8443", "服务端口是 8080", "Use ruff to lint"]
    update(store, [Draft("config", content) for content in said])
    before = lines(store)
    again = update(store, [Draft("config", content) for content in said])
    assert {op.action for op in again} == {"none"}
    assert lines(store) == before


def test_a_fact_that_the_extractor_names_is_found_however_far_it_is(store: FactStore) -> None:
    named = store.add("architecture", "Sessions live in Redis")
    for number in range(40):
        store.add("config", f"The importer reads bucket number {number}")
    draft = Draft(
        "architecture",
        "The importer keeps sessions in DynamoDB",
        action="supersede",
        target=named.id,
    )
    (op,) = update(store, [draft])
    assert (op.action, op.target, op.degraded) == ("supersede", named.id, None)
    assert "Sessions live in Redis" not in contents(store)


def test_what_the_extractor_was_shown_may_have_gone_since(store: FactStore) -> None:
    shown = store.add("config", "The webhook listens on port 3000")
    store.supersede(shown.id, "config", "The webhook listens on port 9000")
    draft = Draft("config", "The webhook listens on port 8443", action="supersede", target=shown.id)
    (op,) = update(store, [draft], known=[shown])
    assert op.action == "supersede"
    assert op.degraded is not None
    assert contents(store) == {"The webhook listens on port 8443"}


def test_what_goes_away_between_plan_and_write_is_added(store: FactStore) -> None:
    port = store.add("config", "The webhook listens on port 3000")

    class Slow:
        """Another process is quicker."""

        nearest, get = store.nearest, store.get

        def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
            store.forget(port.id)
            return store.apply(changes)

    (op,) = update(Slow(), [Draft("config", "The webhook listens on port 8443")])
    assert (op.action, op.target) == ("add", None)
    assert op.degraded == "supersede: its fact is gone"
    assert contents(store) == {"The webhook listens on port 8443"}


def test_later_drafts_build_on_facts_of_the_batch(store: FactStore) -> None:
    drafts = [Draft("config", f"The webhook listens on port {port}") for port in (3000, 4000, 5000)]
    drafts.append(Draft("config", "The webhook listens on port 5000 over TLS"))
    ops = update(store, drafts)
    assert [op.action for op in ops] == ["add", "supersede", "supersede", "update"]
    assert contents(store) == {"The webhook listens on port 5000 over TLS"}


def test_nothing_is_written_where_there_is_nothing_to_do(store: FactStore) -> None:
    assert update(store, []) == []
    assert [op.action for op in update(store, [Draft("config", "  ")])] == ["none"]
    assert len(store) == 0


def test_sessions_do_not_touch_each_other(store: FactStore, tmp_path: Path) -> None:
    other = FactStore(tmp_path, session_id="s2", durability="os")
    theirs = other.add("config", "The webhook listens on port 3000")
    draft = Draft(
        "config", "The webhook listens on port 8443", action="supersede", target=theirs.id
    )
    (op,) = update(store, [draft])
    assert (op.action, op.target) == ("add", None)
    assert contents(other) == {"The webhook listens on port 3000"}

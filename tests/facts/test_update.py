"""`update`: plans against a real store, written in one append."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memctx._core import FactStore, StoreOptions
from memctx.facts import CandidateFact, update

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memctx._core import FactChange, FactOutcome


@pytest.fixture
def store(tmp_path: Path) -> FactStore:
    return FactStore(tmp_path, StoreOptions(session_id="s1", durability="os"))


def contents(store: FactStore) -> set[str]:
    return {fact.content for fact in store.facts()}


def lines(store: FactStore) -> int:
    return Path(store.path, "knowledge.jsonl").read_bytes().count(b"\n")


def test_a_batch_is_planned_and_written(store: FactStore) -> None:
    port = store.add("config", "The webhook listens on port 3000")
    store.add("decision", "We use Postgres")
    steps = update(
        store,
        [
            CandidateFact("config", "The webhook listens on port 8443", sources=("seg-1",)),
            CandidateFact("decision", "We use Postgres 15 with the pgvector extension"),
            CandidateFact("config", "The webhook listens on port 8443."),
            CandidateFact("issue", "The importer leaks file handles"),
        ],
    )
    assert [step.action for step in steps] == ["supersede", "update", "none", "add"]
    assert contents(store) == {
        "The webhook listens on port 8443",
        "We use Postgres 15 with the pgvector extension",
        "The importer leaks file handles",
    }
    current = steps[0].candidate.id
    states = [(fact.id, fact.content) for fact in store.history(current)]
    assert states[0] == (port.id, "The webhook listens on port 3000")
    assert (current, "The webhook listens on port 8443") in states
    held = store.get(current)
    superseded = store.get(port.id)
    assert held is not None
    assert held.sources == ("seg-1",)
    assert superseded is not None
    assert superseded.superseded_by == current


def test_updating_with_the_same_batch_again_writes_nothing(store: FactStore) -> None:
    """A crash between writing and noting it makes the extractor read a batch once more."""
    store.add("config", "The webhook listens on port 3000")
    said = ["The webhook listens on port 8443", "服务端口是 8080", "Use ruff to lint"]
    update(store, [CandidateFact("config", content) for content in said])
    before = lines(store)
    again = update(store, [CandidateFact("config", content) for content in said])
    assert {step.action for step in again} == {"none"}
    assert lines(store) == before


def test_a_target_is_found_among_many_nearer_facts(store: FactStore) -> None:
    named = store.add("architecture", "Sessions live in Redis")
    for number in range(40):
        store.add("config", f"The importer reads bucket number {number}")
    candidate = CandidateFact(
        "architecture",
        "The importer keeps sessions in DynamoDB",
        action="supersede",
        target=named.id,
    )
    (step,) = update(store, [candidate])
    assert (step.action, step.target, step.degraded) == ("supersede", named.id, None)
    assert "Sessions live in Redis" not in contents(store)


def test_a_superseded_target_resolves_to_the_current_fact(store: FactStore) -> None:
    shown = store.add("config", "The webhook listens on port 3000")
    store.supersede(shown.id, "config", "The webhook listens on port 9000")
    candidate = CandidateFact(
        "config", "The webhook listens on port 8443", action="supersede", target=shown.id
    )
    (step,) = update(store, [candidate], known=[shown])
    assert step.action == "supersede"
    assert step.degraded is not None
    assert contents(store) == {"The webhook listens on port 8443"}


def test_a_target_removed_before_the_write_becomes_an_add(store: FactStore) -> None:
    port = store.add("config", "The webhook listens on port 3000")

    class Slow:
        """Another process is quicker."""

        nearest, get = store.nearest, store.get

        def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
            store.forget(port.id)
            return store.apply(changes)

    (step,) = update(Slow(), [CandidateFact("config", "The webhook listens on port 8443")])
    assert (step.action, step.target) == ("add", None)
    assert step.degraded == "supersede: its target no longer exists"
    assert contents(store) == {"The webhook listens on port 8443"}


def test_later_candidates_build_on_facts_of_the_batch(store: FactStore) -> None:
    candidates = [
        CandidateFact("config", f"The webhook listens on port {port}")
        for port in (3000, 4000, 5000)
    ]
    candidates.append(CandidateFact("config", "The webhook listens on port 5000 over TLS"))
    steps = update(store, candidates)
    assert [step.action for step in steps] == ["add", "supersede", "supersede", "update"]
    assert contents(store) == {"The webhook listens on port 5000 over TLS"}


def test_an_update_without_changes_writes_nothing(store: FactStore) -> None:
    assert update(store, []) == []
    assert [step.action for step in update(store, [CandidateFact("config", "  ")])] == ["none"]
    assert len(store) == 0


def test_updates_of_a_session_leave_other_sessions_alone(store: FactStore, tmp_path: Path) -> None:
    other = FactStore(tmp_path, StoreOptions(session_id="s2", durability="os"))
    theirs = other.add("config", "The webhook listens on port 3000")
    candidate = CandidateFact(
        "config", "The webhook listens on port 8443", action="supersede", target=theirs.id
    )
    (step,) = update(store, [candidate])
    assert (step.action, step.target) == ("add", None)
    assert contents(other) == {"The webhook listens on port 3000"}

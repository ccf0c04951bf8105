"""Lines of facts that come again: no further state, and the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memctx.lowlevel import FactStore, LineWriter, LogReader, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path


def opened(folder: Path) -> FactStore:
    return FactStore(folder, StoreOptions(session_id="s1", durability="os"))


def lines_of(folder: Path) -> list[str]:
    return [text for _, text in LogReader(folder).read_lines(0, log="facts")[0]]


@pytest.fixture
def facts(tmp_path: Path) -> FactStore:
    store = opened(tmp_path)
    store.add("config", "The webhook listens on port 3000", id="f1")
    store.update("f1", "The webhook listens on port 8443")
    store.update("f1", "The webhook listens on port 9000")
    return store


def state(store: FactStore) -> tuple[list[str], list[str], int]:
    return (
        [fact.content[-4:] for fact in store.facts()],
        [fact.content[-4:] for fact in store.history("f1")],
        store.stats()["states"],
    )


def test_an_earlier_state_becomes_the_newest_again(facts: FactStore, tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    LineWriter(tmp_path).append([lines[1]], log="facts")
    wanted = (["8443"], ["3000", "9000", "8443"], 3)
    assert state(facts) == state(opened(tmp_path)) == wanted
    assert [hit.fact.content[-4:] for hit in facts.search("which port has the webhook?")] == [
        "8443"
    ]
    assert facts.get("f1").revision == 3, "its number is one that the fact has not had"  # type: ignore[union-attr]
    LineWriter(tmp_path).append([lines[2]], log="facts")
    assert state(facts) == (["9000"], ["3000", "8443", "9000"], 3)
    assert state(opened(tmp_path)) == state(facts)


def test_the_newest_state_that_comes_again_changes_nothing(
    facts: FactStore, tmp_path: Path
) -> None:
    before, revision = state(facts), facts.get("f1").revision  # type: ignore[union-attr]
    LineWriter(tmp_path).append([lines_of(tmp_path)[2]] * 3, log="facts")
    assert state(facts) == state(opened(tmp_path)) == before
    assert facts.get("f1").revision == revision == 2  # type: ignore[union-attr]


def test_all_lines_again_leave_the_facts_as_they_were(facts: FactStore, tmp_path: Path) -> None:
    facts.supersede("f1", "decision", "We use Redis", new_id="f2")
    facts.add("note", "Ada keeps the calendar", id="f3")
    facts.forget("f3")

    def known(store: FactStore) -> tuple[list[str], list[str], list[str], int]:
        return (
            [fact.content for fact in store.facts()],
            [fact.content for fact in store.history("f1")],
            [fact.content for fact in store.history("f3")],
            store.stats()["states"],
        )

    before = known(facts)
    LineWriter(tmp_path).append(lines_of(tmp_path), log="facts")
    assert known(facts) == known(opened(tmp_path)) == before
    assert facts.get("f3") is None


def test_a_change_after_a_repeated_line_counts(facts: FactStore, tmp_path: Path) -> None:
    LineWriter(tmp_path).append(lines_of(tmp_path)[:1], log="facts")
    facts.update("f1", "The webhook listens on port 7000")
    assert state(facts) == (["7000"], ["8443", "9000", "3000", "7000"], 4)
    assert state(opened(tmp_path)) == state(facts)

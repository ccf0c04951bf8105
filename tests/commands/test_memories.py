from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands.stocked import opened
from memctx import ConfigError, StoreError
from memctx.commands import facts, finding, memories

if TYPE_CHECKING:
    from pathlib import Path

    import memctx


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    (root / "AGENTS.md").write_text("Answer briefly.")
    (root / "memory" / "2026-02-01.md").write_text("The quota of merchants is fifty requests.")
    return root


def test_show_lists_files_and_facts(store: Path, workspace: Path) -> None:
    with opened(store, workspace=workspace) as memory:
        outcome = memories.show(memory)
        assert [file["name"] for file in outcome.data["files"]] == [
            "AGENTS.md",
            "memory/2026-02-01.md",
        ]
        assert outcome.data["facts_total"] == 2
        assert "The ledger rounds half to even" in outcome.text
        assert memories.show(memory, "AGENTS.md").text == "Answer briefly."
        with pytest.raises(StoreError):
            memories.show(memory, "../store/LOCK")


def test_a_file_without_a_workspace_is_refused(memory: memctx.Memory) -> None:
    with pytest.raises(ConfigError, match="there is no workspace"):
        memories.show(memory, "AGENTS.md")


def test_nothing_remembered_is_said(tmp_path: Path) -> None:
    with opened(tmp_path / "new") as memory:
        assert not memories.show(memory).is_ok
        assert not memories.search(memory, "anything").is_ok
        assert not facts.listed(memory).is_ok


def test_add_is_found_masked_and_known_the_second_time(memory: memctx.Memory) -> None:
    first = memories.add(
        memory, "The cache is Valkey, its password is k3jf9slw-Qp0", type="decision"
    )
    assert first.data["is_new"]
    assert first.data["fact"]["type"] == "decision"
    assert "k3jf9slw" not in first.text
    again = memories.add(
        memory, "The cache is Valkey, its password is k3jf9slw-Qp0", type="decision"
    )
    assert not again.data["is_new"]
    found = memories.search(memory, "which cache, Valkey?")
    assert found.data["facts"][0]["fact"]["id"] == first.data["fact"]["id"]


def test_search_finds_facts_notes_and_the_archive(store: Path, workspace: Path) -> None:
    with opened(store, workspace=workspace) as memory:
        webhook = memories.search(memory, "port of the webhook").data
        assert webhook["facts"]
        assert webhook["archive"]
        quota = memories.search(memory, "quota merchants")
        assert quota.data["notes"][0]["path"] == "memory/2026-02-01.md"
        assert "memory/2026-02-01.md#L1" in quota.text


def test_forget_says_first_and_does_when_sure(memory: memctx.Memory) -> None:
    known = memory.facts.search("ledger rounds")[0].fact.id
    asked = memories.forget(memory, known[:8], is_sure=False)
    assert asked.text.startswith("Would forget")
    assert memory.facts.get(known) is not None
    done = memories.forget(memory, known[:8], is_sure=True)
    assert done.data["is_done"]
    assert memory.facts.get(known) is None
    assert [state["is_active"] for state in facts.history(memory, known).data["states"]] == [
        True,
        False,
    ]


def test_forgetting_what_holds_no_more_is_refused(memory: memctx.Memory) -> None:
    old = next(fact for fact in memory.facts.list(include_superseded=True) if not fact.is_active)
    with pytest.raises(ConfigError, match="that fact holds no more"):
        memories.forget(memory, old.id, is_sure=True)


def test_history_is_the_same_from_a_short_id(memory: memctx.Memory) -> None:
    known = memory.facts.search("port of the webhook")[0].fact.id
    outcome = facts.history(memory, known[:8])
    assert outcome.data == facts.history(memory, known).data
    assert [state["content"][-4:] for state in outcome.data["states"]] == ["3000", "3000", "8443"]
    assert f"now {known[:8]}" in outcome.text


def test_list_takes_types_a_limit_and_all(memory: memctx.Memory) -> None:
    def said(**options: object) -> list[str]:
        found = facts.listed(memory, **options)  # type: ignore[arg-type]
        return [fact["content"][-4:] for fact in found.data["facts"]]

    assert said() == ["even", "8443"]
    assert said(types=["config"]) == ["8443"]
    assert said(limit=1) == ["even"]
    assert said(include_superseded=True) == ["even", "8443", "3000"]


def test_ids_that_share_a_beginning_are_told(memory: memctx.Memory) -> None:
    for end in "ab":
        memory.facts.store.add("config", f"The colour of {end} is {end * 5}", id=f"same-{end}")
    with pytest.raises(ConfigError, match="2 facts begin with it: same-a, same-b"):
        finding.fact(memory, "same")

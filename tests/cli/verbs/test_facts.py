from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.verbs.stocked import opened
from memctx import ConfigError, StoreError, tools
from memctx.cli.verbs import facts
from memctx.cli.verbs.request import ChatRequest
from memctx.cli.verbs.shell import ShellRequest

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


def test_memory_show_lists_workspace_files_and_facts(store: Path, workspace: Path) -> None:
    with opened(store, workspace=workspace) as memory:
        outcome = facts.show_memory(ChatRequest(memory))
        assert [file["name"] for file in outcome.data["files"]] == [
            "AGENTS.md",
            "memory/2026-02-01.md",
        ]
        assert outcome.data["facts_total"] == 2
        assert "The ledger rounds half to even" in outcome.text
        assert facts.show_memory(ChatRequest(memory), "AGENTS.md").text == "Answer briefly."
        with pytest.raises(StoreError):
            facts.show_memory(ChatRequest(memory), "../store/LOCK")


def test_memory_show_refuses_a_file_without_a_workspace(memory: memctx.Memory) -> None:
    with pytest.raises(ConfigError, match="there is no workspace"):
        facts.show_memory(ChatRequest(memory), "AGENTS.md")


def test_empty_memory_is_not_ok(tmp_path: Path) -> None:
    with opened(tmp_path / "new") as memory:
        assert not facts.show_memory(ChatRequest(memory)).is_ok
        assert not facts.search_memory(ChatRequest(memory), "anything").is_ok
        assert not facts.list_facts(ChatRequest(memory)).is_ok


def test_added_fact_is_masked_searchable_and_not_duplicated(memory: memctx.Memory) -> None:
    first = facts.add_fact(
        ChatRequest(memory), "The cache is Valkey, its password is k3jf9slw-Qp0", type="decision"
    )
    assert first.data["is_new"]
    assert first.data["fact"]["type"] == "decision"
    assert "k3jf9slw" not in first.text
    again = facts.add_fact(
        ChatRequest(memory), "The cache is Valkey, its password is k3jf9slw-Qp0", type="decision"
    )
    assert not again.data["is_new"]
    found = facts.search_memory(ChatRequest(memory), "which cache, Valkey?")
    assert found.data["facts"][0]["fact"]["id"] == first.data["fact"]["id"]


def test_memory_search_covers_facts_notes_and_the_archive(store: Path, workspace: Path) -> None:
    with opened(store, workspace=workspace) as memory:
        webhook = facts.search_memory(ChatRequest(memory), "port of the webhook").data
        assert webhook["facts"]
        assert webhook["archive"]
        quota = facts.search_memory(ChatRequest(memory), "quota merchants")
        assert quota.data["notes"][0]["path"] == "memory/2026-02-01.md"
        assert "memory/2026-02-01.md#L1" in quota.text


def test_forget_describes_first_and_acts_when_confirmed(memory: memctx.Memory, store: Path) -> None:
    known = memory.facts.search("ledger rounds")[0].fact.id
    asked = facts.forget_fact(ShellRequest(store), known[:8])
    assert asked.text.startswith("Would forget")
    assert memory.facts.get(known) is not None
    done = facts.forget_fact(ChatRequest(memory), known[:8])
    assert done.data["is_done"]
    assert memory.facts.get(known) is None
    assert [
        state["is_active"]
        for state in facts.show_history(ChatRequest(memory), known).data["states"]
    ] == [
        True,
        False,
    ]


def test_forgetting_an_inactive_fact_is_refused(memory: memctx.Memory) -> None:
    old = next(fact for fact in memory.facts.list(include_superseded=True) if not fact.is_active)
    with pytest.raises(ConfigError, match="the fact is no longer active"):
        facts.forget_fact(ChatRequest(memory), old.id)


def test_fact_history_accepts_an_id_prefix(memory: memctx.Memory) -> None:
    known = memory.facts.search("port of the webhook")[0].fact.id
    outcome = facts.show_history(ChatRequest(memory), known[:8])
    assert outcome.data == facts.show_history(ChatRequest(memory), known).data
    assert [state["content"][-4:] for state in outcome.data["states"]] == ["3000", "3000", "8443"]
    assert f"now {known[:8]}" in outcome.text


def test_facts_list_filters_by_type_limit_and_state(memory: memctx.Memory) -> None:
    def said(**options: object) -> list[str]:
        found = facts.list_facts(ChatRequest(memory), **options)  # type: ignore[arg-type]
        return [fact["content"][-4:] for fact in found.data["facts"]]

    assert said() == ["even", "8443"]
    assert said(types=["config"]) == ["8443"]
    assert said(limit=1) == ["even"]
    assert said(include_superseded=True) == ["even", "8443", "3000"]


def test_ambiguous_fact_id_prefix_lists_the_candidates(memory: memctx.Memory) -> None:
    for end in "ab":
        memory.facts.store.add("config", f"The color of {end} is {end * 5}", id=f"same-{end}")
    with pytest.raises(ConfigError, match="2 facts begin with it: same-a, same-b"):
        tools.find_fact(memory, "same")

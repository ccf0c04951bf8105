"""Facts of two projects in one store: the same text is a fact of each, and neither sees or changes the other's."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.hosts import HostSession
from memctx.hosts.hooks import ProjectMemory
from memctx.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")
TEXT = "We decided to use Valkey for the session cache"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def projects(root: Path) -> Iterator[tuple[ProjectMemory, ProjectMemory]]:
    """Open the memories of two projects over one store."""
    config = memctx.Config(storage_path=root, embedding_model="hash", knowledge_extraction=False)
    with ExitStack() as stack:
        shop, blog = (
            stack.enter_context(ProjectMemory(config, HostSession("mcp", f"/src/{name}", "tools")))
            for name in ("shop", "blog")
        )
        yield shop, blog


def store(memory: ProjectMemory, content: str, **given: str) -> dict[str, Any]:
    result = Tools(memory).call("memory_store", {"content": content, "type": "decision", **given})
    assert not result.is_error, result.text
    return result.data


def test_a_text_that_another_project_holds_is_stored_for_this_one(
    projects: tuple[ProjectMemory, ProjectMemory],
) -> None:
    shop, blog = projects
    first = store(shop, TEXT, context="license review")
    second = store(blog, f"  {TEXT.upper()} ", context="latency")
    assert (first["action"], second["action"]) == ("add", "add")
    assert second["fact"]["id"] != first["fact"]["id"]
    assert second["fact"]["text"] == TEXT.upper()
    for memory, mine, other in ((shop, first, second), (blog, second, first)):
        assert [fact.id for fact in memory.facts] == [mine["fact"]["id"]]
        tools = Tools(memory)
        found = tools.call("memory_search", {"query": "session cache"}).text
        assert mine["fact"]["id"] in found
        assert other["fact"]["id"] not in found
        assert tools.call("memory_get", {"id": other["fact"]["id"]}).is_error
    kept = shop.facts.get(first["fact"]["id"])
    assert kept is not None
    assert (kept.content, kept.context, kept.revision) == (TEXT, "license review", 0)
    assert [fact.context for fact in blog.facts] == ["latency"]


def test_a_text_that_the_project_holds_is_stored_once(
    root: Path, projects: tuple[ProjectMemory, ProjectMemory]
) -> None:
    shop, blog = projects
    store(shop, TEXT)
    mine = store(blog, TEXT)["fact"]["id"]
    again = store(blog, TEXT.lower())
    assert (again["action"], again["fact"]["id"]) == ("none", mine)
    assert blog.facts.add("decision", TEXT).id == mine
    # Said in another conversation of the project.
    said = "The invoices are printed in Lisbon"
    session = HostSession("codex", "/src/blog", "c1").session_id
    with memctx.open(root, session_id=session, embedding_model="hash") as other:
        known = other.facts.add("config", said)
    store(shop, said)
    assert store(blog, said)["fact"]["id"] == known.id
    assert blog.facts.add("config", said.upper()).id == known.id
    assert len(blog.facts) == 2


def test_a_forgotten_text_is_stored_again(projects: tuple[ProjectMemory, ProjectMemory]) -> None:
    shop, blog = projects
    theirs = store(shop, TEXT)["fact"]["id"]
    mine = store(blog, TEXT)["fact"]["id"]
    blog.facts.forget(mine)
    assert list(blog.facts) == []
    again = store(blog, TEXT)["fact"]["id"]
    assert again not in {mine, theirs}
    assert [fact.id for fact in shop.facts] == [theirs]


def test_a_correction_to_what_another_project_holds_stays_in_the_project(
    projects: tuple[ProjectMemory, ProjectMemory],
) -> None:
    shop, blog = projects
    theirs = store(shop, "The payment webhook listens on port 8443")["fact"]["id"]
    old = store(blog, "The payment webhook listens on port 3000")["fact"]["id"]
    new = store(blog, "The payment webhook listens on port 8443")
    assert (new["action"], new["replaced"]["id"]) == ("supersede", old)
    assert [fact.id for fact in blog.facts] == [new["fact"]["id"]]
    assert [fact.id for fact in shop.facts] == [theirs]


def test_a_secret_is_masked_in_the_fact_of_each_project(
    root: Path, projects: tuple[ProjectMemory, ProjectMemory]
) -> None:
    shop, blog = projects
    key = "AKIAIOSFODNN7EXAMPLQ"
    for memory in (shop, blog):
        stored = store(memory, f"The bucket is read with {key}")
        assert "REDACTED" in stored["fact"]["text"]
    assert len(list(shop.facts)) == len(list(blog.facts)) == 1
    assert key not in (root / "knowledge.jsonl").read_text()

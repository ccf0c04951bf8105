"""Tools as an agent calls them: results, errors it can act on, bounds, confirmation and isolation."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.errors import ConfigError, StoreError
from memctx.tools import Tools, schemas

if TYPE_CHECKING:
    from pathlib import Path

OUTPUT = {tool["name"]: tool["outputSchema"] for tool in schemas("mcp")}


def answer(tools: Tools, name: str, **arguments: object) -> Any:
    """Return the result of a call that succeeds, and that its output schema describes."""
    result = tools.call(name, arguments)
    assert not result.is_error, result.text
    assert json.loads(result.text) == result.data
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(result.data, OUTPUT[name])
    return result.data


def error(tools: Tools, name: str, arguments: Any) -> dict[str, str]:
    """Return the error of a call, which has a message and a hint."""
    result = tools.call(name, arguments)
    assert result.is_error, result.text
    told: dict[str, str] = result.data["error"]
    assert told["message"]
    assert told["hint"]
    return told


def test_search_finds_facts_and_messages(tools: Tools) -> None:
    answer(tools, "memory_store", content="The webhook retries after five minutes", type="config")
    found = answer(tools, "memory_search", query="webhook")
    assert [fact["text"] for fact in found["facts"]] == ["The webhook retries after five minutes"]
    assert {each["role"] for each in found["messages"]} == {"user", "assistant"}
    assert found["omitted"] == found["unsearched"] == 0


def test_search_filters_by_kind_role_and_time(tools: Tools) -> None:
    answer(tools, "memory_store", content="The webhook is written in Rust")
    assert answer(tools, "memory_search", query="webhook", kind="facts")["messages"] == []
    assert answer(tools, "memory_search", query="webhook", kind="messages")["facts"] == []
    by_user = answer(tools, "memory_search", query="webhook port", role="user")
    assert {each["role"] for each in by_user["messages"]} == {"user"}
    assert by_user["facts"] == []
    assert answer(tools, "memory_search", query="webhook", until="2020-01-01")["messages"] == []
    assert answer(tools, "memory_search", query="webhook", since="2020-01-01T00:00Z")["messages"]


def test_search_finds_notes_of_the_workspace(store: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("The elevator code is in the red folder.\n")
    with memctx.open(
        store, session_id="shop", embedding_model="hash", workspace=workspace
    ) as memory:
        found = answer(Tools(memory), "memory_search", query="elevator code", kind="notes")
    assert [note["where"] for note in found["notes"]] == ["MEMORY.md#L1-L1"]


def test_search_of_everything_reports_progress(store: Path) -> None:
    seen: list[tuple[int, int]] = []
    with memctx.open(
        store, session_id="shop", embedding_model="hash", disk={"max_segments": 1}
    ) as memory:
        result = Tools(memory).call(
            "memory_search",
            {"query": "payment webhook", "everything": True},
            progress=lambda done, total: seen.append((done, total)),
        )
    assert result.data["messages"]
    assert seen
    assert all(done <= total for done, total in seen)


def test_search_of_everything_needs_the_disk_index(store: Path) -> None:
    with memctx.open(
        store, session_id="shop", embedding_model="hash", disk={"index": False}
    ) as memory:
        told = error(Tools(memory), "memory_search", {"query": "port", "everything": True})
    assert "disk.index" in told["message"]


def test_get_returns_a_message_between_its_neighbors(tools: Tools) -> None:
    [hit] = answer(tools, "memory_search", query="invoices printed", role="user", limit=1)[
        "messages"
    ]
    for key in (hit["id"], f"#{hit['id'][:8]}"):
        found = answer(tools, "memory_get", id=key, neighbors=1)
        assert found["message"]["text"] == "The invoices are printed in Lisbon"
        assert [each["role"] for each in found["before"] + found["after"]] == ["assistant"] * 2
        assert found["next_offset"] is None
    assert answer(tools, "memory_get", id=hit["id"], neighbors=0)["before"] == []


def test_get_pages_through_a_long_message(memory: memctx.Memory) -> None:
    text = " ".join(f"word{number}" for number in range(4_000))
    memory.archive([{"role": "user", "content": text}])
    tools = Tools(memory, max_tokens=2_000)
    [hit] = answer(tools, "memory_search", query="word7 word8 word9", limit=1)["messages"]
    assert hit["is_cut"]
    read, offset = "", 0
    for _ in range(50):
        page = answer(tools, "memory_get", id=hit["id"], offset=offset, neighbors=1)
        read += page["message"]["text"]
        if (offset := page["next_offset"]) is None:
            break
    assert read == text


def test_get_returns_a_fact_with_its_history(tools: Tools) -> None:
    stored = answer(tools, "memory_store", content="Staging runs on port 9000", type="config")
    key = stored["fact"]["id"]
    answer(tools, "memory_update", id=key, content="Staging runs on port 9100")
    found = answer(tools, "memory_get", id=key[:8])
    assert found["fact"]["text"] == "Staging runs on port 9100"
    assert [state["text"] for state in found["history"]] == ["Staging runs on port 9000"]
    assert found["message"] is None


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (None, "note"),
        ("note", "note"),
        ("fact", "note"),
        ("Fact", "note"),
        ("preference", "preference"),
        ("decision", "decision"),
    ],
)
def test_store_takes_general_types(tools: Tools, said: str | None, stored: str) -> None:
    found = answer(tools, "memory_store", content="The user likes short answers", type=said)
    assert (found["action"], found["fact"]["type"]) == ("add", stored)


def test_store_supersedes_what_it_contradicts_and_says_so(tools: Tools) -> None:
    first = answer(tools, "memory_store", content="The backend listens on port 3000", type="config")
    again = answer(tools, "memory_store", content="the backend listens on port 3000")
    assert (again["action"], again["fact"]["id"]) == ("none", first["fact"]["id"])
    other = answer(tools, "memory_store", content="The backend listens on port 4000", type="config")
    assert other["action"] == "supersede"
    assert other["replaced"]["id"] == first["fact"]["id"]
    assert other["reason"]
    told = error(tools, "memory_update", {"id": first["fact"]["id"], "content": "x"})
    assert other["fact"]["id"] in told["hint"]


def test_store_masks_secrets(tools: Tools) -> None:
    content = "The API key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
    found = answer(tools, "memory_store", content=content)
    assert "abcdefghijklmnopqrstuvwxyz" not in found["fact"]["text"]


def test_forget_takes_two_calls(tools: Tools, memory: memctx.Memory) -> None:
    key = answer(tools, "memory_store", content="The safe opens with 1234")["fact"]["id"]
    first = answer(tools, "memory_forget", id=key)
    assert not first["is_forgotten"]
    assert len(memory.facts) == 1
    second = answer(tools, "memory_forget", id=key, confirm=first["confirm"])
    assert second["is_forgotten"]
    assert len(memory.facts) == 0
    assert error(tools, "memory_forget", {"id": key})["code"] == "not_found"


@pytest.mark.parametrize("guess", ["yes", "true", "confirm", "", "00000000"])
def test_forget_ignores_a_guessed_confirmation(
    tools: Tools, memory: memctx.Memory, guess: str
) -> None:
    key = answer(tools, "memory_store", content="The safe opens with 1234")["fact"]["id"]
    assert error(tools, "memory_forget", {"id": key, "confirm": guess})["code"] == "changed"
    assert len(memory.facts) == 1


def test_forget_refuses_the_code_of_an_earlier_text(tools: Tools, memory: memctx.Memory) -> None:
    key = answer(tools, "memory_store", content="The safe opens with 1234")["fact"]["id"]
    code = answer(tools, "memory_forget", id=key)["confirm"]
    answer(tools, "memory_update", id=key, content="The safe opens with 9876")
    assert error(tools, "memory_forget", {"id": key, "confirm": code})["code"] == "changed"
    assert len(memory.facts) == 1


def test_messages_are_neither_updated_nor_forgotten(tools: Tools) -> None:
    [hit] = answer(tools, "memory_search", query="payment webhook", limit=1)["messages"]
    for name, more in (("memory_forget", {}), ("memory_update", {"content": "x"})):
        told = error(tools, name, {"id": hit["id"], **more})
        assert "archived message" in told["message"]


def test_sessions_are_listed_newest_first_and_paged(store: Path) -> None:
    with memctx.open(
        store, session_id="shop", embedding_model="hash", cross_session=True
    ) as memory:
        tools = Tools(memory)
        first = answer(tools, "memory_sessions", limit=1)
        assert (first["total"], first["next_offset"]) == (2, 1)
        second = answer(tools, "memory_sessions", limit=1, offset=1)
        assert second["next_offset"] is None
    found = {each["id"]: each for each in first["sessions"] + second["sessions"]}
    assert found["garden"]["first_words"] == "The tulips are watered at dawn"
    assert (found["shop"]["messages"], found["shop"]["is_current"]) == (4, True)


def test_pages_of_sessions_are_bounded(tmp_path: Path) -> None:
    ids = {f"{number:02}-{'long-' * 40}" for number in range(30)}
    for session in ids:
        with memctx.open(tmp_path, session_id=session, embedding_model="hash") as memory:
            memory.archive([{"role": "user", "content": "hello there " * 30}])
    with memctx.open(
        tmp_path, session_id="r", embedding_model="hash", cross_session=True
    ) as memory:
        tools = Tools(memory, max_tokens=1_000)
        seen: set[str] = set()
        offset: int | None = 0
        while offset is not None:
            page = tools.call("memory_sessions", {"limit": 100, "offset": offset})
            assert memctx.estimate_tokens(page.text) <= 1_250
            seen |= {each["id"] for each in page.data["sessions"]}
            offset = page.data["next_offset"]
    assert seen == ids


def test_other_sessions_are_invisible(tools: Tools, store: Path) -> None:
    with memctx.open(store, session_id="garden", embedding_model="hash") as other:
        fact = other.facts.add("note", "The gate key is under the stone")
        segment = next(iter(other.store.segments()))
    assert [each["id"] for each in answer(tools, "memory_sessions")["sessions"]] == ["shop"]
    found = answer(tools, "memory_search", query="tulips watered dawn gate key stone")
    assert all(each["session_id"] == "shop" for each in found["messages"])
    assert found["facts"] == []
    for key in (fact.id, segment.id, segment.id[:8]):
        assert error(tools, "memory_get", {"id": key})["code"] == "not_found"
    assert error(tools, "memory_forget", {"id": fact.id})["code"] == "not_found"
    told = error(tools, "memory_search", {"query": "tulips", "session": "garden"})
    assert "cross_session" in told["hint"]


def test_status_tells_the_session_and_the_counts(tools: Tools) -> None:
    found = answer(tools, "memory_status")
    assert (found["session_id"], found["messages"], found["is_ok"]) == ("shop", 4, True)
    assert (found["reads_all_sessions"], found["embedding_model"]) == (False, "hash")


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        ("memory_recall", {}, "memory_recall"),
        ("memory_search", {}, "query"),
        ("memory_search", {"query": "  "}, "query"),
        ("memory_search", {"query": 7}, "query"),
        ("memory_search", {"query": "x", "limit": 0}, "limit"),
        ("memory_search", {"query": "x", "limit": True}, "limit"),
        ("memory_search", {"query": "x", "limit": 1.5}, "limit"),
        ("memory_search", {"query": "x", "kind": "everything"}, "kind"),
        ("memory_search", {"query": "x", "since": "yesterday"}, "since"),
        ("memory_search", {"text": "x"}, "text"),
        ("memory_search", ["query"], "list"),
        ("memory_search", "{query", "JSON"),
        ("memory_search", {"query": "x", "session": "nowhere"}, "nowhere"),
        ("memory_get", {"id": "abc"}, "abc"),
        ("memory_get", {"id": "ffffffff-0000"}, "ffffffff-0000"),
        ("memory_store", {"content": "x" * 5_000}, "content"),
        ("memory_store", {"content": "x", "context": "x" * 5_000}, "context"),
        ("memory_store", {"content": "x", "type": "poem"}, "type"),
        ("memory_update", {"id": "ffffffff", "content": "x"}, "ffffffff"),
    ],
)
def test_wrong_arguments_are_named(tools: Tools, name: str, arguments: Any, named: str) -> None:
    assert named in error(tools, name, arguments)["message"]


def test_null_means_left_out_and_whole_floats_are_integers(tools: Tools) -> None:
    arguments = {"query": "webhook", "limit": 1.0, "kind": None, "role": None, "session": None}
    assert len(answer(tools, "memory_search", **arguments)["messages"]) == 1


def test_arguments_may_be_json(tools: Tools) -> None:
    assert tools.call("memory_search", '{"query": "webhook"}').data["messages"]
    assert not tools.call("memory_status", "").is_error


@pytest.mark.parametrize("max_tokens", [200, 1_000, 4_000])
def test_answers_are_bounded(memory: memctx.Memory, max_tokens: int) -> None:
    for number in range(40):
        memory.archive([{"role": "user", "content": f"Parcel {number}: " + "fragile 易碎 " * 300}])
        memory.facts.add("note", f"Parcel {number} " + f"is fragile {number} " * 60)
    tools = Tools(memory, max_tokens=max_tokens)
    found = tools.call("memory_search", {"query": "fragile parcel", "limit": 50})
    assert memctx.estimate_tokens(found.text) <= max_tokens * 1.25
    assert found.data["omitted"] > 0
    [segment, *_] = reversed(list(memory.store.segments()))
    found = tools.call("memory_get", {"id": segment.id, "neighbors": 20})
    assert memctx.estimate_tokens(found.text) <= max_tokens * 1.25
    assert found.data["message"]["text"]


def test_a_bound_too_small_for_an_answer_is_refused(memory: memctx.Memory) -> None:
    with pytest.raises(ConfigError, match="max_tokens is 10"):
        Tools(memory, max_tokens=10)


def test_a_closed_memory_is_an_error_result(store: Path) -> None:
    memory = memctx.open(store, session_id="shop", embedding_model="hash")
    memory.close()
    told = error(Tools(memory), "memory_search", {"query": "webhook"})
    assert told["code"] == "unavailable"
    assert "without memory" in told["hint"]


def test_a_defect_is_an_error_result_without_its_text(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(memctx.Memory, "search", fail)
    result = tools.call("memory_search", {"query": "webhook"})
    assert result.data["error"]["code"] == "internal"
    assert "secret" not in result.text
    assert "memory_search failed" in caplog.text


def test_a_store_that_fails_is_an_error_result(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(memctx.Memory, "search", fail)
    assert error(tools, "memory_search", {"query": "webhook"})["message"] == "the disk is full"


def test_a_disabled_memory_stores_nothing(store: Path) -> None:
    with memctx.open(store, session_id="shop", embedding_model="hash", enabled=False) as memory:
        assert "disabled" in error(Tools(memory), "memory_store", {"content": "x"})["message"]
        assert len(memory.facts) == 0


def test_calls_from_many_threads_and_tasks(tools: Tools) -> None:
    def store(number: int) -> bool:
        return tools.call("memory_store", {"content": f"Rack {number} holds box {number}"}).is_error

    async def search_all() -> list[bool]:
        calls = [tools.acall("memory_search", {"query": "webhook"}) for _ in range(50)]
        return [result.is_error for result in await asyncio.gather(*calls)]

    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(store, range(50)))
    assert not any(asyncio.run(search_all()))


def test_cancellation_stops_the_indexing_of_everything(store: Path) -> None:
    """The next report finds that no caller waits."""
    reached, resumed = threading.Event(), threading.Event()
    steps: list[int] = []

    def step(done: int, _total: int) -> None:
        steps.append(done)
        reached.set()
        resumed.wait(10)

    async def cancel(tools: Tools) -> None:
        arguments = {"query": "payment webhook", "everything": True}
        task = asyncio.create_task(tools.acall("memory_search", arguments, progress=step))
        await asyncio.to_thread(reached.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        resumed.set()

    with memctx.open(
        store, session_id="shop", embedding_model="hash", disk={"max_segments": 1}
    ) as memory:
        asyncio.run(cancel(Tools(memory)))
        assert len(steps) == 1
        assert not Tools(memory).call("memory_search", {"query": "webhook"}).is_error


def test_cancellation_stops_a_long_call(
    tools: Tools, memory: memctx.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread of the call ends at the next step, and not only the waiting for it."""
    reached, ended = threading.Event(), threading.Event()

    def step(_done: int, _total: int) -> None:
        reached.set()

    def endless() -> Any:
        try:
            while True:
                yield segment
        finally:
            ended.set()

    segment = next(iter(memory.store.segments()))

    class Endless:
        def __getattr__(self, name: str) -> Any:
            return endless if name == "segments" else getattr(store, name)

    store = memory.store
    monkeypatch.setattr(memory, "_store", Endless())

    async def cancel() -> None:
        task = asyncio.create_task(tools.acall("memory_sessions", progress=step))
        await asyncio.to_thread(reached.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert ended.wait(10)

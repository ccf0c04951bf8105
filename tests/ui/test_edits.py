"""Edits of facts: the log entries of the API, undo, two writers at once, and a process that is killed."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

import memctx
import process
from memctx.ui import facts
from ui.conftest import SHOP, Page, command, fill, serve

if TYPE_CHECKING:
    from pathlib import Path


VARYING = {"id", "timestamp", "supersededBy", "sources", "crc"}


def fact_with(page: Page, content: str) -> Any:
    return next(each for each in page.get("facts")["facts"] if each["content"] == content)


def lines(store: Path) -> list[dict[str, Any]]:
    """Return the states in the log of facts, without what differs from run to run."""
    found = [
        json.loads(line) for line in (store / "knowledge.jsonl").read_text("utf-8").splitlines()
    ]
    return [{name: value for name, value in each.items() if name not in VARYING} for each in found]


def edit(page: Page, action: str, fact: Any, **more: Any) -> Any:
    return answer(page, action, id=fact["id"], revision=fact["revision"], **more)["fact"]


def answer(page: Page, action: str, **given: Any) -> Any:
    done = page.post(f"facts/{action}", **given)
    assert done.status_code == 200, done.text
    return done.json()


def undo(page: Page, answered: Any) -> Any:
    """Undo an edit as the page does: by the request in its answer."""
    return answer(page, **answered["undo"])["fact"]


def told(fact: Any) -> dict[str, Any]:
    """Return what a fact says, without its id and time."""
    kept = ("content", "type", "context", "session", "sources", "state")
    return {name: fact[name] for name in kept}


def test_edits_are_the_log_entries_of_the_api(editor: Page, tmp_path: Path) -> None:
    valkey = fact_with(editor, "Use Valkey for the session cache")
    edited = edit(editor, "update", valkey, content="Use Valkey 8 for the session cache")
    replaced = edit(editor, "supersede", edited, content="Use Redis for the session cache")
    edit(editor, "forget", replaced)
    assert (
        editor.post(
            "facts/add", session=SHOP, type="decision", content="Ship on Friday"
        ).status_code
        == 200
    )
    same = fill(tmp_path / "same")
    with memctx.open(same, session_id=SHOP, embedding_model="hash") as memory:
        old = next(each for each in memory.facts if each.content.startswith("Use Valkey"))
        memory.facts.update(old.id, "Use Valkey 8 for the session cache")
        new = memory.facts.supersede(old.id, "Use Redis for the session cache")
        memory.facts.forget(new.id)
        memory.facts.add("decision", "Ship on Friday")
    assert lines(editor.store) == lines(same)


def test_edits_are_shown_by_the_command_line(editor: Page) -> None:
    fact = fact_with(editor, "Use Valkey for the session cache")
    edit(editor, "update", fact, content="Use Valkey 8 for the session cache")
    listed = [each["content"] for each in command(editor.store, "facts", "list")["facts"]]
    assert "Use Valkey 8 for the session cache" in listed
    states = command(editor.store, "facts", "history", fact["id"])["states"]
    assert [each["content"] for each in states] == [
        "Use Valkey for the session cache",
        "Use Valkey 8 for the session cache",
    ]


def test_a_forgotten_fact_can_be_restored_once(editor: Page) -> None:
    fact = fact_with(editor, "The payment webhook listens on port 8443")
    gone = edit(editor, "forget", fact)
    assert gone["state"] == "forgotten"
    assert all(each["id"] != fact["id"] for each in editor.get("facts")["facts"])
    back = editor.post("facts/restore", id=fact["id"]).json()["fact"]
    assert told(back) == told(fact)
    again = editor.post("facts/restore", id=fact["id"]).json()["fact"]
    assert again["id"] == back["id"], "stated once"
    assert editor.post("facts/restore", id=back["id"]).status_code == 409


def test_forgotten_facts_are_listed_with_the_superseded_ones(editor: Page) -> None:
    shop = [each for each in editor.get("facts")["facts"] if each["session"] == SHOP]
    for each in shop:
        edit(editor, "forget", each)
    assert not {each["id"] for each in shop} & {each["id"] for each in editor.get("facts")["facts"]}

    def forgotten(**given: str) -> set[str]:
        found = editor.get("facts", superseded="yes", **given)["facts"]
        assert found == sorted(found, key=lambda each: each["time"], reverse=True)
        return {each["id"] for each in found if each["state"] == "forgotten"}

    assert forgotten() == {each["id"] for each in shop}
    assert forgotten(session="s2") == set()
    assert forgotten(type="decision") == {each["id"] for each in shop if each["type"] == "decision"}


def test_a_store_without_facts_has_no_forgotten_ones(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with memctx.open(store, session_id="s1", embedding_model="hash") as memory:
        memory.archive([{"role": "user", "content": "The tulips are watered at dawn"}])
    with serve(store, may_write=False) as page:
        assert page.get("facts", superseded="yes")["facts"] == []


def test_undo_takes_an_added_fact_and_an_edit_back(editor: Page) -> None:
    added = answer(editor, "add", session=SHOP, type="decision", content="Ship on Friday")
    assert not added["is_known"]
    assert undo(editor, added)["state"] == "forgotten"
    fact = fact_with(editor, "Use Valkey for the session cache")
    known = {"id": fact["id"], "revision": fact["revision"]}
    edited = answer(editor, "update", **known, content="Use Dragonfly for the session cache")
    assert told(undo(editor, edited)) == told(fact)


def test_undo_does_not_forget_a_fact_that_was_known_before_it_was_added(editor: Page) -> None:
    before = fact_with(editor, "Use Valkey for the session cache")
    given = {"session": SHOP, "type": "note", "content": "use valkey for the session cache"}
    added = answer(editor, "add", **given)
    assert (added["fact"], added["is_known"], added["undo"]) == (before, True, None)


def test_undo_of_superseding_restores_context_and_sources(editor: Page) -> None:
    with memctx.open(editor.store, session_id=SHOP, embedding_model="hash") as memory:
        source = next(iter(memory.store.segments())).id
        memory.facts.add("issue", "The lamp is dark", context="pier 9", sources=[source])
    fact = fact_with(editor, "The lamp is dark")
    known = {"id": fact["id"], "revision": fact["revision"]}
    done = answer(editor, "supersede", **known, content="The lamp is lit")
    assert (done["fact"]["type"], done["is_known"]) == ("issue", False)
    assert told(undo(editor, done)) == told(fact)
    assert fact["context"]
    assert fact["sources"]
    contents = [each["content"] for each in editor.get("facts")["facts"]]
    assert contents.count("The lamp is dark") == 1
    assert "The lamp is lit" not in contents


def test_undo_of_superseding_by_a_known_fact_leaves_that_fact(editor: Page) -> None:
    fact = fact_with(editor, "The payment webhook listens on port 8443")
    other = fact_with(editor, "Use Valkey for the session cache")
    before = [told(each) for each in editor.get("facts")["facts"]]
    known = {"id": fact["id"], "revision": fact["revision"]}
    done = answer(editor, "supersede", **known, content=other["content"])
    assert (done["fact"]["id"], done["is_known"]) == (other["id"], True)
    assert told(undo(editor, done)) == told(fact)
    assert fact_with(editor, other["content"]) == other
    after = [told(each) for each in editor.get("facts")["facts"]]
    assert sorted(after, key=str) == sorted(before, key=str)


@pytest.mark.parametrize("action", ["update", "supersede"])
def test_an_edit_that_says_nothing_new_offers_no_undo(editor: Page, action: str) -> None:
    fact = fact_with(editor, "Use Valkey for the session cache")
    known = {"id": fact["id"], "revision": fact["revision"]}
    done = answer(editor, action, **known, content=fact["content"])
    assert (done["fact"], done["is_known"], done["undo"]) == (fact, True, None)


def test_undo_of_superseding_is_refused_once_the_new_fact_was_changed(editor: Page) -> None:
    fact = fact_with(editor, "Use Valkey for the session cache")
    known = {"id": fact["id"], "revision": fact["revision"]}
    done = answer(editor, "supersede", **known, content="Use Redis for the session cache")
    edit(editor, "update", done["fact"], content="Use Redis 8 for the session cache")
    refused = editor.post("facts/restore", **done["undo"])
    assert refused.status_code == 409
    assert "Redis 8" in refused.json()["error"]


def test_histories_have_every_state_and_the_source(editor: Page) -> None:
    fact = fact_with(editor, "The payment webhook listens on port 8443")
    found = editor.get("fact", id=fact["id"])
    assert [each["content"][-9:] for each in found["states"]] == [
        "port 3000",
        "port 3000",
        "port 8443",
    ]
    assert found["sources"][0]["text"].startswith("Customer 0 pays")


def test_contradictions_stand_side_by_side(editor: Page) -> None:
    pair = editor.get("contradictions")["pairs"][0]
    assert (pair["older"]["content"][-4:], pair["newer"]["content"][-4:]) == ("8443", "9443")
    edit(editor, "forget", pair["older"])
    assert editor.get("contradictions")["pairs"] == []


def test_an_edit_of_what_another_writer_changed_is_refused(editor: Page) -> None:
    fact = fact_with(editor, "Use Valkey for the session cache")
    with memctx.open(editor.store, session_id=SHOP, embedding_model="hash") as memory:
        memory.facts.update(fact["id"], "Use Dragonfly for the session cache")
    refused = editor.post("facts/update", id=fact["id"], revision=fact["revision"], content="x y z")
    assert refused.status_code == 409
    assert "Dragonfly" in refused.json()["error"]
    with memctx.open(editor.store, session_id=SHOP, embedding_model="hash") as memory:
        memory.facts.forget(fact["id"])
    refused = editor.post("facts/forget", id=fact["id"], revision=fact["revision"] + 1)
    assert refused.status_code == 409


def test_of_edits_at_once_all_but_one_are_refused(
    editor: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = fact_with(editor, "Use Valkey for the session cache")
    check = facts._editable  # noqa: SLF001 - to make the check slow

    def check_slowly(*given: Any) -> Any:
        found = check(*given)
        time.sleep(0.05)
        return found

    monkeypatch.setattr(facts, "_editable", check_slowly)

    def attempt(number: int) -> int:
        given = {"id": fact["id"], "revision": fact["revision"]}
        return editor.post("facts/update", content=f"Use cache {number}", **given).status_code

    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(attempt, range(8)))
    assert found == [200, *[409] * 7]
    states = editor.get("fact", id=fact["id"])["states"]
    assert len(states) == 2, "nothing was written for those that were refused"


def test_bad_edits_are_refused(editor: Page) -> None:
    assert (
        editor.post("facts/add", session="unknown", type="config", content="x").status_code == 404
    )
    assert editor.post("facts/add", session=SHOP, type="rumor", content="x").status_code == 400
    assert editor.post("facts/add", session=SHOP, type="config", content="  ").status_code == 400
    assert editor.post("facts/update", id="unknown", revision=0, content="x").status_code == 409
    assert editor.post("facts/restore", id="unknown").status_code == 404
    headers = {"Origin": editor.origin, "X-Memctx-Page": "1", "Content-Type": "application/json"}
    for body in (b"[]", b"{", b'"x"', b"[" * 100_000):
        assert (
            editor.client.post("/api/facts/add", content=body, headers=headers).status_code == 400
        )


@pytest.mark.slow
def test_edits_survive_a_killed_process(tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    run = [sys.executable, "-m", "memctx", "ui", "--store", str(store), "--write", "--no-browser"]
    child = process.start(run, env={**os.environ, "MEMCTX_EMBEDDING_MODEL": "hash"}, stdout=-1)
    assert child.stdout is not None
    try:
        address = child.stdout.readline().strip()
        origin = address.partition("/?")[0]
        with httpx2.Client(base_url=origin, timeout=30) as client:
            client.get(address)
            headers = {"Origin": origin, "X-Memctx-Page": "1"}
            facts = {
                each["content"][-4:]: {"id": each["id"], "revision": each["revision"]}
                for each in client.get("/api/facts").json()["facts"]
            }
            for name, body in (
                ("add", {"session": SHOP, "type": "config", "content": "The lamp is on pier 9"}),
                ("update", {**facts["ache"], "content": "Use Valkey 8 for the session cache"}),
                ("supersede", {**facts["8443"], "content": "The webhook listens on port 1"}),
                ("forget", facts["9443"]),
            ):
                done = client.post(f"/api/facts/{name}", json=body, headers=headers)
                assert done.status_code == 200, done.text
        child.send_signal(signal.SIGKILL)
        child.wait(10)
    finally:
        child.kill()
        child.communicate()
    assert {each["content"] for each in command(store, "facts", "list")["facts"]} == {
        "The lamp is on pier 9",
        "Use Valkey 8 for the session cache",
        "The webhook listens on port 1",
    }

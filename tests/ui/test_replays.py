"""Replays of stored sessions: what each call sent, two settings side by side, and the scratch copy."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import Config
from memctx.ui.recording import StoredSession
from ui.conftest import SHOP, Page, serve

if TYPE_CHECKING:
    from pathlib import Path

SMALL = {"context_window": 2_500, "embedding_model": "hash"}


def files(store: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in store.rglob("*.json*") if path.is_file()}


def test_a_replay_shows_what_every_call_sent(page: Page) -> None:
    before = files(page.store)
    played = page.play(session=SHOP, settings=SMALL)
    assert played["state"] == "done", played["error"]
    calls = len(played["calls"]["after"])
    assert calls == played["totals"]["calls"] > 40
    assert max(played["calls"]["after"]) <= 2_500 < max(played["calls"]["before"])
    assert played["totals"]["oversized"] == 0
    recalling = next(at for at, found in enumerate(played["calls"]["found"], start=1) if found)
    call = page.get("call", id=played["id"], number=recalling)
    assert {"same", "recalled"} <= {each["kind"] for each in call["sent"]}
    block = next(each["text"] for each in call["sent"] if each["kind"] == "recalled")
    assert block.startswith("<recalled-context")
    assert call["tokens"]["after"] == played["calls"]["after"][recalling - 1]
    assert files(page.store) == before, "the store is only read"


def test_the_runs_of_a_call_are_in_order_and_name_stored_messages(page: Page) -> None:
    played = page.play(session=SHOP, settings=SMALL)
    for number in range(1, len(played["calls"]["after"]) + 1):
        call = page.get("call", id=played["id"], number=number)
        places = [
            (each["first"], each["last"]) for each in call["sent"] if each["first"] is not None
        ]
        assert all(first <= last < call["given"] for first, last in places)
        assert all(now[1] < then[0] for now, then in pairwise(places))


def test_sources_of_recalled_blocks_are_messages_of_the_session(page: Page) -> None:
    played = page.play(session=SHOP, settings=SMALL)
    recalling = next(at for at, found in enumerate(played["calls"]["found"], start=1) if found)
    call = page.get("call", id=played["id"], number=recalling)
    texts = [
        page.get("messages", session=SHOP, start=each, count=1)["messages"][0]["text"]
        for each in call["sources"]
    ]
    beginnings = [each["excerpt"].strip(" …")[:40] for each in call["recalled"]]
    assert beginnings
    assert all(any(each in text for text in texts) for each in beginnings), (beginnings, texts)


def test_a_message_of_ten_megabytes_is_played(page: Page) -> None:
    played = page.play(session="s2", settings=SMALL)
    assert played["state"] == "done", played["error"]
    call = page.client.get("/api/call", params={"id": played["id"], "number": 1})
    assert call.status_code == 200
    assert len(call.content) < 100_000


def test_calls_above_the_window_are_counted(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with memctx.open(store, session_id="s1", embedding_model="hash") as memory:
        memory.archive(
            [{"role": "user", "content": f"{number} parcels. " * 900} for number in "12"]
        )
        memory.archive([{"role": "assistant", "content": "Both lists are read."}])
    with serve(store, may_write=False) as page:
        played = page.play(session="s1", settings=SMALL)
    assert played["totals"]["oversized"] == sum(each > 2_500 for each in played["calls"]["after"])
    assert played["totals"]["oversized"] > 0


def test_the_same_replay_is_played_once(page: Page) -> None:
    first = page.play(session=SHOP, settings=SMALL)
    again = page.post("replays/start", session=SHOP, settings=SMALL).json()
    assert (again["id"], again["state"]) == (first["id"], "done")


def test_only_the_first_messages_are_played_on_request(page: Page) -> None:
    played = page.play(session=SHOP, settings=SMALL, messages=10)
    assert played["played"] == 10
    assert max(played["calls"]["messages"]) <= 10


def test_settings_are_exported_as_toml(page: Page, tmp_path: Path) -> None:
    settings = '{"context_window": 8000, "placement": "tail", "recall.min_score": 0.5}'
    found = page.client.get("/api/settings.toml", params={"settings": settings})
    assert tomllib.loads(found.text) == {
        "context_window": 8_000,
        "placement": "tail",
        "recall": {"min_score": 0.5},
    }
    assert "attachment" in found.headers["content-disposition"]
    file = tmp_path / "memctx.toml"
    file.write_text(found.text, "utf-8")
    assert Config.load(file=file).recall.min_score == 0.5


def test_a_comparison_is_one_file_without_scripts(page: Page) -> None:
    ids = [
        page.play(session=SHOP, settings={**SMALL, "recall.min_score": least})["id"]
        for least in (0.7, 0.0)
    ]
    found = page.client.get("/api/comparison.html", params={"first": ids[0], "second": ids[1]})
    assert found.status_code == 200
    assert "Key figures" in found.text
    assert "min_score = 0.0" in found.text
    assert "<script" not in found.text
    assert "http" not in found.text.replace("http-equiv", "").replace(
        "http://www.w3.org/2000/svg", ""
    )


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"storage_path": "/tmp"}, "storage_path"),  # noqa: S108 - it is refused
        ({"context_window": "wide"}, "context_window"),
        ({"context_window": -5}, "context_window"),
        ({"recall.min_score": 7}, "recall.min_score"),
        ({"placement": "middle"}, "placement"),
        ({"embedding_model": "openai"}, "embedding_model"),
        ({"extractor": "anthropic"}, "extractor"),
    ],
)
def test_settings_that_a_replay_may_not_have_are_refused(
    page: Page, settings: dict[str, Any], named: str
) -> None:
    refused = page.post("replays/start", session=SHOP, settings=settings)
    assert refused.status_code == 400
    assert named in refused.json()["error"]


def test_a_replay_can_be_canceled(page: Page) -> None:
    started = page.post(
        "replays/start", session=SHOP, settings={**SMALL, "recall.window": 3}
    ).json()
    assert page.post("replays/cancel", id=started["id"]).status_code == 200
    played = page.play(session=SHOP, settings=SMALL)
    assert played["state"] == "done"
    assert page.get("replay", id=started["id"])["state"] in {"canceled", "done"}


class Stored:
    """A segment as a session has it."""

    def __init__(self, role: str, content: str, **tool: str) -> None:
        self.role = role
        self.content = content
        self.metadata = {"tool": tool} if tool else {}


def stored(*segments: Stored) -> StoredSession:
    return StoredSession.of(segments)  # type: ignore[arg-type]


def test_calls_and_results_are_paired_again() -> None:
    call = {"callId": "c1", "kind": "call", "name": "read"}
    found = stored(
        Stored("user", "Which gate?"),
        Stored("assistant", "I look."),
        Stored("tool", 'read {"path": "a"}', **call),
        Stored("tool", "gate = 7", **{**call, "kind": "result"}),
        Stored("assistant", "Seven."),
    )
    assert [each["role"] for each in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert found.messages[1]["tool_calls"][0]["function"]["arguments"] == '{"path": "a"}'
    assert found.numbers == [0, 1, 3, 4]
    assert [found.count_before(count) for count in range(5)] == [0, 1, 3, 4, 5]


def test_calls_without_results_become_text() -> None:
    call = {"callId": "c1", "kind": "call", "name": "read"}
    found = stored(
        Stored("user", "Which gate?"), Stored("tool", "read {}", **call), Stored("user", "Go on")
    )
    assert [each["role"] for each in found.messages] == ["user", "assistant", "user"]
    assert found.messages[1] == {"role": "assistant", "content": "read {}"}


def test_results_that_lost_their_call_get_one() -> None:
    """A store keeps a call that repeats itself only once."""
    result = {"callId": "c1", "kind": "result", "name": "read"}
    found = stored(
        Stored("user", "Which gate?"), Stored("tool", "gate = 7", **result), Stored("tool", "bare")
    )
    assert [each["role"] for each in found.messages] == ["user", "assistant", "tool", "user"]
    assert found.messages[1]["tool_calls"][0]["id"] == found.messages[2]["tool_call_id"]
    assert found.numbers == [0, 1, 1, 2]
    assert memctx.validate(found.messages) == []

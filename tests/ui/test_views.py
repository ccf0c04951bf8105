"""The views over HTTP: sessions, ranges of messages, search, recall step by step, and bad parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memctx
from memctx import _core
from memctx.config import Config
from memctx.hosts.hooks.session import SessionRecord, record_import
from memctx.ui import Backend
from ui.conftest import (
    ANSWER,
    LONG,
    QUESTION,
    SCRIPT,
    SHOP,
    Page,
    fill,
    remove,
    serve,
    served,
    talk,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def test_the_overview_lists_sessions_with_host_project_and_title(page: Page) -> None:
    found = page.get("overview")
    shop = next(each for each in found["sessions"] if each["id"] == SHOP)
    assert (shop["host"], shop["folder"], shop["title"]) == (
        "claude-code",
        "shop",
        "Gates of customers",
    )
    assert found["total"] == 2
    assert found["messages"] == sum(each["messages"] for each in found["sessions"])
    assert sum(found["timeline"]["counts"]) == found["messages"]


def test_a_filter_finds_sessions_by_title_and_project(page: Page) -> None:
    assert [each["id"] for each in page.get("overview", filter="GATES")["sessions"]] == [SHOP]
    assert page.get("overview", filter="no such session")["found"] == 0


def test_health_and_verification_read_the_whole_store(page: Page) -> None:
    health = page.get("health")
    assert health["is_ok"]
    assert health["facts"]["active"] == 3
    verified = page.post("verify").json()
    assert verified["problems"] == []
    assert verified["segments"] == page.get("overview")["messages"]


def test_any_range_of_messages_is_as_it_was_said(page: Page) -> None:
    total = page.get("session", session=SHOP)["messages"]
    one_by_one = [
        page.get("messages", session=SHOP, start=at, count=1)["messages"][0]
        for at in (0, 7, total - 1)
    ]
    whole = page.get("messages", session=SHOP, start=0, count=200)["messages"]
    assert one_by_one == [whole[0], whole[7], whole[-1]]
    assert [each["number"] for each in whole] == list(range(total))
    assert whole[-3]["text"] == SCRIPT
    assert page.get("messages", session=SHOP, start=total, count=5)["messages"] == []


def test_long_messages_are_shortened_and_read_by_parts(page: Page) -> None:
    message = page.get("messages", session="s2")["messages"][0]
    assert (len(message["text"]), message["length"]) == (2_000, len(LONG))
    part = page.get("message", session="s2", number=0, start=9_999_990, count=100)
    assert part == {"text": LONG[-10:], "start": 9_999_990, "length": len(LONG)}


def test_a_message_is_found_by_id_and_by_time(page: Page) -> None:
    message = page.get("messages", session=SHOP, start=5, count=1)["messages"][0]
    assert page.get("find", id=message["id"]) == {"session": SHOP, "number": 5}
    assert page.get("find", session=SHOP, time=0)["number"] == 0


def test_messages_that_an_agent_was_reminded_of_are_named(tmp_path: Path) -> None:
    said = talk(40)
    store = tmp_path / "store"
    with memctx.open(
        store, session_id="s1", embedding_model="hash", context_window=2_500
    ) as memory:
        for end in range(1, len(said) + 1):
            if said[end - 1]["role"] == "user":
                memory.prepare(said[:end])
    with serve(store, may_write=False) as page:
        found = page.get("session", session="s1")
        texts = [
            page.get("messages", session="s1", start=each, count=1)["messages"][0]["text"]
            for each in found["recalled"]
        ]
    assert ANSWER in texts
    assert 0 < found["context_tokens"] < 2_500
    assert found["summarized"] == 0


def test_messages_before_a_compaction_of_the_host_are_summarized(tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    with serve(store, may_write=False) as page:
        messages = page.get("messages", session="s2")["messages"]
        record = SessionRecord(
            "claude-code",
            "/src/shop",
            "c2",
            session_id="s2",
            compactions=1,
            compacted_at=messages[0]["time"],
            shown=(messages[1]["id"],),
        )
        record_import(store, record)
        found = page.get("session", session="s2")
    assert found["summarized"] == sum(each["time"] <= messages[0]["time"] for each in messages)
    assert (found["recalled"], found["compactions"]) == ([1], 1)


def test_hits_have_highlights_and_the_parts_of_their_score(page: Page) -> None:
    found = page.get("search", query=QUESTION, session=SHOP)
    hit = next(each for each in found["hits"] if each["text"] == ANSWER)
    marks = [hit["text"][start:end] for start, end in hit["marks"]]
    assert {"locker", "Zebulon", "opens", "code"} <= set(marks)
    assert 0 < hit["certainty"] <= 1
    assert hit["score"] <= 1
    assert hit["explanation"]["name"] == "score"
    assert (
        page.get("messages", session=SHOP, start=hit["number"], count=1)["messages"][0]["id"]
        == hit["id"]
    )


def test_filters_narrow_a_search(page: Page) -> None:
    roles = {
        each["role"] for each in page.get("search", query="gate customer", role="tool")["hits"]
    }
    assert roles == {"tool"}
    assert page.get("search", query="gate customer", until=1)["hits"] == []
    assert {each["session"] for each in page.get("search", query="端口", session="s2")["hits"]} == {
        "s2"
    }


def find_id(page: Page, words: str) -> str:
    hits = page.get("search", query=words, session=SHOP)["hits"]
    return str(next(each["id"] for each in hits if each["text"].startswith(words)))


def test_a_message_that_answers_is_recalled(page: Page) -> None:
    found = page.get("why", id=find_id(page, ANSWER), question=QUESTION)
    assert found["is_recalled"], found
    assert [each["state"] for each in found["steps"]] == ["passed"] * len(found["steps"])
    shown = page.get("preview", question=QUESTION, session=SHOP)
    assert ANSWER in shown["text"]


@pytest.mark.parametrize(
    ("given", "step", "words"),
    [
        ({"asked": "same", "window": 100_000}, "visible", "Still visible"),
        ({"asked": "other"}, "session", "cross_session is off"),
        (
            {"question": "Which color has the locker room of the chapel in Rome?"},
            "threshold",
            "below the threshold of 0.7 by",
        ),
        ({"question": "Sixtine"}, "found", "Not among"),
        ({"question": "hi"}, "recall", "min_query_chars"),
    ],
    ids=["visible", "session", "threshold", "found", "short"],
)
def test_a_message_that_is_not_recalled_is_explained(
    page: Page, given: dict[str, object], step: str, words: str
) -> None:
    given = {"id": find_id(page, ANSWER), "question": QUESTION, **given}
    found = page.get("why", **given)
    stop = next(each for each in found["steps"] if each["state"] == "stopped")
    assert not found["is_recalled"]
    assert stop["name"] == step
    assert words in found["verdict"]


def test_a_message_that_left_a_small_window_is_not_visible(page: Page) -> None:
    found = page.get("why", id=find_id(page, ANSWER), question=QUESTION, asked="same", window=2_000)
    assert found["is_recalled"], found
    assert "Left the window" in found["steps"][2]["words"]


def test_an_embedder_outside_the_core_takes_part_in_the_answer(tmp_path: Path) -> None:
    embedder = Colors()
    with memctx.open(tmp_path / "store", session_id="s1", embedding_model=embedder) as memory:
        memory.archive([{"role": "user", "content": f"{color} it was"} for color in Colors.NAMES])
        memory.reembed()
    config = Config(embedding_model=embedder, knowledge_extraction=False)
    with served(Backend.of(tmp_path / "store", config, may_write=False)) as page:
        [first, *_] = page.get("search", query="which shade of rouge do you mean?")["hits"]
        assert first["text"] == "red it was"
        given = {"id": first["id"], "question": "which shade of rouge do you mean?"}
        assert "Found at rank 1" in page.get("why", **given)["steps"][3]["words"]
        preview = page.get("preview", question=given["question"])
        assert preview["certainty"] > 0.5
        assert preview["degraded"] is None
        embedder.is_broken = True
        given["question"] = "which tint of rouge do you mean?"
        assert "vectors took no part: " in page.get("why", **given)["verdict"]
        assert page.get("preview", question=given["question"])["degraded"]


class Colors:
    """Embeds colors beside their names in French."""

    NAMES = ("red", "green", "blue", "white", "black")
    FRENCH = ("rouge", "vert", "bleu", "blanc", "noir")

    name, revision, dim = "colors", "1", 8
    is_broken = False

    def embed(self, text: str) -> list[float]:
        if self.is_broken:
            raise ConnectionError("the server of colors is away")
        pairs = enumerate(zip(self.NAMES, self.FRENCH, strict=True))
        vector = [0.0] * self.dim
        for at, names in pairs:
            vector[at] = float(any(name in text for name in names))
        return vector if any(vector) else [0.0] * 7 + [1.0]

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def test_messages_beyond_the_block_are_out_of_room(tmp_path: Path) -> None:
    with memctx.open(tmp_path / "store", session_id="s1", embedding_model="hash") as memory:
        memory.archive([{"role": "user", "content": quota(number)} for number in range(30)])
    question = "Which quota holds, says the harbor master of the pier?"
    with serve(tmp_path / "store", may_write=False) as page:
        hits = page.get("search", query=question, limit=100)["hits"]
        found = [page.get("why", id=each["id"], question=question, window=4_000) for each in hits]
    assert found[0]["is_recalled"]
    out = [each for each in found if each["verdict"].startswith("Out of room")]
    assert len(out) > 10
    last = out[0]["steps"][-1]
    assert (last["name"], last["state"]) == ("room", "stopped")
    assert 0 < last["value"] <= last["needed"]


def quota(number: int) -> str:
    """Return a message that answers, and takes much room."""
    cargo = " ".join(f"crate{number}x{each} rope{number}y{each}" for each in range(60))
    return f"The harbor master of pier {number} says that quota {number * 37} holds: {cargo}"


def test_highlights_are_whole_words_that_mean_something(tmp_path: Path) -> None:
    said = "🚢 The parcels of this gate are in the isolated hall. 支付回调的端口是 9443"
    with memctx.open(tmp_path / "store", session_id="s1", embedding_model="hash") as memory:
        memory.archive([{"role": "user", "content": said}])
    with serve(tmp_path / "store", may_write=False) as page:

        def highlights(query: str) -> set[str]:
            hit = page.get("search", query=query)["hits"][0]
            return {hit["text"][start:end] for start, end in hit["marks"]}

        assert highlights("is the parcel in a gate") == {"parcels", "gate"}
        assert highlights("端口 9443") == {"端口", "9443"}


def test_a_text_that_was_never_archived_is_said_to_be_so(page: Page) -> None:
    found = page.get("why", text="The moon is made of cheese", question="What is the moon made of?")
    assert found["verdict"].startswith("Not archived")
    stored = page.get("why", text="支付回调的端口是 9443", question="支付回调的端口是多少")
    assert stored["steps"][0]["state"] == "passed"


@pytest.mark.parametrize(
    ("name", "given", "status"),
    [
        ("session", {"session": "unknown"}, 404),
        ("session", {}, 400),
        ("messages", {"session": SHOP, "start": "-1"}, 400),
        ("messages", {"session": SHOP, "count": "10000"}, 400),
        ("messages", {"session": SHOP, "count": "many"}, 400),
        ("message", {"session": SHOP, "number": "99999"}, 404),
        ("search", {"query": " "}, 400),
        ("search", {"query": "x", "since": "nan"}, 400),
        ("facts", {"type": "rumor"}, 400),
        ("fact", {"id": "unknown"}, 404),
        ("find", {"id": "unknown"}, 404),
        ("why", {"id": "unknown", "question": "x"}, 404),
        ("why", {"text": "x", "question": "y", "asked": "never"}, 400),
        ("preview", {"question": "x", "threshold": "2"}, 400),
        ("preview", {"question": "x", "session": "unknown"}, 404),
        ("replay", {"id": "unknown"}, 404),
        ("settings.toml", {"settings": "["}, 400),
    ],
)
def test_bad_parameters_are_refused_by_name(
    page: Page, name: str, given: dict[str, str], status: int
) -> None:
    found = page.client.get(f"/api/{name}", params=given)
    assert found.status_code == status, found.text
    assert found.json()["error"]


def test_lone_surrogates_and_control_characters_do_no_harm(page: Page) -> None:
    assert page.client.get("/api/search?query=%ED%A0%80%00").status_code == 200
    body = b'{"session": "\\ud800", "settings": {}}'
    headers = {"Origin": page.origin, "X-Memctx-Page": "1", "Content-Type": "application/json"}
    assert page.client.post("/api/replays/start", content=body, headers=headers).status_code == 404


def test_new_messages_and_a_rewritten_log_are_seen(tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    with serve(store, may_write=False) as page:
        with memctx.open(store, session_id="s3", embedding_model="hash") as memory:
            memory.archive([{"role": "user", "content": "The tulips are watered at dawn"}])
        assert page.get("session", session="s3")["messages"] == 1
        assert page.get("search", query="tulips dawn")["hits"][0]["session"] == "s3"
        _core.LogEditor(store).remove(sessions=["s2"])
        assert {each["id"] for each in page.get("overview")["sessions"]} == {SHOP, "s3"}
        assert page.get("messages", session="s3")["messages"][0]["text"].startswith("The tulips")


def test_a_store_deleted_underneath_is_reported_and_not_made_again(tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    with serve(store, may_write=True) as page:
        page.get("health")
        remove(store)
        for name in ("overview", "health", "facts"):
            status, error = page.refusal(name)
            assert status == 503
            assert "the store is gone" in error
        assert page.post("facts/add", session=SHOP, type="config", content="x").status_code == 503
    assert not (store / "segments.jsonl").exists()
    assert not (store / "knowledge.jsonl").exists()

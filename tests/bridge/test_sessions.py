"""Sessions of an adapter: isolated, guarded, closed in the end."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.bridge import Sessions, sessions

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = [{"role": "user", "content": "On which port does the payment webhook listen?"}]
STATED = [{"role": "user", "content": "The payment webhook listens on port 8443."}]


def test_threads_and_agents_do_not_share_memory(tmp_path: Path) -> None:
    adapter = Sessions(tmp_path, context_window=16_000)
    adapter.archive(adapter.name("alice"), STATED)
    found = {
        name: "8443" in str(adapter.prepare(adapter.name(*name), QUESTION).messages)
        for name in [("alice",), ("bob",), ("alice", "reviewer")]
    }
    adapter.close()
    assert found == {("alice",): True, ("bob",): False, ("alice", "reviewer"): False}


def test_no_choice_of_ids_makes_the_name_of_another_session() -> None:
    adapter = Sessions()
    names = [
        adapter.name("alice", "reviewer"),
        adapter.name("alice/reviewer"),
        adapter.name("alice%2Freviewer"),
        adapter.name(("a", "b/c"), "d"),
        adapter.name(("a/b", "c"), "d"),
    ]
    assert len(set(names)) == len(names)
    assert names[0] == "alice/reviewer"


def test_conversation_without_an_id_is_sent_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    turns: list[memctx.Turn] = []
    adapter = Sessions(tmp_path / "store", on_turn=turns.append)
    prepared = adapter.prepare(adapter.name, QUESTION)
    assert prepared.messages == QUESTION
    assert prepared.memory is None
    assert "expected session_id" in turns[0].report.errors[0]
    assert "expected session_id" in caplog.text
    prepared.observe({"prompt_tokens": 10})
    assert not (tmp_path / "store").exists()


def test_unknown_message_steps_aside_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Strange:
        """No message of any framework."""

    messages = [Strange()]
    adapter = Sessions(tmp_path, context_window=16_000)
    with caplog.at_level(logging.WARNING, "memctx.integrations"):
        for _ in range(3):
            prepared = adapter.prepare("s", messages)
            assert prepared.messages == messages
            assert "Strange" in prepared.turn.report.errors[0]
    adapter.close()
    assert caplog.text.count("memory steps aside") == 1


def test_search_finds_the_session_only_and_never_fails(tmp_path: Path) -> None:
    adapter = Sessions(tmp_path / "store", context_window=16_000)
    adapter.archive("alice", STATED)
    found = {name: adapter.search(name, "payment webhook") for name in ("alice", "bob")}
    adapter.close()
    assert [hit.segment.content for hit in found["alice"]] == [STATED[0]["content"]]
    assert found["bob"] == []
    (tmp_path / "file").write_text("no folder")
    assert Sessions(tmp_path / "file").search("alice", "payment webhook") == []


def test_failing_callback_fails_no_call(tmp_path: Path) -> None:
    def fail(turn: memctx.Turn) -> None:
        raise RuntimeError(turn.number)

    adapter = Sessions(tmp_path, context_window=16_000, on_turn=fail)
    assert adapter.prepare("s", QUESTION).messages == QUESTION
    adapter.close()


def test_settings_are_checked_at_once(tmp_path: Path) -> None:
    options: Any = {"window_of_context": 5}
    with pytest.raises(memctx.ConfigError, match="window_of_context"):
        Sessions(tmp_path, **options)
    with memctx.open(tmp_path, session_id="s") as memory:
        with pytest.raises(memctx.ConfigError, match="memory is open; expected session_id"):
            Sessions(memory, session_id="t")
        assert Sessions(memory).open("any") is memory


def test_window_of_the_framework_is_used_where_none_is_set(tmp_path: Path) -> None:
    for set_window, expected in ((None, 32_000), (16_000, 16_000)):
        adapter = Sessions(tmp_path / str(expected), context_window=set_window)
        assert adapter.open("s", 32_000).config.context_window == expected
        adapter.close()


def test_memory_used_longest_ago_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_OPEN", 2)
    adapter = Sessions(tmp_path)
    first, second = adapter.open("1"), adapter.open("2")
    assert adapter.open("1") is first
    third = adapter.open("3")
    assert (first.closed, second.closed, third.closed) == (False, True, False)
    adapter.close()
    assert first.closed
    assert third.closed
    assert adapter.open("2") is not second
    adapter.close()


def test_many_asynchronous_calls_prepare_at_once(tmp_path: Path) -> None:
    adapter = Sessions(tmp_path, context_window=16_000)

    async def ask() -> list[Any]:
        names = [f"thread-{number % 5}" for number in range(40)]
        return await asyncio.gather(*(adapter.aprepare(name, QUESTION) for name in names))

    assert all(prepared.messages == QUESTION for prepared in asyncio.run(ask()))
    adapter.close()

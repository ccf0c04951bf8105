"""A fault of memory costs the host nothing: its messages go through, and the report says what happened."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import threading
from typing import TYPE_CHECKING, Any

import pytest

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = (
    "the build of part {0} went on, and the log of part {0} says what it always says, line by line"
)


def talk(count: int) -> list[dict[str, Any]]:
    """Return turns of a person and a model; the last is the person's."""
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": f"{number}: {WORDS.format(number)} " * 4}
        for number in range(count)
    ]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memctx.Memory]:
    with memctx.open(tmp_path / "memory", session_id="s1", context_window=4_000) as memory:
        yield memory


def test_a_store_that_is_gone_is_reported_and_the_messages_go_through(
    memory: memctx.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    messages = talk(3)
    memory.store.close()
    with caplog.at_level(logging.ERROR):
        turn = memory.prepare(messages)
    assert turn.messages == messages
    assert turn.messages is not messages
    assert "closed" in turn.report.errors[0]
    assert len(caplog.records) == 1, "it is logged once"
    assert "error" in str(turn.report)


def test_messages_that_cannot_be_archived_are_all_sent(memory: memctx.Memory) -> None:
    messages = talk(61)
    trimmed = memory.prepare(messages)
    assert trimmed.report.trimmed
    assert len(trimmed.messages) < len(messages)
    memory.search("wait until they are stored")
    longer = [*messages, *talk(90)[61:]]
    memory.store.close()  # what leaves from now on cannot be stored
    failed = memory.prepare(longer)
    assert failed.report.errors
    assert failed.messages == longer


def test_a_failed_background_archive_reverts_the_turn(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with memctx.open(folder, session_id="s1", context_window=4_000, auto_recall=False) as memory:
        memory.store.close()
        messages = talk(61)
        first = memory.prepare(messages)
        assert first.report.trimmed, "the turn does not wait for the archive"
        second = memory.prepare(messages)
        assert "closed" in second.report.errors[0]
        assert second.messages == messages, "nothing is out that is not stored"


def test_a_closed_memory_lets_messages_through(tmp_path: Path) -> None:
    memory = memctx.open(tmp_path, session_id="s1")
    memory.close()
    turn = memory.prepare(talk(3))
    assert turn.messages == talk(3)
    assert turn.report.errors == ("StoreError: the memory is closed",)


def test_a_damaged_state_starts_the_session_over(tmp_path: Path) -> None:
    messages = talk(61)
    with memctx.open(tmp_path, session_id="s1", context_window=4_000) as memory:
        memory.prepare(messages)
    state = tmp_path / "sessions" / "s1.json"
    state.write_bytes(state.read_bytes()[:-20])
    with memctx.open(tmp_path, session_id="s1", context_window=4_000) as memory:
        turn = memory.prepare(messages)
    assert not turn.report.errors
    assert len(turn.messages) < len(messages)


def test_a_directory_that_vanishes_costs_no_request(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with memctx.open(folder, session_id="s1", context_window=4_000) as memory:
        memory.prepare(talk(61))
        memory.search("wait until they are stored")
        shutil.rmtree(folder)
        turn = memory.prepare(talk(81))
        assert turn.messages
        memory.prepare(talk(91))


@pytest.mark.parametrize("messages", ["text", 7, None, [1], [{"role": "user", "content": "x"}, 3]])
def test_an_argument_that_is_no_list_of_messages_raises(
    memory: memctx.Memory, messages: Any
) -> None:
    with pytest.raises(memctx.MessageFormatError):
        memory.prepare(messages)


def test_threads_and_tasks_may_share_a_memory(tmp_path: Path) -> None:
    """Several sessions at once, each from several threads: every turn is whole."""
    sessions = [
        memctx.open(tmp_path, session_id=f"s{number}", context_window=4_000) for number in range(3)
    ]
    faults: list[str] = []

    def turns(memory: memctx.Memory) -> None:
        for count in range(1, 80, 13):
            turn = memory.prepare(talk(count))
            faults.extend(turn.report.errors)
            faults.extend(str(problem) for problem in memctx.validate(turn.messages))

    threads = [threading.Thread(target=turns, args=(memory,)) for memory in sessions * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def at_once() -> list[memctx.Turn]:
        return list(await asyncio.gather(*(memory.aprepare(talk(61)) for memory in sessions)))

    faults.extend(error for turn in asyncio.run(at_once()) for error in turn.report.errors)
    for memory in sessions:
        memory.close()
    assert not faults


def test_a_report_prints_and_serializes(memory: memctx.Memory) -> None:
    report = memory.prepare(talk(61)).report
    told = json.loads(report.to_json())
    assert told["trimmed"][0]["layer"] in {"relevance", "age"}
    assert told["tokens"]["before"] > told["tokens"]["after"]
    assert {item["reason"] for item in told["protected"]} >= {"task", "recent"}
    assert told["cache"]["first_changed"] is None
    assert "trimmed" in str(report)
    assert set(told["milliseconds"]) >= {"read", "cut", "recall", "assemble", "check"}


def test_the_providers_count_moves_the_limit(tmp_path: Path) -> None:
    """A system prompt and tools that `prepare` does not see count once the provider has told of them."""
    messages = talk(13)
    with memctx.open(tmp_path, session_id="s1", context_window=4_000) as memory:
        turn = memory.prepare(messages)
        assert not turn.report.trimmed
        memory.observe({"prompt_tokens": turn.report.tokens.after + 2_000})
        assert memory.prepare(messages).report.trimmed

"""Turns over evicted messages: recalled in time, or reported and recalled by the next step."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memctx

from .stores import KEPT, MANY, PATIENT, SESSION, filled, opened, say, text, texts, word

if TYPE_CHECKING:
    from memctx import Memory
    from memctx.context import Turn

AT_ONCE = 0.001  # milliseconds: the first search of a process opens the index, which takes longer
Message = dict[str, Any]


def remember(folder: Path, **settings: Any) -> Memory:
    """Open a store whose memory holds few of its messages, with the model that `filled` has."""
    disk = {
        "max_segments": KEPT,
        "eviction_days": 0.0,
        "durability": "os",
        **settings.pop("disk", {}),
    }
    return memctx.open(folder, session_id=SESSION, embedding_model="hash", disk=disk, **settings)


def ask(number: int) -> Message:
    return {"role": "user", "content": f"What is filed under {word(number)}?"}


def step(name: str) -> list[Message]:
    """Return a step of a tool loop."""
    function = {"name": "look", "arguments": "{}"}
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": name, "content": f"nothing in drawer {name}"},
    ]


def next_step(memory: Memory, messages: list[Message]) -> Turn:
    """Repeat a step until the disk index has answered."""
    until = time.monotonic() + PATIENT / 1000
    while True:
        turn = memory.prepare(messages)
        assert not turn.report.errors
        if turn.report.unsearched is None:
            return turn
        assert time.monotonic() < until, memory.stats()["disk_index"]
        time.sleep(0.01)


def test_a_turn_recalls_messages_on_disk_with_default_settings(tmp_path: Path) -> None:
    filled(tmp_path)
    with remember(tmp_path) as memory:
        memory.search(word(7), everything=True)  # opens the index
        turns = {number: memory.prepare([ask(number)]) for number in range(0, MANY - KEPT, 45)}
    in_time = {number: turn for number, turn in turns.items() if turn.report.unsearched is None}
    assert in_time
    for number, turn in in_time.items():
        assert text(number) in str(turn.messages)
        assert turn.report.degraded == ()


@pytest.mark.timing
@pytest.mark.parametrize("placement", ["stable", "head", "tail"])
def test_a_late_disk_index_is_reported_and_serves_the_next_step(
    tmp_path: Path, placement: Any
) -> None:
    filled(tmp_path)
    disk = {"turn_deadline_ms": AT_ONCE}
    with remember(tmp_path, placement=placement, disk=disk) as memory:
        first = memory.prepare([ask(3)])
        assert text(3) not in str(first.messages)
        assert (first.report.unsearched, first.report.to_dict()["unsearched"]) == ("late", "late")
        assert "degraded recalled without the messages on disk" in str(first.report)
        second = next_step(memory, [ask(3), *step("a")])
        assert text(3) in str(second.messages)
        assert second.report.degraded == ()
        third = memory.prepare([ask(3), *step("a"), *step("b")])
        assert third.messages[: len(second.messages)] == second.messages
        assert third.report.cache.first_changed is None


@pytest.mark.timing
def test_an_old_message_is_recalled_by_a_later_process_if_the_first_was_late(
    tmp_path: Path,
) -> None:
    filled(tmp_path)
    with remember(tmp_path, disk={"turn_deadline_ms": AT_ONCE}) as memory:
        assert memory.prepare([ask(3)]).report.unsearched == "late"
    with remember(tmp_path, disk={"turn_deadline_ms": PATIENT}) as memory:
        assert text(3) in str(memory.prepare([ask(3), *step("a")]).messages)


@pytest.mark.timing
def test_signed_thinking_is_kept_rather_than_late_messages_added(tmp_path: Path) -> None:
    filled(tmp_path)
    thought = [
        {"type": "thinking", "thinking": "The drawer, perhaps.", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
    ]
    result = [{"type": "tool_result", "tool_use_id": "a", "content": "nothing"}]
    messages = [
        ask(3),
        {"role": "assistant", "content": thought},
        {"role": "user", "content": result},
    ]
    with remember(tmp_path, disk={"turn_deadline_ms": AT_ONCE}) as memory:
        first = memory.prepare(messages[:1], format="anthropic")
        assert first.report.unsearched == "late"
        memory.search(word(7), everything=True)  # the search before is over when this is
        second = memory.prepare(messages, format="anthropic")
        assert second.messages[: len(first.messages)] == first.messages
        assert second.report.cache.stale_thinking == ()


def test_visible_messages_do_not_take_the_places_of_those_on_disk(tmp_path: Path) -> None:
    filled(tmp_path)
    talk = [
        {"role": role, "content": f"{word(3)} again, {word(3)}: {role} {number}"}
        for number in range(60)
        for role in ("user", "assistant")
    ]
    disk = {"max_segments": 2 * len(talk), "turn_deadline_ms": PATIENT}
    with remember(tmp_path, disk=disk) as memory:
        memory.prepare(talk)
        memory.search(word(3), everything=True)  # indexes what is visible as well
        assert text(3) in str(memory.prepare([*talk, ask(3)]).messages)


def test_messages_that_are_not_indexed_yet_are_reported(tmp_path: Path) -> None:
    store = opened(tmp_path, disk_index=False)
    say(store, texts())
    store.close()
    with remember(tmp_path, disk={"turn_deadline_ms": PATIENT}) as memory:
        report = memory.prepare([ask(3)]).report
        assert report.unsearched in {"unavailable", "unindexed"}
        assert "without" in report.degraded[0]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed on Linux")
def test_a_store_that_fits_in_memory_never_searches_the_disk(tmp_path: Path) -> None:
    filled(tmp_path)
    before = searching()
    with remember(tmp_path, disk={"max_segments": 2 * MANY}) as memory:
        turn = memory.prepare([ask(3)])
        assert text(3) in str(turn.messages)
        assert (turn.report.unsearched, turn.report.degraded) == (None, ())
        assert searching() <= before


def searching() -> set[str]:
    """Return the threads of this process that search the disk."""
    names = {path: path.joinpath("comm") for path in Path("/proc/self/task").iterdir()}
    return {path.name for path, name in names.items() if name.read_text() == "memctx-older\n"}

from __future__ import annotations

from typing import TYPE_CHECKING

from commands.stocked import messages, opened
from memctx.commands.status import status

if TYPE_CHECKING:
    from pathlib import Path

    import memctx


def test_status_tells_of_every_session_the_newest_first(memory: memctx.Memory) -> None:
    outcome = status(memory)
    told = outcome.data["sessions"]
    assert [(each["id"], each["segments"]) for each in told] == [("shop", 4), ("blog", 2)]
    assert told[0]["seconds"] == 3_600
    assert "2 sessions, 6 segments, 2 facts" in outcome.text
    assert "1 h 0 min" in outcome.text


def test_status_of_one_session_has_context_usage_and_compactions(store: Path) -> None:
    with opened(store, context_window=1_000) as memory:
        memory.prepare(messages("shop"), shape="pi")
        memory.compact_sync(messages("shop") * 20, shape="pi")
    with opened(store, context_window=1_000) as memory:
        told = status(memory).data["sessions"]
        assert [each["id"] for each in told] == ["shop"]
        assert told[0]["compactions"] == 1
        assert 0 < told[0]["context_tokens"] < 1_000
        assert "of 1,000 (" in status(memory).text


def test_messages_at_hand_count_before_anything_was_archived(tmp_path: Path) -> None:
    with opened(tmp_path / "new") as memory:
        told = status(memory, messages=messages("shop")).data["sessions"]
        assert [(each["id"], each["segments"]) for each in told] == [("shop", 0)]
        assert told[0]["context_tokens"] > 40


def test_damage_is_told(store: Path) -> None:
    log = store / "segments.jsonl"
    log.write_bytes(log.read_bytes().replace(b"8443", b"8444", 1))
    with opened(store) as memory:
        outcome = status(memory)
        assert not outcome.data["is_ok"]
        assert "see `verify`" in outcome.text

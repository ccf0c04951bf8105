"""The flush of memory before a compaction."""

from __future__ import annotations

import asyncio
import logging
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import Redactor
from memctx.compact import FlushPrompts, MemoryFlush, MemoryFlushed, flush_memory, should_flush
from memctx.session import CounterFile
from memctx.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

AT = datetime(2026, 1, 24, 14, 31, tzinfo=UTC)
NAME = "memory/2026-01-24.md"
NOTE = "- The webhook listens on port 8443."


def workspace_in(path: Path) -> Workspace:
    return Workspace(path, time_zone="UTC")


def run(turn: Callable[[str, str], Any], workspace: Workspace, **options: Any) -> MemoryFlushed:
    return asyncio.run(flush_memory(turn, workspace, at=AT, **options))


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(None, False), (0, False), (-5, False), (175_999, False), (176_000, True), (300_000, True)],
)
def test_the_threshold_of_the_original(tokens: int | None, expected: bool) -> None:  # noqa: FBT001
    assert should_flush(tokens, 200_000, 20_000) is expected


@given(
    st.integers(0, 300_000),
    st.integers(0, 250_000),
    st.integers(0, 250_000),
    st.integers(0, 250_000) | st.floats(0.01, 0.99),
    st.integers(0, 3),
    st.none() | st.integers(0, 3),
)
def test_a_plain_twin_of_the_decision(  # noqa: PLR0913, PLR0917 - what the decision hangs on
    tokens: int, window: int, reserve: int, soft: float, count: int, flushed: int | None
) -> None:
    window_ = max(1, window)
    threshold = window_ - reserve - soft
    if isinstance(soft, float):
        threshold = int(window_ * soft)
        if reserve < window_:
            threshold = min(threshold, window_ - reserve)
    expected = tokens > 0 and threshold > 0 and tokens >= threshold and flushed != count
    assert should_flush(tokens, window, reserve, soft, count, flushed) is expected


def test_a_share_of_the_window() -> None:
    assert should_flush(140_000, 200_000, 20_000, 0.7)
    assert not should_flush(139_999, 200_000, 20_000, 0.7)
    assert should_flush(180_000, 200_000, 20_000, 0.99), "never later than the compaction"


def test_the_answer_becomes_a_note(tmp_path: Path) -> None:
    asked: list[str] = []

    async def turn(system: str, prompt: str) -> str:
        asked.extend([system, prompt])
        return f"\n{NOTE}\n"

    flushed = run(turn, workspace_in(tmp_path))
    assert flushed == MemoryFlushed("written", text=NOTE, name=NAME)
    assert (tmp_path / NAME).read_text() == f"# 2026-01-24\n\n## 14:31\n\n{NOTE}\n"
    assert NAME in asked[1]
    assert "2026-01-24 14:31 UTC" in asked[1]
    assert "NO_REPLY" in asked[1]
    assert "YYYY" not in "".join(asked)


async def streamed() -> AsyncIterator[str]:
    for part in (NOTE[:5], NOTE[5:]):
        yield part


async def promised() -> Iterator[str]:
    await asyncio.sleep(0)
    return iter([NOTE[:5], NOTE[5:]])


@pytest.mark.parametrize(
    "answer",
    [lambda: NOTE, lambda: iter([NOTE]), streamed, promised],
    ids=["text", "iterator", "stream", "promise of an iterator"],
)
def test_however_the_answer_comes(answer: Callable[[], Any], tmp_path: Path) -> None:
    assert run(lambda _system, _prompt: answer(), workspace_in(tmp_path)).text == NOTE


@pytest.mark.parametrize("answer", ["NO_REPLY", " NO_REPLY.\n", "", "  ", None])
def test_nothing_to_keep(answer: str | None, tmp_path: Path) -> None:
    flushed = run(lambda _system, _prompt: answer, workspace_in(tmp_path))
    assert flushed.outcome == "nothing"
    assert flushed.is_done
    assert list(tmp_path.iterdir()) == []


def test_what_tools_wrote_is_not_written_again(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)

    def turn(_system: str, _prompt: str) -> str:
        workspace.note("by a tool", AT)
        return "I have saved the notes."

    assert run(turn, workspace) == MemoryFlushed("by_tools", name=NAME, changed=(NAME,))
    assert "I have saved" not in (tmp_path / NAME).read_text()


def test_tools_that_wrote_elsewhere_are_told(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.")

    def turn(_system: str, _prompt: str) -> str:
        (tmp_path / "AGENTS.md").write_text("Be long.")
        return "Saved."

    flushed = run(turn, workspace_in(tmp_path))
    assert (flushed.outcome, flushed.changed) == ("by_tools", ("AGENTS.md",))
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("access", ["ro", "none"])
def test_a_workspace_that_may_not_be_written_is_skipped(access: Any, tmp_path: Path) -> None:
    def turn(_system: str, _prompt: str) -> str:
        pytest.fail("the model was asked")

    flushed = run(turn, Workspace(tmp_path, access=access))
    assert (flushed.outcome, flushed.reason) == ("skipped", f"{tmp_path} is read-only")
    assert not flushed.is_done


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write_is_skipped(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert run(lambda _s, _p: NOTE, workspace_in(tmp_path)).outcome == "skipped"
    finally:
        tmp_path.chmod(0o700)


def refusing(_system: str, _prompt: str) -> str:
    raise RuntimeError("the model is down")


async def hanging(_system: str, _prompt: str) -> str:
    await asyncio.sleep(60)
    return NOTE


async def broken() -> AsyncIterator[str]:
    yield NOTE
    raise ConnectionResetError("half of it")


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (refusing, "RuntimeError: the model is down"),
        (hanging, "TimeoutError: "),
        (lambda _s, _p: broken(), "ConnectionResetError: half of it"),
        (lambda _s, _p: 7, "TypeError: run_turn gave int; expected a text or a stream of it"),
        (lambda _s, _p: [b"x"], "TypeError: the stream of run_turn has bytes; expected texts"),
    ],
)
def test_a_turn_that_fails_is_told_and_writes_nothing(
    turn: Any, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        flushed = run(turn, workspace_in(tmp_path), timeout=0.05)
    assert (flushed.outcome, flushed.reason) == ("failed", reason)
    assert "memory was not flushed" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    flushed = run(lambda _s, _p: NOTE, workspace_in(tmp_path))
    assert flushed.outcome == "failed"
    assert "No space left" in (flushed.reason or "")


def test_a_turn_that_is_cancelled_writes_nothing(tmp_path: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(flush_memory(hanging, workspace_in(tmp_path)))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert list(tmp_path.iterdir()) == []


def test_secrets_are_masked_if_asked(tmp_path: Path) -> None:
    def turn(_system: str, _prompt: str) -> str:
        return "the db password is k3jf9slw-Qp0"

    run(turn, workspace_in(tmp_path), redactor=Redactor())
    assert "[REDACTED:password]" in (tmp_path / NAME).read_text()


def test_a_note_has_its_limits(tmp_path: Path) -> None:
    run(lambda _s, _p: "word " * 100_000, workspace_in(tmp_path))
    text = (tmp_path / NAME).read_text()
    assert len(text) < 100_100
    assert "characters of the note are left out here" in text


def test_custom_prompts_get_what_they_forgot() -> None:
    system, prompt = FlushPrompts(system="Save now.", prompt="Write a state dump.").on("2026-01-24")
    assert system == "Save now."
    assert prompt.startswith("Write a state dump.\n")
    for hint in ("NO_REPLY alone", f"Write to {NAME} and to no other", "Only append", "AGENTS.md"):
        assert hint in prompt


def test_custom_prompts_that_say_it_all_stay_as_they_are() -> None:
    told = "Append to memory/YYYY-MM-DD.md, leave AGENTS.md alone, else NO_REPLY."
    assert FlushPrompts(prompt=told).on("2026-01-24")[1] == told.replace("YYYY-MM-DD", "2026-01-24")


def test_the_default_prompts_need_only_what_they_leave_to_the_hints() -> None:
    _, prompt = FlushPrompts().on("2026-01-24", "Saturday")
    assert prompt.count("NO_REPLY") == 1
    assert prompt.endswith("It is Saturday.")


class Model:
    """Counts its turns."""

    def __init__(self, answer: str = "NO_REPLY") -> None:
        self.answer = answer
        self.turns = 0

    async def __call__(self, _system: str, _prompt: str) -> str:
        self.turns += 1
        await asyncio.sleep(0)
        return self.answer


def test_once_before_each_compaction(tmp_path: Path) -> None:
    """Also after a restart, and when several ask at once."""
    counters = CounterFile(tmp_path / "s.counters.json", session_id="s1")
    model = Model()

    def fresh() -> MemoryFlush:
        return MemoryFlush(model, workspace_in(tmp_path), counters)

    async def several(memory_flush: MemoryFlush) -> list[str]:
        flushes = (memory_flush.run(180_000, 200_000) for _ in range(5))
        return [flushed.outcome for flushed in await asyncio.gather(*flushes)]

    assert asyncio.run(fresh().run(100_000, 200_000)).outcome == "not_due"
    assert asyncio.run(several(fresh())) == ["nothing", *["not_due"] * 4]
    assert asyncio.run(several(fresh())) == ["not_due"] * 5
    assert counters.load().memory_flush_at is not None
    fresh().compacted(tokens_after=30_000)
    assert counters.load().total_tokens == 30_000
    assert asyncio.run(several(fresh()))[0] == "nothing"
    assert model.turns == 2
    assert counters.load().memory_flush_compaction_count == 1


def test_a_flush_that_failed_is_tried_again(tmp_path: Path) -> None:
    counters = CounterFile(tmp_path / "s.counters.json", session_id="s1")
    assert (
        asyncio.run(
            MemoryFlush(refusing, workspace_in(tmp_path), counters).run(180_000, 200_000)
        ).outcome
        == "failed"
    )
    model = Model(NOTE)
    again = MemoryFlush(model, workspace_in(tmp_path), counters)
    assert asyncio.run(again.run(180_000, 200_000)).outcome == "written"


def test_counters_that_cannot_be_saved_still_count_in_this_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "s.counters.json").mkdir()
    counters = CounterFile(tmp_path / "s.counters.json", session_id="s1")
    model = Model()
    memory_flush = MemoryFlush(model, workspace_in(tmp_path), counters)
    with caplog.at_level(logging.WARNING):
        outcomes = [asyncio.run(memory_flush.run(180_000, 200_000)).outcome for _ in range(3)]
    assert outcomes == ["nothing", "not_due", "not_due"]
    assert model.turns == 1
    assert "not saved" in caplog.text


def test_without_counters_and_switched_off(tmp_path: Path) -> None:
    model = Model()
    alone = MemoryFlush(model, workspace_in(tmp_path))
    for _ in range(2):
        asyncio.run(alone.run(180_000, 200_000))
    alone.compacted()
    asyncio.run(alone.run(180_000, 200_000))
    assert model.turns == 2
    off = MemoryFlush(model, workspace_in(tmp_path), enabled=False)
    assert asyncio.run(off.run(180_000, 200_000)).outcome == "not_due"

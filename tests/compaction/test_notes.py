"""The silent turn for notes before a compaction."""

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
from memctx.compaction.notes import (
    NotesOptions,
    NotesPrompts,
    NotesWriter,
    NotesWritten,
    should_write_notes,
    write_notes,
)
from memctx.hosts.openclaw import Workspace
from memctx.hosts.pi import CounterFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

AT = datetime(2026, 1, 24, 14, 31, tzinfo=UTC)
NAME = "memory/2026-01-24.md"
NOTE = "- The webhook listens on port 8443."


def workspace_in(path: Path) -> Workspace:
    return Workspace(path, time_zone="UTC")


def run(turn: Callable[[str, str], Any], workspace: Workspace, **options: Any) -> NotesWritten:
    return asyncio.run(write_notes(turn, workspace, at=AT, **options))


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(None, False), (0, False), (-5, False), (175_999, False), (176_000, True), (300_000, True)],
)
def test_the_threshold_matches_openclaw(tokens: int | None, expected: bool) -> None:  # noqa: FBT001
    assert should_write_notes(tokens, 200_000, 20_000) is expected


@given(
    st.integers(0, 300_000),
    st.integers(0, 250_000),
    st.integers(0, 250_000),
    st.integers(0, 250_000) | st.floats(0.01, 0.99),
    st.integers(0, 3),
    st.none() | st.integers(0, 3),
)
def test_the_decision_matches_the_reference_implementation(  # noqa: PLR0913, PLR0917 - what the decision hangs on
    tokens: int, window: int, reserve: int, soft: float, count: int, written: int | None
) -> None:
    window_ = max(1, window)
    threshold = window_ - reserve - soft
    if isinstance(soft, float):
        threshold = int(window_ * soft)
        if reserve < window_:
            threshold = min(threshold, window_ - reserve)
    expected = tokens > 0 and threshold > 0 and tokens >= threshold and written != count
    assert should_write_notes(tokens, window, reserve, soft, count, written) is expected


def test_the_threshold_may_be_a_share_of_the_window() -> None:
    assert should_write_notes(140_000, 200_000, 20_000, 0.7)
    assert not should_write_notes(139_999, 200_000, 20_000, 0.7)
    assert should_write_notes(180_000, 200_000, 20_000, 0.99), "never later than the compaction"


def test_the_answer_becomes_a_note(tmp_path: Path) -> None:
    asked: list[str] = []

    async def turn(system: str, prompt: str) -> str:
        asked.extend([system, prompt])
        return f"\n{NOTE}\n"

    written = run(turn, workspace_in(tmp_path))
    assert written == NotesWritten("written", text=NOTE, name=NAME)
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
def test_texts_streams_and_awaitables_become_a_note(
    answer: Callable[[], Any], tmp_path: Path
) -> None:
    assert run(lambda _system, _prompt: answer(), workspace_in(tmp_path)).text == NOTE


@pytest.mark.parametrize("answer", ["NO_REPLY", " NO_REPLY.\n", "", "  ", None])
def test_a_silent_answer_writes_nothing(answer: str | None, tmp_path: Path) -> None:
    written = run(lambda _system, _prompt: answer, workspace_in(tmp_path))
    assert written.outcome == "nothing"
    assert written.is_done
    assert list(tmp_path.iterdir()) == []


def test_notes_written_by_tools_are_not_written_again(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)

    def turn(_system: str, _prompt: str) -> str:
        workspace.note("by a tool", AT)
        return "I have saved the notes."

    assert run(turn, workspace) == NotesWritten("by_tools", name=NAME, changed=(NAME,))
    assert "I have saved" not in (tmp_path / NAME).read_text()


def test_changes_of_tools_elsewhere_are_reported(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.")

    def turn(_system: str, _prompt: str) -> str:
        (tmp_path / "AGENTS.md").write_text("Be long.")
        return "Saved."

    written = run(turn, workspace_in(tmp_path))
    assert (written.outcome, written.changed) == ("by_tools", ("AGENTS.md",))
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("access", ["ro", "none"])
def test_a_read_only_workspace_is_skipped(access: Any, tmp_path: Path) -> None:
    def turn(_system: str, _prompt: str) -> str:
        pytest.fail("the model was asked")

    written = run(turn, Workspace(tmp_path, access=access))
    assert (written.outcome, written.reason) == ("skipped", f"{tmp_path} is read-only")
    assert not written.is_done


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_skipped(tmp_path: Path) -> None:
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
        (lambda _s, _p: 7, "TypeError: run_turn returned int; expected a text or a stream of it"),
        (lambda _s, _p: [b"x"], "TypeError: the stream of run_turn has bytes; expected texts"),
    ],
)
def test_a_failed_turn_is_reported_and_writes_nothing(
    turn: Any, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        written = run(turn, workspace_in(tmp_path), timeout=0.05)
    assert (written.outcome, written.reason) == ("failed", reason)
    assert "notes were not written" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    written = run(lambda _s, _p: NOTE, workspace_in(tmp_path))
    assert written.outcome == "failed"
    assert "No space left" in (written.reason or "")


def test_a_cancelled_turn_writes_nothing(tmp_path: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(write_notes(hanging, workspace_in(tmp_path)))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert list(tmp_path.iterdir()) == []


def test_secrets_in_notes_are_masked_by_a_redactor(tmp_path: Path) -> None:
    def turn(_system: str, _prompt: str) -> str:
        return "the db password is k3jf9slw-Qp0"

    run(turn, workspace_in(tmp_path), redactor=Redactor())
    assert "[REDACTED:password]" in (tmp_path / NAME).read_text()


def test_secrets_in_prompts_are_masked_by_a_redactor(tmp_path: Path) -> None:
    sent: list[str] = []
    prompts = NotesPrompts(
        system="The db password is k3jf9slw-Qp0. Write notes.",
        prompt="Save what matters; the db password is k3jf9slw-Qp0.",
    )
    run(
        lambda *texts: sent.extend(texts),
        workspace_in(tmp_path),
        redactor=Redactor(),
        prompts=prompts,
    )
    assert len(sent) == 2
    assert all("[REDACTED:password]" in text and "k3jf9slw" not in text for text in sent)


def test_a_long_note_is_truncated(tmp_path: Path) -> None:
    run(lambda _s, _p: "word " * 100_000, workspace_in(tmp_path))
    text = (tmp_path / NAME).read_text()
    assert len(text) < 100_100
    assert "characters of the note are left out here" in text


def test_custom_prompts_get_the_missing_rules() -> None:
    system, prompt = NotesPrompts(system="Save now.", prompt="Write a state dump.").on("2026-01-24")
    assert system == "Save now."
    assert prompt.startswith("Write a state dump.\n")
    for hint in ("NO_REPLY alone", f"Write to {NAME} and to no other", "Only append", "AGENTS.md"):
        assert hint in prompt


def test_complete_custom_prompts_are_unchanged() -> None:
    prompts = "Append to memory/YYYY-MM-DD.md, leave AGENTS.md alone, else NO_REPLY."
    assert NotesPrompts(prompt=prompts).on("2026-01-24")[1] == prompts.replace(
        "YYYY-MM-DD", "2026-01-24"
    )


def test_the_default_prompts_get_only_the_missing_rules() -> None:
    _, prompt = NotesPrompts().on("2026-01-24", "Saturday")
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


def test_notes_are_written_once_before_each_compaction(tmp_path: Path) -> None:
    """Also after a restart, and when several ask at once."""
    counters = CounterFile(tmp_path / "s.counters.json", session_id="s1")
    model = Model()

    def fresh() -> NotesWriter:
        return NotesWriter(model, workspace_in(tmp_path), counters)

    async def several(writer: NotesWriter) -> list[str]:
        turns = (writer.run(180_000, 200_000) for _ in range(5))
        return [written.outcome for written in await asyncio.gather(*turns)]

    assert asyncio.run(fresh().run(100_000, 200_000)).outcome == "not_due"
    assert asyncio.run(several(fresh())) == ["nothing", *["not_due"] * 4]
    assert asyncio.run(several(fresh())) == ["not_due"] * 5
    assert counters.load().notes_written_at is not None
    fresh().count_compaction(tokens_after=30_000)
    assert counters.load().total_tokens == 30_000
    assert asyncio.run(several(fresh()))[0] == "nothing"
    assert model.turns == 2
    assert counters.load().notes_written_count == 1


def test_a_failed_turn_is_tried_again(tmp_path: Path) -> None:
    counters = CounterFile(tmp_path / "s.counters.json", session_id="s1")
    assert (
        asyncio.run(
            NotesWriter(refusing, workspace_in(tmp_path), counters).run(180_000, 200_000)
        ).outcome
        == "failed"
    )
    model = Model(NOTE)
    again = NotesWriter(model, workspace_in(tmp_path), counters)
    assert asyncio.run(again.run(180_000, 200_000)).outcome == "written"


def test_unsaved_counters_still_count_in_this_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "s.counters.json").mkdir()
    counters = CounterFile(tmp_path / "s.counters.json", session_id="s1")
    model = Model()
    writer = NotesWriter(model, workspace_in(tmp_path), counters)
    with caplog.at_level(logging.WARNING):
        outcomes = [asyncio.run(writer.run(180_000, 200_000)).outcome for _ in range(3)]
    assert outcomes == ["nothing", "not_due", "not_due"]
    assert model.turns == 1
    assert "cannot be saved" in caplog.text


def test_notes_without_counters_and_when_disabled(tmp_path: Path) -> None:
    model = Model()
    alone = NotesWriter(model, workspace_in(tmp_path))
    for _ in range(2):
        asyncio.run(alone.run(180_000, 200_000))
    alone.count_compaction()
    asyncio.run(alone.run(180_000, 200_000))
    assert model.turns == 2
    off = NotesWriter(model, workspace_in(tmp_path), options=NotesOptions(enabled=False))
    assert asyncio.run(off.run(180_000, 200_000)).outcome == "not_due"

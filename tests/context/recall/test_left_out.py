"""`Report.left_out`: what a search found and a turn does not recall, with the reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import memctx
from memctx.context.explain import MOST_LEFT_OUT

if TYPE_CHECKING:
    from pathlib import Path

PORT = "The payment webhook listens on port 8443"
QUESTION = "On which port does the payment webhook listen?"


def opened(path: Path, **settings: Any) -> memctx.Memory:
    given: dict[str, Any] = {"session_id": "s1", "context_window": 8_000}
    return memctx.open(path, **(given | settings))


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def ask(memory: memctx.Memory, *before: dict[str, Any]) -> memctx.Turn:
    return memory.prepare([*before, said("user", QUESTION)], format="openai")


def reasons(turn: memctx.Turn) -> set[tuple[str, str]]:
    return {(item.role, item.reason) for item in turn.report.left_out}


def test_nothing_is_left_out_if_everything_is_recalled_or_nothing_is_searched(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as memory:
        memory.archive([said("user", PORT)])
        turn = ask(memory)
        assert turn.report.recalled
        assert not turn.report.left_out
        assert "left out" not in str(turn.report)
    with opened(tmp_path, auto_recall=False) as memory:
        assert not ask(memory).report.left_out


def test_passages_without_room_are_left_out(tmp_path: Path) -> None:
    """A small window, and more that answers than a block of it takes."""
    texts = [f"{PORT}, as note {number} says. {'and more ' * 40}" for number in range(12)]
    with opened(tmp_path, context_window=2_000) as memory:
        memory.archive([said("user", text) for text in texts])
        report = ask(memory).report
        assert report.recalled
        assert {item.reason for item in report.left_out} == {"no room"}
        shown = {item.id for item in report.recalled}
        assert not shown & {item.id for item in report.left_out}
        scores = [item.score for item in report.left_out]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) <= MOST_LEFT_OUT
        (line,) = [line for line in str(report).splitlines() if line.startswith("left out")]
        assert f"{len(scores)} no room" in line
        assert report.left_out[0].id[:8] in line
        assert json.loads(report.to_json())["left_out"][0]["reason"] == "no room"


def test_visible_messages_are_left_out(tmp_path: Path) -> None:
    """The messages were archived by another process, so that the search cannot leave them out."""
    with opened(tmp_path) as memory:
        memory.archive([said("user", PORT), said("assistant", f"Noted: {PORT}.")])
    with opened(tmp_path, capture="off") as memory:
        turn = ask(memory, said("user", PORT), said("assistant", "Hm."))
        assert ("user", "visible") in reasons(turn)
        assert ("assistant", "visible") not in reasons(turn)


def test_passages_of_an_earlier_block_are_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.archive([said("user", PORT)])
    with opened(tmp_path) as memory:
        first = ask(memory)
        assert first.report.recalled
        again = said("user", "So the payment webhook listens on port 8443, or which port is it?")
        turn = memory.prepare([said("user", QUESTION), said("assistant", "8443."), again])
        assert ("user", "in an earlier block") in reasons(turn)


def test_the_same_words_of_another_session_are_left_out_as_duplicate(tmp_path: Path) -> None:
    for session in ("s1", "s2"):
        with opened(tmp_path, session_id=session) as memory:
            memory.archive([said("user", PORT)])
    with opened(tmp_path, session_id="s3", cross_session=True) as memory:
        turn = ask(memory)
        assert len(turn.report.recalled) == 1
        assert reasons(turn) == {("user", "duplicate")}


def test_a_fact_that_the_conversation_corrects_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.facts.add("config", PORT)
        correction = said("user", "Correction: the payment webhook listens on port 9000 now.")
        turn = ask(memory, correction, said("assistant", "Understood, port 9000."))
        assert ("config", "corrected") in reasons(turn)

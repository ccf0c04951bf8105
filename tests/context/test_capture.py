"""Capture: a turn archives every message it sees, once, behind the turn, and recalls none that is visible."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import memctx

if TYPE_CHECKING:
    from pathlib import Path

PORT = "The payment webhook listens on port 8443, behind the blue gateway."
QUESTION = "On which port does the payment webhook listen?"


def said(number: int) -> dict[str, Any]:
    role = "user" if number % 2 == 0 else "assistant"
    return {
        "role": role,
        "content": f"{number}: the log of part {number} reads as it did before. " * 6,
    }


def talk(count: int) -> list[dict[str, Any]]:
    return [said(number) for number in range(count)]


def opened(path: Path, **settings: Any) -> memctx.Memory:
    return memctx.open(path, session_id="s1", **{"context_window": 4_000, **settings})


def contents(path: Path) -> list[str]:
    with opened(path) as memory:
        return [segment.content for segment in memory.store.segments()]


def recalled(turn: Any) -> str:
    """Return the blocks in the messages that are sent."""
    return "\n".join(
        str(message["content"])
        for message in turn.messages
        if "<recalled-context" in str(message["content"])
    )


@pytest.mark.parametrize(("capture", "stored"), [("all", 5), ("evicted", 0), ("off", 0)])
def test_messages_are_captured_by_the_setting(tmp_path: Path, capture: str, stored: int) -> None:
    with opened(tmp_path, capture=capture) as memory:
        archived = [memory.prepare(talk(count)).report.archived for count in (1, 3, 5, 5)]
        assert archived == ([1, 2, 2, 0] if stored else [0, 0, 0, 0]), "each message once"
    assert len(contents(tmp_path)) == stored


def test_evicted_messages_are_captured_when_they_leave(tmp_path: Path) -> None:
    with opened(tmp_path, capture="evicted") as memory:
        turn = memory.prepare(talk(41))
        assert turn.report.trimmed
        gone = [index for item in turn.report.trimmed for index in item.indices]
        assert turn.report.archived == len(gone)
    assert len(contents(tmp_path)) == len(gone)


def test_captured_messages_are_recalled_in_a_new_chat_and_not_while_they_are_visible(
    tmp_path: Path,
) -> None:
    told = {"role": "user", "content": PORT}
    with opened(tmp_path) as memory:
        memory.prepare([told])
        turn = memory.prepare([told, said(1), {"role": "user", "content": QUESTION}])
        assert not turn.report.recalled, "the model sees it"
    with opened(tmp_path) as memory:
        turn = memory.prepare([{"role": "user", "content": QUESTION}])
        assert "8443" in recalled(turn)


def test_visible_messages_take_no_place_among_the_candidates(tmp_path: Path) -> None:
    """Many visible messages match better than the one that left."""
    asked = [
        {
            "role": "user",
            "content": f"On which port does the payment webhook listen, asked {number} times?",
        }
        for number in range(30)
    ]
    with opened(tmp_path, context_window=40_000) as memory:
        memory.prepare([{"role": "user", "content": PORT}])
        memory.prepare(asked)
        turn = memory.prepare([*asked, {"role": "user", "content": QUESTION}])
        assert "8443" in recalled(turn)
        assert "times" not in recalled(turn)


def test_a_long_history_given_at_once_is_recalled_in_that_turn(tmp_path: Path) -> None:
    history = talk(300)
    history[40] = {"role": "user", "content": PORT}
    with opened(tmp_path) as memory:
        turn = memory.prepare([*history, {"role": "user", "content": QUESTION}])
        sent = [str(message["content"]) for message in turn.messages]
        assert any("8443" in text for text in sent)
        if not any(text == PORT for text in sent):
            assert "8443" in recalled(turn)
    assert len(contents(tmp_path)) == 301


def test_a_failed_capture_warns_and_the_messages_are_captured_later(tmp_path: Path) -> None:
    with opened(tmp_path, auto_recall=False) as memory:
        memory.prepare(talk(1))
        memory.search("anything")  # waits for the archive
        memory.store.close()
        assert not memory.prepare(talk(3)).report.errors
        turn = memory.prepare(talk(5))
        assert turn.messages == talk(5)
        assert not turn.report.errors
        assert "new messages are not stored" in turn.report.warnings[-1]
    assert len(contents(tmp_path)) == 1
    with opened(tmp_path) as memory:
        assert memory.prepare(talk(7)).report.archived == 6
    assert len(contents(tmp_path)) == 7


def test_tools_that_are_not_archived_are_not_captured(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "List the files of the project, please"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "list_files", "input": {"path": "src"}},
                {"type": "tool_use", "id": "b", "name": "read_secret", "input": {"path": "vault"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": "payments.py and webhook.py",
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": "nothing that anyone may read",
                },
            ],
        },
    ]
    with opened(tmp_path, privacy={"archive_tools": ["list_*"]}) as memory:
        memory.prepare(messages)
        assert memory.prepare(messages).report.archived == 0
    stored = "\n".join(contents(tmp_path))
    assert "payments.py" in stored
    assert "anyone may read" not in stored


# Prints the number of messages after each turn.
AGENT = """
import sys
import memctx

with memctx.open(sys.argv[1], session_id="s1", context_window=3_000) as memory:
    messages = []
    while True:
        role = "assistant" if len(messages) % 2 else "user"
        text = f"{len(messages)}: the build of this part went on, and its log reads as it did before"
        messages.append({"role": role, "content": text})
        turn = memory.prepare(messages)
        assert not turn.report.errors, turn.report.errors
        print(len(messages), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
@pytest.mark.parametrize("wait", [0.0, 0.01, 0.05, 0.25])
def test_a_kill_after_a_turn_loses_no_message_shown_before_it(tmp_path: Path, wait: float) -> None:
    command = [sys.executable, "-c", AGENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        turns = [agent.stdout.readline()]
        time.sleep(wait)
        agent.send_signal(signal.SIGKILL)
        turns += agent.stdout.readlines()
    shown = max(int(line) for line in turns if line.endswith("\n"))
    stored = [int(content.partition(":")[0]) for content in contents(tmp_path)]
    assert stored[: shown - 1] == list(range(shown - 1))

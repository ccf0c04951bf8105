"""Slash commands as a chat host calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.verbs.stocked import messages, opened
from memctx.cli import verbs
from memctx.cli.verbs import dispatch
from memctx.cli.verbs.chat import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

    import memctx


def said(memory: memctx.Memory, line: str) -> verbs.Outcome:
    outcome = dispatch(memory, line, messages=messages("shop"), format="pi")
    assert outcome is not None, line
    return outcome


@pytest.mark.parametrize(
    "line", ["hello", "", "/", "/unknown", "memory show", "/memoryshow", "/compacted"]
)
def test_other_lines_are_left_to_the_host(memory: memctx.Memory, line: str) -> None:
    assert dispatch(memory, line) is None


def test_memory_add_search_show_and_forget(memory: memctx.Memory) -> None:
    assert (
        said(memory, "/memory add The theme  is called Solar").data["fact"]["content"]
        == "The theme  is called Solar"
    )
    found = said(memory, "  /Memory SEARCH theme Solar ").data["facts"][0]["fact"]
    assert "Solar" in said(memory, "/memory show").text
    assert said(memory, f"/memory forget {found['id'][:8]}").data["is_done"]
    assert "Solar" not in said(memory, "/memory").text


def test_memory_search_finds_archived_messages(memory: memctx.Memory) -> None:
    memory.archive([{"role": "user", "content": "Stripe signs every webhook"}])
    outcome = verbs.dispatch(memory, "/memory search stripe")
    assert outcome is not None
    assert outcome.data["archive"][0]["segment"]["content"] == "Stripe signs every webhook"


@pytest.mark.parametrize(
    "line",
    [
        "/search webhook port",
        "/facts",
        "/facts list",
        "/stats",
        "/status",
        "/verify",
        "/context",
        "/context list",
        "/context detail",
        "/memctx",
    ],
)
def test_reading_commands_succeed(memory: memctx.Memory, line: str) -> None:
    outcome = said(memory, line)
    assert outcome.is_ok
    assert outcome.action == "none"
    assert outcome.text


@pytest.mark.parametrize(("line", "message"), [
    ("/memory forget", "expected the id of a fact"),
    ("/memory add", "expected a fact"),
    ("/search", "expected words"),
    ("/show 00000000", "no segment has it"),
    ("/facts history ffffffff", "no fact has it"),
])  # fmt: skip
def test_errors_are_described_and_not_raised(
    memory: memctx.Memory, line: str, message: str
) -> None:
    outcome = said(memory, line)
    assert not outcome.is_ok
    assert message in outcome.text
    assert outcome.data["error"]["type"] == "ConfigError"


def test_context_without_messages_is_refused(memory: memctx.Memory) -> None:
    outcome = dispatch(memory, "/context")
    assert outcome is not None
    assert "messages is None" in outcome.text


@pytest.mark.parametrize("line", ["/compact", "/compact Focus on decisions", "/compact: ports"])
def test_compact_returns_the_messages_to_continue_with(store: Path, line: str) -> None:
    long = messages("shop") * 40
    with opened(store, context_window=2_000) as memory:
        outcome = dispatch(memory, line, messages=long, format="pi")
        assert outcome is not None
        assert outcome.action == "compact"
        assert outcome.messages is not None
        assert len(outcome.messages) < len(long)
        assert memory.counters.compaction_count == 1


@pytest.mark.parametrize("action", ["new", "reset"])
def test_new_and_reset_archive_the_conversation(tmp_path: Path, action: str) -> None:
    with opened(tmp_path / "fresh") as memory:
        outcome = said(memory, f"/{action}")
        assert outcome.action == action
        assert outcome.messages == []
        assert (outcome.session_id == "shop") == (action == "reset")
        assert "4 new segments" in outcome.text
        assert memory.search("webhook port")


def test_search_of_everything_and_reindex(store: Path) -> None:
    with opened(store, disk={"max_segments": 1}) as memory:
        found = said(memory, "/search --all payment webhook port")
        assert "8443" in found.data["hits"][0]["segment"]["content"]
        assert said(memory, "/reindex").data["segments"] == 6
        assert said(memory, "/reindex --rebuild").data["rebuild"]
        assert "argument missing; expected words" in said(memory, "/search --all").text
    with opened(store, disk={"index": False}) as memory:
        refused = said(memory, "/reindex")
        assert (refused.is_ok, "disk.index is False" in refused.text) == (False, True)


def test_help_lists_every_command_and_chat_option(memory: memctx.Memory) -> None:
    listed = said(memory, "/memctx").data["commands"]
    names = {" ".join(word for word in line[1:].split() if word[0] not in "<[") for line in listed}
    assert names == {*COMMANDS, "search --all", "reindex --rebuild"}
    assert listed["/memory show [file]"] == COMMANDS["memory show"].summary

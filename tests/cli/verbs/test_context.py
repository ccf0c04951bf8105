from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import MessageFormatError, StoreError
from memctx.cli.verbs import context
from memctx.cli.verbs.model_context import read_model_context
from memctx.cli.verbs.request import ChatRequest, ModelContext
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from pathlib import Path


def talk(steps: int) -> list[dict[str, Any]]:
    """Return a conversation in the OpenAI format with long tool results."""
    said: list[dict[str, Any]] = [{"role": "system", "content": "You are brief."}]
    for step in range(steps):
        call = {
            "id": f"c{step}",
            "type": "function",
            "function": {"name": "read", "arguments": "{}"},
        }
        said += [
            {"role": "user", "content": f"Read file {step}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{step}", "content": f"line {step}\n" * 400},
            {"role": "assistant", "content": f"File {step} says the same on every line"},
        ]
    return said


def chat(messages: list[Any], **settings: Any) -> Any:
    """Return a request with a memory that has only settings."""
    memory: Any = SimpleNamespace(config=memctx.Config(**settings), session_id="s1")
    return ChatRequest(memory, messages)


def test_context_components_add_up(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Answer briefly. " * 50)
    outcome = context.list_components(chat(talk(3), workspace=tmp_path, context_window=10_000))
    components = {each["component"]: each for each in outcome.data["components"]}
    assert list(components) == ["workspace", "system", "user", "assistant", "tool"]
    assert components["assistant"]["items"] == 6
    assert sum(each["tokens"] for each in components.values()) == outcome.data["tokens"]
    assert "of a window of 10,000" in outcome.text


def test_summaries_and_recalled_blocks_are_components_of_their_own(tmp_path: Path) -> None:
    said = {"role": "user", "content": "The payment webhook of the shop listens on port 8443"}
    with memctx.open(tmp_path, session_id="s1", context_window=8_000, placement="head") as memory:
        memory.archive([said])
        done = memory.compact_sync(talk(12))
        asked = [*done.messages, {"role": "user", "content": "Which port has the payment webhook?"}]
        turn = memory.prepare(asked)
    assert turn.report.recalled
    outcome = context.list_components(chat(turn.messages))
    items = {each["component"]: each["items"] for each in outcome.data["components"]}
    assert (items["summary"], items["recalled"]) == (1, 1)


def test_context_detail_names_shortened_messages_and_reasons(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Answer briefly.\n" * 5_000)
    outcome = context.show_detail(chat(talk(30), workspace=tmp_path, context_window=12_000))
    turn = outcome.data["turn"]
    assert turn["after"] < turn["limit"] < turn["before"]
    assert turn["trimmed"] or turn["pruned"]
    assert outcome.data["files"][0]["is_truncated"]
    assert "truncated" in outcome.text
    assert outcome.data["tools"][0]["tool"] == "read"
    assert outcome.data["largest"][0]["role"] == "tool"
    assert "A turn would send" in outcome.text
    json.dumps(outcome.data)


def test_context_detail_of_a_short_conversation_has_no_changes() -> None:
    outcome = context.show_detail(chat(talk(1), context_window=50_000))
    assert (outcome.data["turn"]["pruned"], outcome.data["turn"]["trimmed"]) == ([], [])
    assert "A turn would send all of it" in outcome.text


def test_every_transcript_format_is_read(tmp_path: Path) -> None:
    said = talk(2)
    lines, document, wrapped = (tmp_path / name for name in ("a.jsonl", "b.json", "c.json"))
    lines.write_text("".join(f"{json.dumps(message)}\n" for message in said))
    document.write_text(json.dumps(said))
    wrapped.write_text(json.dumps({"model": "x", "messages": said}))
    written = Transcript.open(tmp_path / "d.jsonl", session_id="s7")
    written.append_messages(said)
    assert [
        len(read_model_context(path).messages) for path in (lines, document, wrapped, written.path)
    ] == [9] * 4
    assert read_model_context(written.path).session_id == "s7"
    assert read_model_context(document).transcript is None


def test_files_without_messages_are_refused(tmp_path: Path) -> None:
    for name, text in (("a.json", "{}"), ("b.json", "[]"), ("c.jsonl", "hello\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(MessageFormatError, match=name):
            read_model_context(tmp_path / name)
    (tmp_path / "d.json").write_text("{")
    for name in ("d.json", "none.json", "none.jsonl"):
        with pytest.raises(StoreError, match=name):
            read_model_context(tmp_path / name)


def test_compaction_plan_matches_the_compaction(tmp_path: Path) -> None:
    config = memctx.Config(
        context_window=10_000, knowledge_extraction=False, disk={"durability": "os"}
    )
    plan = context.plan_compaction(ModelContext(talk(20), "s1"), config).data
    with memctx.open(tmp_path, session_id="s1", config=config) as memory:
        done = context.compact(ChatRequest(memory, talk(20)), instructions="Keep the numbers")
    assert (plan["is_done"], done.data["is_done"]) == (False, True)
    for name in ("first_kept", "leaving", "tokens_before"):
        assert plan[name] == done.data[name]
    assert done.action == "compact"
    assert done.messages is not None
    assert len(done.messages) < len(talk(20))
    assert done.data["tokens_after"] < done.data["tokens_before"]
    json.dumps(done.data)


def test_compaction_of_a_short_conversation_is_skipped(tmp_path: Path) -> None:
    plan = context.plan_compaction(ModelContext(talk(1), "s1"), memctx.Config())
    with memctx.open(tmp_path, session_id="s1") as memory:
        done = context.compact(ChatRequest(memory, talk(1)))
    assert plan.text == done.text
    assert plan.text.startswith("Nothing to compact: ")
    assert done.action == "none"

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import MessageShapeError, StoreError
from memctx.commands import compacting, context, transcripts
from memctx.session import Transcript

if TYPE_CHECKING:
    from pathlib import Path


def talk(steps: int) -> list[dict[str, Any]]:
    """A conversation in the shape of OpenAI, with a tool that says much."""
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


def test_components_add_up(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Answer briefly. " * 50)
    outcome = context.listed(talk(3), memctx.Config(workspace=tmp_path, context_window=10_000))
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
    outcome = context.listed(turn.messages, memctx.Config())
    items = {each["component"]: each["items"] for each in outcome.data["components"]}
    assert (items["summary"], items["recalled"]) == (1, 1)


def test_detail_says_what_is_shortened_and_why(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Answer briefly.\n" * 5_000)
    config = memctx.Config(workspace=tmp_path, context_window=12_000)
    outcome = context.detail(talk(30), config)
    turn = outcome.data["turn"]
    assert turn["after"] < turn["limit"] < turn["before"]
    assert turn["trimmed"] or turn["pruned"]
    assert outcome.data["files"][0]["is_truncated"]
    assert "truncated" in outcome.text
    assert outcome.data["tools"][0]["tool"] == "read"
    assert outcome.data["largest"][0]["role"] == "tool"
    assert "A turn would send" in outcome.text
    json.dumps(outcome.data)


def test_detail_of_a_short_talk_changes_nothing() -> None:
    outcome = context.detail(talk(1), memctx.Config(context_window=50_000))
    assert (outcome.data["turn"]["pruned"], outcome.data["turn"]["trimmed"]) == ([], [])
    assert "A turn would send all of it" in outcome.text


def test_every_kind_of_transcript_is_read(tmp_path: Path) -> None:
    said = talk(2)
    lines, document, wrapped = (tmp_path / name for name in ("a.jsonl", "b.json", "c.json"))
    lines.write_text("".join(f"{json.dumps(message)}\n" for message in said))
    document.write_text(json.dumps(said))
    wrapped.write_text(json.dumps({"model": "x", "messages": said}))
    written = Transcript.open(tmp_path / "d.jsonl", session_id="s7")
    written.append_messages(said)
    assert [
        len(transcripts.read(path).messages) for path in (lines, document, wrapped, written.path)
    ] == [9] * 4
    assert transcripts.read(written.path).session_id == "s7"
    assert transcripts.read(document).transcript is None


def test_what_is_no_transcript_is_refused(tmp_path: Path) -> None:
    for name, text in (("a.json", "{}"), ("b.json", "[]"), ("c.jsonl", "hello\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(MessageShapeError, match=name):
            transcripts.read(tmp_path / name)
    (tmp_path / "d.json").write_text("{")
    for name in ("d.json", "none.json", "none.jsonl"):
        with pytest.raises(StoreError, match=name):
            transcripts.read(tmp_path / name)


def test_a_plan_is_what_the_compaction_does(tmp_path: Path) -> None:
    config = memctx.Config(context_window=10_000, knowledge_extraction=False, durability="os")
    plan = compacting.planned(talk(20), config).data
    with memctx.open(tmp_path, session_id="s1", config=config) as memory:
        done = compacting.compacted(memory, talk(20), instructions="Keep the numbers")
    assert (plan["is_done"], done.data["is_done"]) == (False, True)
    for name in ("first_kept", "leaving", "tokens_before"):
        assert plan[name] == done.data[name]
    assert done.action == "compact"
    assert done.messages is not None
    assert len(done.messages) < len(talk(20))
    assert done.data["tokens_after"] < done.data["tokens_before"]
    json.dumps(done.data)


def test_nothing_to_compact_is_no_failure(tmp_path: Path) -> None:
    plan = compacting.planned(talk(1), memctx.Config())
    with memctx.open(tmp_path, session_id="s1") as memory:
        done = compacting.compacted(memory, talk(1))
    assert plan.text == done.text
    assert plan.text.startswith("Nothing to compact: ")
    assert done.action == "none"

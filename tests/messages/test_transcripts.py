"""Whole sessions of agents, read message by message."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from context import transcripts
from memctx.messages import detect, read, read_each

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", transcripts.PI)
def test_a_pi_session_is_read_whole(data: Path, name: str) -> None:
    """Every call, every result with text and every word of both sides is there, at its own time."""
    entries = transcripts.lines(transcripts.pi_file(data, name))
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    assert detect(messages) == detect(entries) == "pi"
    records = read(messages)
    kinds = Counter(record.metadata.get("tool", {}).get("kind") for record in records)
    blocks = [
        block
        for message in messages
        if message["role"] in {"user", "assistant", "toolResult"}
        for block in message["content"]
    ]
    assert kinds["call"] == sum(block["type"] == "toolCall" for block in blocks) > 300
    assert all(record.timestamp for record in records)
    spoken = [block["text"] for block in blocks if block["type"] == "text"]
    assert len(spoken) > 700
    kept = "\0".join(record.text for record in records)
    assert [text for text in spoken if text not in kept] == []
    names = {record.tool for record in records} - {None}
    assert "" not in names
    assert {"read", "bash", "edit"} <= names


def test_the_lines_of_a_pi_session_give_the_same_and_its_summaries(data: Path) -> None:
    entries = transcripts.lines(transcripts.pi_file(data, "before-compaction"))
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    records = read(entries)
    summaries = [record for record in records if record.metadata.get("kind")]
    assert [record for record in records if record not in summaries] == read(messages)
    assert len(summaries) == sum(entry["type"] == "compaction" for entry in entries) == 2


@pytest.mark.parametrize("number", range(3))
def test_a_run_of_function_calls_is_read_whole(data: Path, number: int) -> None:
    path = sorted((data / "swe_agent").glob("*.traj.json.gz"))[number]
    messages = json.loads(transcripts.read(path))["history"]
    assert detect(messages) == "openai"
    roles = Counter(message["role"] for message in messages)
    for message, records in zip(messages, read_each(messages), strict=True):
        assert bool(records) == (message["role"] != "system")
        if message["role"] != "system":
            assert message["content"] in {record.text for record in records}
    kinds = Counter(record.metadata.get("tool", {}).get("kind") for record in read(messages))
    assert kinds["result"] == roles["tool"] > 5
    assert kinds["call"] == sum(len(m.get("tool_calls") or []) for m in messages) > 5

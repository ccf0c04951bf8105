"""Real sessions of real agents. They are not part of the repository; without them these tests are skipped."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memctx.messages import detect, read, read_each

DATA = Path(__file__).parents[3] / "shared" / "data"


def opened(name: str) -> str:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no transcripts here: {path} is missing")
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in opened(name).splitlines()]


@pytest.mark.parametrize(("name", "calls"), [("before-compaction", 454), ("large-session", 391)])
def test_a_pi_session_is_read_whole(name: str, calls: int) -> None:
    """Every call, every result with text and every word of both sides is there, at its own time."""
    entries = lines(f"pi_sessions/{name}.jsonl.gz")
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    assert detect(messages) == detect(entries) == "pi"
    records = read(messages)
    kinds = Counter(record.metadata.get("tool", {}).get("kind") for record in records)
    assert kinds["call"] == calls
    assert all(record.timestamp for record in records)
    spoken = [
        block["text"]
        for message in messages
        if message["role"] in {"user", "assistant", "toolResult"}
        for block in message["content"]
        if block["type"] == "text"
    ]
    assert len(spoken) > 700
    kept = "\0".join(record.text for record in records)
    assert [text for text in spoken if text not in kept] == []
    names = {record.tool for record in records} - {None}
    assert "" not in names
    assert {"read", "bash", "edit"} <= names


def test_the_lines_of_a_pi_session_give_the_same_and_its_summaries() -> None:
    entries = lines("pi_sessions/before-compaction.jsonl.gz")
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    records = read(entries)
    summaries = [record for record in records if record.metadata.get("kind")]
    assert [record for record in records if record not in summaries] == read(messages)
    assert len(summaries) == sum(entry["type"] == "compaction" for entry in entries) == 2


@pytest.mark.parametrize(
    "name",
    [
        "function_calling__install-1",
        "function_calling_replace__install-1",
        "function_calling_replace_from_source",
    ],
)
def test_a_run_of_function_calls_is_read_whole(name: str) -> None:
    messages = json.loads(opened(f"swe_agent/{name}.traj.json.gz"))["history"]
    assert detect(messages) == "openai"
    roles = Counter(message["role"] for message in messages)
    for message, records in zip(messages, read_each(messages), strict=True):
        assert bool(records) == (message["role"] != "system")
        if message["role"] != "system":
            assert message["content"] in {record.text for record in records}
    kinds = Counter(record.metadata.get("tool", {}).get("kind") for record in read(messages))
    assert kinds["result"] == roles["tool"] > 5
    assert kinds["call"] == sum(len(m.get("tool_calls") or []) for m in messages) > 5

"""Real sessions of agents, where the data is at hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import memctx
from memctx import ColdStore
from memctx.transfer import detect_format, import_transcripts

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.usefixtures("alone"),
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here"),
]


def lines_of(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_sessions_of_pi(tmp_path: Path) -> None:
    imported = import_transcripts(tmp_path / "memory", DATA / "pi_sessions")
    assert (imported.files, imported.failed, imported.damaged) == (2, (), 0)
    entries = [line for path in (DATA / "pi_sessions").glob("*.gz") for line in lines_of(path)]
    assert imported.messages == sum(entry["type"] == "message" for entry in entries)
    headers = {entry["id"] for entry in entries if entry["type"] == "session"}
    segments = list(ColdStore(tmp_path / "memory").scan())
    assert {segment.session_id for segment in segments} == headers
    said = {
        block["text"]
        for entry in entries
        if entry["type"] == "message" and entry["message"]["role"] == "user"
        for block in entry["message"]["content"]
        if block["type"] == "text" and len(block["text"]) > 200
    }
    stored = "\n".join(segment.content for segment in segments if segment.role == "user")
    assert said
    assert all(text.strip() in stored for text in said)
    calls = [each for each in segments if each.metadata.get("tool", {}).get("kind") == "result"]
    assert all(each.metadata["tool"]["name"] for each in calls)
    assert import_transcripts(tmp_path / "memory", DATA / "pi_sessions").unchanged == 2


def test_runs_of_an_agent_in_documents(tmp_path: Path) -> None:
    path = next((DATA / "swe_agent").glob("*.gz"))
    assert detect_format(path) == "plain"
    imported = import_transcripts(tmp_path / "memory", DATA / "swe_agent")
    assert (imported.files, imported.sessions, imported.failed) == (3, 3, ())
    with gzip.open(path, "rt", encoding="utf-8") as file:
        history = json.load(file)["history"]
    assert any(message["role"] == "tool" for message in history)
    assert imported.messages >= len(history)


def test_long_chats_in_lines(tmp_path: Path) -> None:
    path = DATA / "locomo" / "messages.jsonl.gz"
    imported = import_transcripts(tmp_path / "memory", path)
    lines = lines_of(path)
    assert (
        imported.messages == len(lines) == imported.added + imported.duplicates + imported.skipped
    )
    assert imported.sessions == len({line["session"] for line in lines})
    with memctx.open(tmp_path / "memory", session_id="s1") as memory:
        assert memory.search("Caroline", limit=3)

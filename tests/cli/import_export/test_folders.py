"""Whole folders of sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import memctx
from context import transcripts
from memctx.cli.import_export import detect_format, import_transcripts
from memctx.lowlevel import LogReader

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")


def test_pi_sessions_are_read(data: Path, tmp_path: Path) -> None:
    imported = import_transcripts(tmp_path / "memory", data / "pi_sessions")
    assert (imported.files, imported.failed, imported.damaged) == (2, (), 0)
    entries = [
        line for path in (data / "pi_sessions").glob("*.gz") for line in transcripts.lines(path)
    ]
    assert imported.messages == sum(entry["type"] == "message" for entry in entries)
    headers = {entry["id"] for entry in entries if entry["type"] == "session"}
    segments = list(LogReader(tmp_path / "memory").scan())
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
    assert import_transcripts(tmp_path / "memory", data / "pi_sessions").unchanged == 2


def test_agent_runs_in_json_documents_are_read(data: Path, tmp_path: Path) -> None:
    path = next((data / "swe_agent").glob("*.gz"))
    assert detect_format(path) == "plain"
    imported = import_transcripts(tmp_path / "memory", data / "swe_agent")
    assert (imported.files, imported.sessions, imported.failed) == (3, 3, ())
    history = json.loads(transcripts.read(path))["history"]
    assert any(message["role"] == "tool" for message in history)
    assert imported.messages >= len(history)


def test_long_chats_in_json_lines_are_read(data: Path, tmp_path: Path) -> None:
    path = data / "locomo" / "messages.jsonl.gz"
    imported = import_transcripts(tmp_path / "memory", path)
    lines = transcripts.lines(path)
    assert (
        imported.messages == len(lines) == imported.added + imported.duplicates + imported.skipped
    )
    assert imported.sessions == len({line["session"] for line in lines})
    with memctx.open(tmp_path / "memory", session_id="s1") as memory:
        assert memory.search(lines[0]["content"], limit=3)

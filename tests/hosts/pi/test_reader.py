"""Session files of old versions: read as version 3, rewritten only beside a backup."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from context import transcripts
from memctx.hosts.pi import Transcript, read_entries
from memctx.messages import detect

if TYPE_CHECKING:
    from pathlib import Path

TIME = "2026-02-02T02:40:01.000Z"
NEW = {"role": "user", "content": "new"}

PLAIN = """\
{"role":"user","content":"Hello","timestamp":"2026-01-26T10:00:00Z"}
{"role":"assistant","content":"Hi there!","timestamp":"2026-01-26T10:00:01Z"}
{"role":"tool_call","name":"read","params":{"path":"file.txt"},"timestamp":"2026-01-26T10:00:02Z"}
{"role":"tool_call","name":"bash","params":{"command":"ls"},"timestamp":"2026-01-26T10:00:02Z"}
{"role":"tool_result","name":"bash","content":"file.txt","timestamp":"2026-01-26T10:00:03Z"}
{"role":"tool_result","name":"read","content":"...","timestamp":"..."}
"""


def message(content: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "timestamp": TIME, "message": {"role": role, "content": content}}


def write(path: Path, rows: list[dict[str, Any]]) -> bytes:
    data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(data)
    return data


def contents(transcript: Transcript) -> list[Any]:
    return [said.get("summary", said.get("content")) for said in transcript.context().messages]


V1 = [
    {"type": "session", "id": "s1", "timestamp": TIME, "provider": "anthropic", "modelId": "m"},
    *(message(str(number)) for number in range(4)),
    {
        "type": "compaction",
        "timestamp": TIME,
        "summary": "early",
        "firstKeptEntryIndex": 3,
        "tokensBefore": 9,
    },
    message("later"),
]


def test_version_1_is_a_chain_and_its_compactions_count_lines(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    before = write(path, V1)
    opened = Transcript.open(path)
    assert opened.found_version == 1
    assert opened.header == {
        "type": "session",
        "version": 3,
        "id": "s1",
        "timestamp": TIME,
        "provider": "anthropic",
        "modelId": "m",
    }
    entries = list(opened)
    assert [each.parent_id for each in entries] == [None, *(each.id for each in entries[:-1])]
    assert all(len(each.id) == 8 for each in entries)
    assert contents(opened) == ["early", "2", "3", "later"]
    assert opened.context().model == ("anthropic", "m")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "reading writes nothing"
    assert [each.id for each in Transcript.open(path)] == [each.id for each in entries]


def test_the_first_entry_rewrites_an_old_file_and_keeps_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    before = write(path, V1)
    opened = Transcript.open(path)
    ids = [each.id for each in opened]
    added = opened.append_message(NEW)
    assert (tmp_path / "s.jsonl.v1.bak").read_bytes() == before
    read = Transcript.open(path)
    assert read.found_version == 3
    assert [each.id for each in read] == [*ids, added]
    assert contents(read) == ["early", "2", "3", "later", "new"]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["version"] == 3
    assert all({"id", "parentId", "timestamp"} <= row.keys() for row in rows[1:])
    assert rows[5]["firstKeptEntryId"] == ids[2]
    assert "firstKeptEntryIndex" not in rows[5]
    assert read.upgrade() is None


def test_a_branch_is_kept_when_the_file_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, V1)
    opened = Transcript.open(path)
    first = next(iter(opened)).id
    opened.branch(first)
    opened.append_message(NEW)
    assert contents(opened) == ["0", "new"]
    assert Transcript.open(path).lineage()[-1].parent_id == first


def test_equal_lines_have_different_ids(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, [V1[0], *[message("same")] * 5])
    opened = Transcript.open(path)
    assert len({each.id for each in opened}) == 5
    assert contents(opened) == ["same"] * 5


def test_a_backup_is_never_written_over(tmp_path: Path) -> None:
    path, backup = tmp_path / "s.jsonl", tmp_path / "s.jsonl.v1.bak"
    backup.write_bytes(b"other")
    before = write(path, V1)
    Transcript.open(path).upgrade()
    assert backup.read_bytes() == b"other"
    assert (tmp_path / "s.jsonl.v1.1.bak").read_bytes() == before


def test_unreadable_lines_are_kept_in_order(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rows = [json.dumps(row).encode() for row in V1]
    damaged = b'{"type":"mess\xff'
    path.write_bytes(b"\n".join([*rows[:2], damaged, *rows[3:], b'{"torn']))
    opened = Transcript.open(path)
    assert opened.skipped == 2
    assert contents(opened) == ["early", "2", "3", "later"], "the count of lines still holds"
    opened.upgrade()
    lines = path.read_bytes().split(b"\n")
    assert (lines[2], lines[-2]) == (damaged, b'{"torn')
    assert Transcript.open(path).skipped == 2


def test_version_2_custom_messages_are_renamed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    row = message("from a hook", "hookMessage") | {"id": "a1b2c3d4", "parentId": None}
    before = write(path, [{"type": "session", "version": 2, "id": "s2"}, row])
    opened = Transcript.open(path)
    assert opened.found_version == 2
    assert opened.context().messages == [{"role": "custom", "content": "from a hook"}]
    opened.append_message(NEW)
    assert (tmp_path / "s.jsonl.v2.bak").read_bytes() == before
    assert next(iter(Transcript.open(path))).id == "a1b2c3d4"


def test_plain_lines_become_messages_with_calls_and_results(tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text(PLAIN)
    opened = Transcript.open(path)
    assert opened.found_version is None
    assert opened.session_id == "plain"
    assert opened.header["timestamp"] == "2026-01-26T10:00:00.000Z"
    said = opened.context().messages
    assert said[0] == {"role": "user", "content": "Hello", "timestamp": 1769421600000}
    assert said[1]["content"] == [{"type": "text", "text": "Hi there!"}]
    calls = [block for each in said[2:4] for block in each["content"]]
    assert [(call["name"], call["arguments"]) for call in calls] == [
        ("read", {"path": "file.txt"}),
        ("bash", {"command": "ls"}),
    ]
    assert [each["toolCallId"] for each in said[4:]] == [calls[1]["id"], calls[0]["id"]]
    assert said[4]["content"] == [{"type": "text", "text": "file.txt"}]
    assert detect(said) == "pi"
    opened.append_message(NEW)
    assert (tmp_path / "plain.jsonl.plain.bak").read_text() == PLAIN
    again = Transcript.open(path)
    assert again.context().messages == [*said, NEW]
    assert again.session_id == "plain"


def test_odd_plain_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    rows: list[dict[str, Any]] = [
        {"role": "tool_result", "content": {"a": 1}},
        {"role": "tool_call", "params": "x"},
        {"role": "assistant"},
        {"role": "user", "content": "x", "timestamp": 1e300},
        {"role": "user", "content": "x", "timestamp": [1]},
        {"role": 7, "content": "x"},
        {"content": "x", "id": {}, "parentId": []},
        {"type": "message", "id": "", "parentId": {"a": 1}, "message": "no object"},
        {"type": "compaction", "firstKeptEntryIndex": -5, "timestamp": 1770000000000},
        {"type": "compaction", "firstKeptEntryIndex": 10**9, "summary": 5},
        {},
    ]
    data = write(path, rows) + b'{"role":"user","content":"y","n":1e999}\n\xef\xbb\xbf\n\n  \n'
    path.write_bytes(b"\xef\xbb\xbf" + data)
    opened = Transcript.open(path)
    assert len(opened) == len(rows) + 1
    before = [(each.id, each.parent_id) for each in opened]
    opened.append_message(NEW)
    again = Transcript.open(path)
    assert [(each.id, each.parent_id) for each in again][: len(before)] == before
    assert again.context().messages[-1] == NEW
    assert again.upgrade() is None, "once is enough"


@pytest.mark.parametrize("name", transcripts.PI)
def test_long_sessions_of_version_1_are_read(name: str, data: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.jsonl"
    path.write_text(transcripts.read(transcripts.pi_file(data, name)), "utf-8", newline="")
    rows = [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]
    opened = Transcript.open(path)
    assert opened.skipped == 0
    assert len(opened) == len(rows) - 1
    compactions = sum(row["type"] == "compaction" for row in rows)
    assert opened.compaction_count == compactions == (2 if name == "before-compaction" else 0)
    context = opened.context()
    if not compactions:
        assert context.messages == [row["message"] for row in rows if row["type"] == "message"]
    else:
        index = max(at for at, row in enumerate(rows) if row["type"] == "compaction")
        first = rows[index]["firstKeptEntryIndex"]
        kept = [
            row["message"] for row in (*rows[first:index], *rows[index + 1 :]) if "message" in row
        ]
        assert context.messages[0]["summary"] == rows[index]["summary"]
        assert context.messages[1:] == kept
    opened.append_message(NEW)
    again = Transcript.open(path)
    assert again.found_version == 3
    assert again.context().messages == [*context.messages, NEW]
    assert list(read_entries(path)) == list(again)

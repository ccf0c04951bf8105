"""Pi and OpenClaw: messages, and the lines of a session file."""

from __future__ import annotations

from typing import Any

from memctx.messages import Record, detect, read

SESSION: list[dict[str, Any]] = [
    {
        "role": "compactionSummary",
        "summary": "Port 8443 was chosen",
        "tokensBefore": 51234,
        "timestamp": 1770000000000,
    },
    {"role": "user", "content": "Read the notes", "timestamp": 1770000001000},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
            {"type": "text", "text": "Reading."},
            {"type": "toolCall", "id": "call_9", "name": "read", "arguments": {"path": "notes.md"}},
        ],
        "stopReason": "toolUse",
        "timestamp": 1770000002000,
    },
    {
        "role": "toolResult",
        "toolCallId": "call_9",
        "toolName": "read",
        "content": [
            {"type": "text", "text": "no such file"},
            {"type": "image", "data": "iVBO", "mimeType": "image/png"},
        ],
        "isError": True,
        "timestamp": 1770000002500,
    },
    {
        "role": "bashExecution",
        "command": "ls",
        "output": "a.md\n",
        "exitCode": 0,
        "cancelled": False,
        "truncated": False,
        "timestamp": 1770000003000,
    },
    {
        "role": "bashExecution",
        "command": "env",
        "output": "TOKEN=1",
        "exitCode": 0,
        "excludeFromContext": True,
    },
    {"role": "bashExecution", "command": "false", "output": "", "exitCode": 1},
    {
        "role": "custom",
        "customType": "reminder",
        "content": [{"type": "text", "text": "Mind the tests"}],
        "display": True,
    },
    {"role": "branchSummary", "summary": "The other way failed", "fromId": "0a1b"},
    {"role": "system", "content": "Be brief"},
]


def test_a_session_becomes_records_with_their_own_times() -> None:
    """Summaries are the assistant's, a host's message the user's; a command kept from the model is left out."""
    assert detect(SESSION) == "pi"
    call = {"name": "read", "callId": "call_9"}
    assert read(SESSION) == [
        Record("assistant", "Port 8443 was chosen", 1770000000000.0, {"kind": "compactionSummary"}),
        Record("user", "Read the notes", 1770000001000.0),
        Record("assistant", "Reading.", 1770000002000.0),
        Record(
            "tool", 'read {"path":"notes.md"}', 1770000002000.0, {"tool": {**call, "kind": "call"}}
        ),
        Record(
            "tool",
            "no such file\n[image image/png]",
            1770000002500.0,
            {"tool": {**call, "kind": "result", "isError": True}},
        ),
        Record("tool", "$ ls\na.md", 1770000003000.0, {"tool": {"name": "bash", "kind": "result"}}),
        Record(
            "tool", "$ false", None, {"tool": {"name": "bash", "kind": "result", "isError": True}}
        ),
        Record("user", "Mind the tests", None, {"kind": "custom", "customType": "reminder"}),
        Record("assistant", "The other way failed", None, {"kind": "branchSummary"}),
    ]


def test_the_lines_of_a_session_file_are_read_as_they_are() -> None:
    """A message inside a line has its own time, or that of the line."""
    lines: list[dict[str, Any]] = [
        {
            "type": "session",
            "version": 3,
            "id": "6f1c",
            "timestamp": "2026-02-02T02:40:00.000Z",
            "cwd": "/proj",
        },
        {
            "type": "message",
            "id": "a",
            "timestamp": "2026-02-02T02:40:01.000Z",
            "message": {"role": "user", "content": "Good morning"},
        },
        {
            "type": "message",
            "id": "b",
            "timestamp": "2026-02-02T02:40:02.000Z",
            "message": {"role": "user", "content": "Hello", "timestamp": 1770000001000},
        },
        {
            "type": "compaction",
            "id": "c",
            "timestamp": "2026-02-02T02:50:00.000Z",
            "summary": "All said",
            "firstKeptEntryId": "a",
        },
        {"type": "model_change", "id": "d", "timestamp": "2026-02-02T02:50:00.000Z"},
    ]
    assert detect(lines) == "pi"
    assert read(lines) == [
        Record("user", "Good morning", 1770000001000.0),
        Record("user", "Hello", 1770000001000.0),
        Record("assistant", "All said", 1770000600000.0, {"kind": "compactionSummary"}),
    ]

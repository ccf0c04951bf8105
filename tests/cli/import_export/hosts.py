"""One small transcript of every host, made up: each says the same things in its own format."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ASKED = "Which port does the payment webhook listen on?"
ANSWERED = "It listens on port 7443, as the settings file says."
FOUND = "webhook_port = 7443"
LATER = "Move it to port 8443 before the release on Friday."
LEFT = "This branch was abandoned: use port 9999 instead."
HIDDEN = "The host itself tells the model about port 1111."
AT = 1_793_000_000_000
"""Time of the first message, in milliseconds; each other one comes a minute later."""


def iso(minutes: int) -> str:
    # 1_793_000_000 is 2026-10-26T07:33:20Z.
    return f"2026-10-26T07:{33 + minutes:02d}:20.000Z"


def write_lines(path: Path, lines: Iterable[dict[str, Any] | str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def claude_code(folder: Path) -> Path:
    def entry(
        uuid: str, parent: str | None, minutes: int, role: str, content: Any, **more: Any
    ) -> dict[str, Any]:
        return {
            "type": role,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": "claude-1",
            "cwd": "/src/shop",
            "timestamp": iso(minutes),
            "message": {"role": role, "content": content, **more.pop("message", {})},
            **more,
        }

    call = [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "settings.toml"}}]
    other = [{"type": "tool_use", "id": "t2", "name": "Glob", "input": {"pattern": "*.toml"}}]
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": FOUND}]
    listed = [{"type": "tool_result", "tool_use_id": "t2", "content": "settings.toml"}]
    return write_lines(
        folder / "claude-1.jsonl",
        [
            {"type": "file-history-snapshot", "sessionId": "claude-1"},
            {"type": "ai-title", "aiTitle": "Webhook port", "sessionId": "claude-1"},
            entry("u0", None, 0, "user", HIDDEN, isMeta=True),
            entry("u1", "u0", 0, "user", ASKED),
            entry("u2", "u1", 1, "assistant", call, message={"id": "msg_1"}),
            entry("u3", "u2", 1, "assistant", other, message={"id": "msg_1"}),
            # Two results of parallel calls: the first hangs off the line of its own call.
            entry("u4", "u2", 1, "user", result),
            entry("u5", "u3", 1, "user", listed),
            "{this line is torn",
            entry("u6", "u5", 2, "assistant", [{"type": "text", "text": ANSWERED}]),
            entry("u7", "u6", 2, "user", LEFT),
            {
                "type": "system",
                "uuid": "u8",
                "parentUuid": None,
                "logicalParentUuid": "u6",
                "sessionId": "claude-1",
            },
            entry("u9", "u8", 3, "user", "A summary of it all, port 7443.", isCompactSummary=True),
            entry("u10", "u9", 3, "user", LATER),
        ],
    )


def codex(folder: Path) -> Path:
    def item(minutes: int, payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
        return {"timestamp": iso(minutes), "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    return write_lines(
        folder / "rollout-2026-10-26T07-33-20-codex-1.jsonl",
        [
            item(0, {"id": "codex-1", "cwd": "/shop"}, "session_meta"),
            item(0, message("developer", HIDDEN)),
            item(0, message("user", f"<environment_context>{HIDDEN}</environment_context>")),
            item(0, message("user", ASKED)),
            item(0, {"type": "user_message", "message": ASKED}, "event_msg"),
            item(1, {"type": "reasoning", "summary": [], "encrypted_content": "xyz"}),
            item(1, {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}),
            item(1, {"type": "function_call_output", "call_id": "c1", "output": FOUND}),
            item(2, message("assistant", ANSWERED)),
            item(
                2,
                {"message": "A summary", "replacement_history": [message("user", LEFT)]},
                "compacted",
            ),
            item(3, message("user", LATER)),
        ],
    )


def pi(folder: Path) -> Path:
    return write_lines(folder / "2026-10-26_pi-1.jsonl", pi_lines("pi-1"))


def pi_lines(session: str) -> list[dict[str, Any]]:
    def entry(own: str, parent: str | None, minutes: int, **message: Any) -> dict[str, Any]:
        head = {"type": "message", "id": own, "parentId": parent, "timestamp": iso(minutes)}
        return {**head, "message": message}

    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "settings.toml"}}
    found = [{"type": "text", "text": FOUND}]
    return [
        {"type": "session", "version": 3, "id": session, "timestamp": iso(0), "cwd": "/shop"},
        entry("a1", None, 0, role="user", content=ASKED),
        entry(
            "a2", "a1", 1, role="assistant", content=[{"type": "thinking", "thinking": "hm"}, call]
        ),
        entry("a3", "a2", 1, role="toolResult", toolCallId="c1", toolName="read", content=found),
        entry("a4", "a3", 2, role="assistant", content=[{"type": "text", "text": ANSWERED}]),
        entry("b1", "a4", 2, role="user", content=LEFT),
        {"type": "custom", "id": "b2", "parentId": "a4", "timestamp": iso(2), "data": HIDDEN},
        entry("a5", "b2", 3, role="user", content=LATER),
    ]


def openclaw(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,"
            " event_zstd BLOB, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq))"
        )
        rows = [
            ("claw-1", at, json.dumps(line), None, AT) for at, line in enumerate(pi_lines("claw-1"))
        ]
        # Written in another order than they are to be read.
        connection.executemany(
            "INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", reversed(rows)
        )
        connection.commit()
    return path


def memory_context(folder: Path) -> Path:
    said = [("user", ASKED), ("assistant", ANSWERED), ("user", LATER)]
    facts: list[dict[str, Any]] = [
        {
            "id": "f1",
            "type": "decision",
            "content": "The webhook listens on port 7443",
            "timestamp": AT,
        },
        {
            "id": "f2",
            "type": "decision",
            "content": "The webhook listens on port 8443",
            "timestamp": AT,
        },
        {
            "id": "f1",
            "type": "decision",
            "content": "The webhook listens on port 7443",
            "supersededBy": "f2",
        },
    ]
    write_lines(folder / "memory-context" / "knowledge.jsonl", facts)
    write_lines(
        folder / "memory-context" / "segments.jsonl",
        [
            {
                "id": f"seg-{at}",
                "sessionId": "memory-1",
                "timestamp": AT + minutes * 60_000,
                "role": role,
                "content": content,
                "tokens": 12,
                "metadata": {"topics": [], "entities": []},
            }
            for at, (minutes, (role, content)) in enumerate(zip((0, 2, 3), said, strict=True))
        ],
    )
    return folder / "memory-context"


def _gemini_messages() -> list[dict[str, Any]]:
    result = [
        {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": FOUND}}}
    ]
    call = {
        "id": "c1",
        "name": "read_file",
        "args": {"path": "settings.toml"},
        "result": result,
        "status": "success",
    }
    return [
        {"id": "g0", "timestamp": iso(0), "type": "info", "content": HIDDEN},
        {"id": "g1", "timestamp": iso(0), "type": "user", "content": [{"text": ASKED}]},
        {"id": "g2", "timestamp": iso(1), "type": "gemini", "content": "", "toolCalls": [call]},
        {
            "id": "g3",
            "timestamp": iso(2),
            "type": "gemini",
            "content": ANSWERED,
            "thoughts": [{"subject": "hm"}],
        },
        {"id": "g4", "timestamp": iso(3), "type": "user", "content": LATER},
    ]


def gemini(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "session-2026-10-26T07-33-gemini.json"
    document = {
        "sessionId": "gemini-1",
        "projectHash": "abc",
        "startTime": iso(0),
        "summary": "Move the webhook",
        "messages": _gemini_messages(),
    }
    path.write_text(json.dumps(document, indent=2), "utf-8")
    return path


def gemini_lines(folder: Path) -> Path:
    info, asked, called, answered, later = _gemini_messages()
    return write_lines(
        folder / "session-2026-10-26T07-33-gemini.jsonl",
        [
            {
                "sessionId": "gemini-1",
                "projectHash": "abc",
                "startTime": iso(0),
                "lastUpdated": iso(0),
            },
            info,
            asked,
            {**called, "toolCalls": []},
            called,
            answered,
            {"id": "g9", "timestamp": iso(2), "type": "user", "content": LEFT},
            {"$rewindTo": "g9"},
            {"$set": {"lastUpdated": iso(3), "summary": "Move the webhook"}},
            later,
        ],
    )


def _opencode_rows() -> tuple[
    list[tuple[str, dict[str, Any]]], list[tuple[str, str, dict[str, Any]]]
]:
    state = {"status": "completed", "input": {"command": "cat settings.toml"}, "output": FOUND}
    messages: list[tuple[str, dict[str, Any]]] = [
        ("msg_1", {"role": "user", "time": {"created": AT}}),
        ("msg_2", {"role": "assistant", "time": {"created": AT + 60_000}}),
        ("msg_3", {"role": "assistant", "time": {"created": AT + 120_000}}),
        ("msg_4", {"role": "user", "time": {"created": AT + 180_000}}),
        ("msg_5", {"role": "user", "time": {"created": AT + 240_000}}),
    ]
    parts: list[tuple[str, str, dict[str, Any]]] = [
        ("prt_1", "msg_1", {"type": "text", "text": ASKED}),
        ("prt_2", "msg_1", {"type": "text", "text": HIDDEN, "synthetic": True}),
        ("prt_3", "msg_2", {"type": "step-start"}),
        ("prt_4", "msg_2", {"type": "tool", "tool": "bash", "callID": "c1", "state": state}),
        ("prt_5", "msg_3", {"type": "text", "text": ANSWERED}),
        ("prt_6", "msg_4", {"type": "text", "text": LATER}),
        ("prt_7", "msg_5", {"type": "text", "text": LEFT}),
    ]
    return messages, parts


def opencode(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "opencode.db"
    messages, parts = _opencode_rows()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, revert TEXT, directory TEXT, title TEXT);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT);"
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
        )
        connection.execute(
            "INSERT INTO session VALUES ('ses_1', NULL, ?, '/src/shop', 'Port of the webhook')",
            (json.dumps({"messageID": "msg_5"}),),
        )
        connection.execute("INSERT INTO session VALUES ('ses_2', 'ses_1', NULL, NULL, NULL)")
        connection.execute("INSERT INTO message VALUES ('msg_9', 'ses_2', '{\"role\":\"user\"}')")
        for own, data in messages:
            connection.execute(
                "INSERT INTO message VALUES (?, 'ses_1', ?)", (own, json.dumps(data))
            )
        for own, message, data in parts:
            connection.execute(
                "INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (own, message, json.dumps(data))
            )
        connection.commit()
    return path


def opencode_files(folder: Path) -> Path:
    messages, parts = _opencode_rows()
    storage = folder / "storage"
    session = {
        "id": "ses_1",
        "projectID": "p",
        "directory": "/src/shop",
        "title": "Port of the webhook",
        "time": {"created": AT},
        "revert": {"messageID": "msg_5"},
    }
    write_lines(storage / "session" / "p" / "ses_1.json", [session])
    for own, data in messages:
        write_lines(storage / "message" / "ses_1" / f"{own}.json", [{"id": own, **data}])
    for own, message, data in parts:
        write_lines(storage / "part" / message / f"{own}.json", [{"id": own, **data}])
    return storage


def aider(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".aider.chat.history.md"
    lines = [
        "",
        "# aider chat started at 2026-10-26 07:33:20",
        "",
        f"> {FOUND}",
        "",
        f"#### {ASKED}",
        "",
        ANSWERED,
        "",
        f"#### {LATER}",
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def _conversations() -> list[dict[str, Any]]:
    def node(own: str, parent: str | None, *children: str, **message: Any) -> dict[str, Any]:
        entry = {"id": f"m-{own}", "metadata": {}, **message} if message else None
        return {"id": own, "parent": parent, "children": list(children), "message": entry}

    def said(role: str, minutes: int, text: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {
            "author": {"role": role},
            "create_time": AT / 1000 + 60 * minutes,
            "content": content,
        }

    found = {"content_type": "execution_output", "text": FOUND}
    tool = {
        "author": {"role": "tool", "name": "python"},
        "create_time": AT / 1000 + 60,
        "content": found,
    }
    hidden = {**said("user", 0, HIDDEN), "metadata": {"is_visually_hidden_from_conversation": True}}
    mapping = {
        "n0": node("n0", None, "n1"),
        "n1": node("n1", "n0", "n2", **hidden),
        "n2": node("n2", "n1", "n3", **said("user", 0, ASKED)),
        "n3": node("n3", "n2", "n4", **tool),
        "n4": node("n4", "n3", "n5", "n6", **said("assistant", 2, ANSWERED)),
        "n5": node("n5", "n4", **said("user", 3, LATER)),
        "n6": node("n6", "n4", **said("user", 3, LEFT)),
    }
    return [
        {"title": "Ports", "conversation_id": "gpt-1", "current_node": "n5", "mapping": mapping}
    ]


def chatgpt(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "conversations.json"
    path.write_text(json.dumps(_conversations()), "utf-8")
    return path


def chatgpt_zip(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", json.dumps(_conversations(), indent=1))
    return path


def plain(folder: Path) -> Path:
    calls = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]
    return write_lines(
        folder / "chat.jsonl",
        [
            {"session_id": "plain-1", "role": "system", "content": HIDDEN},
            {"session_id": "plain-1", "role": "user", "content": ASKED, "timestamp": AT / 1000},
            {
                "session_id": "plain-1",
                "role": "assistant",
                "tool_calls": calls,
                "timestamp": iso(1),
            },
            {
                "session_id": "plain-1",
                "role": "tool",
                "tool_call_id": "c1",
                "content": FOUND,
                "timestamp": iso(1),
            },
            {
                "session_id": "plain-1",
                "role": "assistant",
                "content": ANSWERED,
                "timestamp": iso(2),
            },
            {"session_id": "plain-1", "role": "user", "content": LATER, "timestamp": AT + 180_000},
        ],
    )


def plain_document(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "chat.json"
    messages = [
        {"role": "user", "parts": [{"text": ASKED}], "timestamp": iso(0)},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "read", "args": {}}}],
            "timestamp": iso(1),
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "read", "response": {"output": FOUND}}}],
        },
        {"role": "model", "parts": [{"text": ANSWERED}], "timestamp": iso(2)},
        {"role": "user", "parts": [{"text": LATER}], "timestamp": iso(3)},
    ]
    path.write_text(json.dumps({"session_id": "plain-1", "messages": messages}, indent=2), "utf-8")
    return path


HOSTS: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "claude-code": (claude_code, "claude-code", "claude-1"),
    "codex": (codex, "codex", "codex-1"),
    "pi": (pi, "pi", "pi-1"),
    "openclaw": (openclaw, "openclaw", "claw-1"),
    "memory-context": (memory_context, "memory", "memory-1"),
    "gemini": (gemini, "gemini", "gemini-1"),
    "gemini-lines": (gemini_lines, "gemini", "gemini-1"),
    "opencode": (opencode, "opencode", "ses_1"),
    "opencode-files": (opencode_files, "opencode", "ses_1"),
    "aider": (aider, "aider", ""),
    "chatgpt": (chatgpt, "chatgpt", "gpt-1"),
    "chatgpt-zip": (chatgpt_zip, "chatgpt", "gpt-1"),
    "plain": (plain, "plain", "plain-1"),
    "plain-document": (plain_document, "plain", "plain-1"),
}
"""Writer of a transcript, its format, and the session in it."""

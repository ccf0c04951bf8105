"""opencode: sessions, messages and their parts, in a database or in one small file each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import as_object
from memctx.transfer import database
from memctx.transfer.said import Said
from memctx.transfer.tape import parsed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from memctx.transfer.tape import Tape

TABLES = frozenset({"session", "message", "part"})


@dataclass(frozen=True, slots=True)
class _Message:
    id: str
    session: str
    fields: dict[str, Any]
    parts: list[dict[str, Any]]


def read(tape: Tape) -> Iterator[Said]:
    """The messages of a database, or of the session whose file is given; those of subagents stay out."""
    with tape.opened() as file:
        is_database = file.read(len(database.MAGIC)) == database.MAGIC
    for message in _of_database(tape) if is_database else _of_files(tape):
        yield from _said(tape, message)


def recognises(line: dict[str, Any]) -> bool:
    """Whether a document is the file of a session."""
    return str(line.get("id", "")).startswith("ses_") and {"projectID", "time"} <= line.keys()


def _of_database(tape: Tape) -> Iterator[_Message]:
    with database.opened(tape.path) as connection:
        has = database.columns(connection, "session")
        wanted = ", ".join(name if name in has else "NULL" for name in ("parent_id", "revert"))
        sessions = connection.execute(f"SELECT id, {wanted} FROM session ORDER BY id")  # noqa: S608
        for session, parent, revert in sessions.fetchall():
            end = part.text(_parsed(revert), "messageID")
            messages = connection.execute(
                "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (session,)
            )
            for own, data in messages:
                fields = _parsed(data)
                if parent is not None or (end is not None and str(own) >= end):
                    tape.left_out += 1
                elif fields is None:
                    tape.damaged += 1
                else:
                    yield _Message(str(own), str(session), fields, _rows(tape, connection, own))


def _rows(tape: Tape, connection: sqlite3.Connection, message: object) -> list[dict[str, Any]]:
    rows = connection.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (message,))
    return list(_whole(tape, (_parsed(data) for (data,) in rows)))


def _of_files(tape: Tape) -> Iterator[_Message]:
    """Messages stand in ``message/<session>/``, their parts in ``part/<message>/``, beside ``session/``."""
    found = as_object(tape.document()) or {}
    session, end = str(found.get("id", tape.name)), part.text(found.get("revert"), "messageID")
    # session/<project>/<id>.json, or session/info/<id>.json before that
    storage = next((each.parent for each in tape.path.parents if each.name == "session"), None)
    files = [] if storage is None else _files(storage / "message" / session)
    for path in files:
        fields = _read(path)
        if found.get("parentID") is not None or (end is not None and path.stem >= end):
            tape.left_out += 1
        elif fields is None or storage is None:
            tape.damaged += 1
        else:
            parts = (_read(each) for each in _files(storage / "part" / path.stem))
            yield _Message(path.stem, session, fields, list(_whole(tape, parts)))


def _said(tape: Tape, message: _Message) -> Iterator[Said]:
    """A message as Anthropic would have it: text and calls, and the results in a message of their own."""
    role = part.text(message.fields, "role")
    if role not in {"user", "assistant"} or message.fields.get("summary") is True:
        tape.left_out += 1
        return
    created = part.get(message.fields.get("time"), "created")
    at = float(created) if isinstance(created, int | float) else None
    content: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for each in message.parts:
        if each.get("type") == "text" and not (each.get("synthetic") or each.get("ignored")):
            content.append({"type": "text", "text": each.get("text", "")})
        elif each.get("type") == "tool":
            state, call_id = each.get("state"), each.get("callID")
            asked = {
                "type": "tool_use",
                "id": call_id,
                "name": each.get("tool"),
                "input": part.get(state, "input"),
            }
            content.append(asked)
            output = part.get(state, "output") or part.get(state, "error")
            if output is not None:
                results.append({"type": "tool_result", "tool_use_id": call_id, "content": output})
    yield Said(message.session, message.id, {"role": role, "content": content}, "anthropic", at)
    if results:
        answer = {"role": "user", "content": results}
        yield Said(message.session, f"{message.id}.results", answer, "anthropic", at)


def _whole(tape: Tape, found: Iterable[dict[str, Any] | None]) -> Iterator[dict[str, Any]]:
    for each in found:
        if each is None:
            tape.damaged += 1
        else:
            yield each


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return parsed(path.read_bytes())
    except OSError:
        return None


def _parsed(data: object) -> dict[str, Any] | None:
    try:
        return as_object(json.loads(data)) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return None

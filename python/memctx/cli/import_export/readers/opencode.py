"""opencode: sessions, messages and their parts, in a database or in one small file each."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.streams import SQLITE_MAGIC, open_database, table_columns
from memctx.cli.import_export.transcript_file import TranscriptFile, TranscriptMessage
from memctx.hosts.pi import as_object
from memctx.messages import part

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from memctx.cli.import_export.transcript_file import SkipReason

TABLES = frozenset({"session", "message", "part"})
TAKEN_BACK = "taken back by the user"
DEFAULT_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"]|(?<=\\)")+"')


@dataclass(frozen=True, slots=True)
class _Message:
    id: str
    session: str
    parent: str | None
    """The session that started this one."""
    fields: dict[str, Any]
    parts: list[dict[str, Any]]


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Return the messages of a database, or of the session whose file is given."""
    with transcript.open() as file:
        is_database = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    for message in _read_database(transcript) if is_database else _read_files(transcript):
        yield from _convert_message(transcript, message)


def read_parts(messages: object) -> list[dict[str, Any]]:
    """Return messages in Anthropic's format, given as opencode's own API returns those of a session."""
    transcript = TranscriptFile("opencode")
    found: list[dict[str, Any]] = []
    for each in part.items(messages):
        info = as_object(part.get(each, "info")) or {}
        parts = [as_object(block) or {} for block in part.items(part.get(each, "parts"))]
        message = _Message(str(info.get("id", "")), "", None, info, parts)
        said = _convert_message(transcript, message)
        found += [one.message for one in said if one.skip_reason is None]
    return found


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a document is the file of a session."""
    return str(line.get("id", "")).startswith("ses_") and {"projectID", "time"} <= line.keys()


def _read_database(transcript: TranscriptFile) -> Iterator[_Message]:
    with open_database(transcript.path, transcript.limits) as connection:
        has = table_columns(connection, "session")
        names = ("parent_id", "revert", "directory", "title")
        wanted = ", ".join(name if name in has else "NULL" for name in names)
        sessions = connection.execute(f"SELECT id, {wanted} FROM session ORDER BY id")  # noqa: S608
        for session, parent, revert, folder, title in sessions.fetchall():
            _describe(transcript, str(session), folder, title)
            end = part.text(_parse(revert), "messageID")
            messages = connection.execute(
                "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (session,)
            )
            for own, data in messages:
                fields = _parse(data)
                if end is not None and str(own) >= end:
                    transcript.skips[TAKEN_BACK] += 1
                elif fields is None:
                    transcript.damaged += 1
                else:
                    parts = _rows(transcript, connection, own)
                    above = None if parent is None else str(parent)
                    yield _Message(str(own), str(session), above, fields, parts)


def _rows(
    transcript: TranscriptFile, connection: sqlite3.Connection, message: object
) -> list[dict[str, Any]]:
    rows = connection.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (message,))
    return list(_whole(transcript, (_parse(data) for (data,) in rows)))


def _read_files(transcript: TranscriptFile) -> Iterator[_Message]:
    """Yield the messages in ``message/<session>/``, with their parts in ``part/<message>/``."""
    found = as_object(transcript.document()) or {}
    session, end = (
        str(found.get("id", transcript.name)),
        part.text(found.get("revert"), "messageID"),
    )
    _describe(transcript, session, found.get("directory"), found.get("title"))
    # session/<project>/<id>.json, or session/info/<id>.json before that
    storage = next(
        (each.parent for each in transcript.path.parents if each.name == "session"), None
    )
    files = [] if storage is None else _files(storage / "message" / session)
    for path in files:
        fields = transcript.read_companion(path)
        if end is not None and path.stem >= end:
            transcript.skips[TAKEN_BACK] += 1
        elif fields is None or storage is None:
            transcript.damaged += 1
        else:
            parts = (
                transcript.read_companion(each) for each in _files(storage / "part" / path.stem)
            )
            above = part.text(found, "parentID")
            yield _Message(path.stem, session, above, fields, list(_whole(transcript, parts)))


def _describe(transcript: TranscriptFile, session: str, folder: object, title: object) -> None:
    is_default = isinstance(title, str) and DEFAULT_TITLE.fullmatch(title) is not None
    transcript.describe(session, project=folder, title=None if is_default else title)


def _convert_message(transcript: TranscriptFile, message: _Message) -> Iterator[TranscriptMessage]:
    """Yield a message in Anthropic's format: text and calls, then a message with the results."""
    role = part.text(message.fields, "role")
    if role not in {"user", "assistant"}:
        transcript.skips["host message"] += 1
        return
    aside: SkipReason | None = None
    if message.fields.get("summary") is True:
        aside = "compaction summary"
    created = part.get(message.fields.get("time"), "created")
    at = float(created) if isinstance(created, int | float) else None
    content: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for each in message.parts:
        if each.get("type") == "text" and not (each.get("synthetic") or each.get("ignored")):
            text = each.get("text", "")
            content.append({"type": "text", "text": _unquote(text) if role == "user" else text})
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
    if not content:
        transcript.skips["nothing to store"] += 1
        return
    said = TranscriptMessage(
        message.session,
        message.id,
        {"role": role, "content": content},
        "anthropic",
        at,
        parent=message.parent,
        skip_reason=aside,
    )
    yield said
    if results:
        yield replace(
            said, id=f"{message.id}.results", message={"role": "user", "content": results}
        )


def _unquote(text: object) -> object:
    """Return a prompt without the quotes that `opencode run` puts around it; it escapes those inside."""
    if isinstance(text, str) and _QUOTED.fullmatch(text):
        return text[1:-1].replace('\\"', '"')
    return text


def _whole(
    transcript: TranscriptFile, found: Iterable[dict[str, Any] | None]
) -> Iterator[dict[str, Any]]:
    for each in found:
        if each is None:
            transcript.damaged += 1
        else:
            yield each


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _parse(data: object) -> dict[str, Any] | None:
    try:
        return as_object(json.loads(data)) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return None

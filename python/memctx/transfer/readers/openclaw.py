"""OpenClaw: entries of Pi in a database or in files, or the segments of its memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import milliseconds
from memctx.transfer import database, zstd
from memctx.transfer.readers import pi
from memctx.transfer.said import Said
from memctx.transfer.tape import LONGEST_LINE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

TABLE = "transcript_events"
SPEAKERS = frozenset({"user", "assistant", "tool"})


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is a segment of a memory."""
    texts = ("id", "sessionId", "content")
    return (
        all(isinstance(line.get(name), str) for name in texts)
        and line.get("role") in SPEAKERS
        and isinstance(line.get("timestamp"), int | float)
    )


def read(tape: Tape) -> Iterator[Said]:
    """The messages of a database, of a session file, or of a memory, whichever the file is."""
    with tape.opened() as file:
        is_database = file.read(len(database.MAGIC)) == database.MAGIC
    if is_database:
        yield from _database(tape)
    elif any(recognises(line) for line, _ in zip(tape.objects(), range(20), strict=False)):
        tape.damaged = 0  # they are read again
        yield from _segments(tape)
    else:
        tape.damaged = 0
        yield from pi.read(tape)


def _segments(tape: Tape) -> Iterator[Said]:
    for line in tape.objects():
        if not recognises(line):
            tape.damaged += 1
            continue
        message: dict[str, Any] = {"role": line["role"], "content": line["content"]}
        if line["role"] == "tool":
            tool = part.get(line.get("metadata"), "tool")
            message = {
                "role": "toolResult",
                "toolName": part.text(tool, "name") or "",
                "toolCallId": part.text(tool, "callId") or "",
                "content": [{"type": "text", "text": line["content"]}],
            }
        yield Said(line["sessionId"], line["id"], message, "pi", milliseconds(line["timestamp"]))


def _database(tape: Tape) -> Iterator[Said]:
    with database.opened(tape.path) as connection:
        found = connection.execute(f"SELECT DISTINCT session_id FROM {TABLE} ORDER BY session_id")  # noqa: S608
        for (session,) in found.fetchall():
            lines = partial(_events, connection, str(session))
            yield from pi.conversation(tape, str(session), lines)


def _events(connection: sqlite3.Connection, session: str) -> Iterator[bytes]:
    """The entries of a session as lines; one that cannot be decompressed is a line that cannot be read."""
    has = database.columns(connection, TABLE)
    order = "seq" if "seq" in has else "rowid"
    wanted = ", ".join(name if name in has else "NULL" for name in ("event_json", "event_zstd"))
    query = f"SELECT {wanted} FROM {TABLE} WHERE session_id = ? ORDER BY {order}"  # noqa: S608
    for text, packed in connection.execute(query, (session,)):
        if text is not None:
            yield str(text).encode()
        else:
            yield zstd.decompressed(packed or b"", LONGEST_LINE) or b"damaged"

"""OpenClaw: entries of Pi in a database or in files, or the segments of its memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memctx.transfer import database, zstd
from memctx.transfer.readers import memory, pi
from memctx.transfer.tape import LONGEST_LINE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from memctx.transfer.said import Said
    from memctx.transfer.tape import Tape

TABLE = "transcript_events"


def read(tape: Tape) -> Iterator[Said]:
    """The messages of a database, of a session file, or of a memory, whichever the file is."""
    with tape.opened() as file:
        is_database = file.read(len(database.MAGIC)) == database.MAGIC
    if is_database:
        yield from _database(tape)
    elif any(memory.recognises(line) for line, _ in zip(tape.objects(), range(20), strict=False)):
        tape.damaged = 0  # they are read again
        yield from memory.read(tape)
    else:
        tape.damaged = 0
        yield from pi.read(tape)


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

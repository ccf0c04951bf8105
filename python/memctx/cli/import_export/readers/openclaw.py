"""OpenClaw: entries of Pi in a database or in files, or the segments of its memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memctx.cli.import_export.readers import memory, pi
from memctx.cli.import_export.streams import (
    SQLITE_MAGIC,
    decompress_zstd,
    open_database,
    table_columns,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from memctx.cli.import_export.transcript_file import TranscriptFile, TranscriptMessage

TABLE = "transcript_events"


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the messages of a database, a session file or a memory."""
    with transcript.open() as file:
        is_database = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    if is_database:
        yield from _database(transcript)
    elif any(
        memory.recognizes(line) for line, _ in zip(transcript.objects(), range(20), strict=False)
    ):
        transcript.damaged = 0  # they are read again
        transcript.skips.clear()
        yield from memory.read(transcript)
    else:
        transcript.damaged = 0
        transcript.skips.clear()
        yield from pi.read(transcript)


def _database(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    with open_database(transcript.path, transcript.limits) as connection:
        found = connection.execute(f"SELECT DISTINCT session_id FROM {TABLE} ORDER BY session_id")  # noqa: S608
        for (session,) in found.fetchall():
            lines = partial(_events, transcript, connection, str(session))
            yield from pi.conversation(transcript, str(session), lines)


def _events(
    transcript: TranscriptFile, connection: sqlite3.Connection, session: str
) -> Iterator[bytes]:
    """Yield the entries of a session as lines; one that cannot be decompressed becomes a damaged line."""
    has = table_columns(connection, TABLE)
    order = "seq" if "seq" in has else "rowid"
    wanted = ", ".join(name if name in has else "NULL" for name in ("event_json", "event_zstd"))
    query = f"SELECT {wanted} FROM {TABLE} WHERE session_id = ? ORDER BY {order}"  # noqa: S608
    for text, packed in connection.execute(query, (session,)):
        if text is not None:
            yield str(text).encode()
        else:
            yield decompress_zstd(packed or b"", transcript.limits.value) or b"damaged"

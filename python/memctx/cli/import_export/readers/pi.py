"""Pi, and the session files of OpenClaw: a line for each entry of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.readers import tree
from memctx.cli.import_export.transcript_file import TranscriptMessage
from memctx.hosts.pi import EPOCH, Migration, milliseconds
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memctx.cli.import_export.transcript_file import SkipReason, TranscriptFile
    from memctx.hosts.pi import Entry

# The compacted messages are in the file; the summary is not imported.
MESSAGE_TYPES = frozenset({"message", "custom_message", "branch_summary"})


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a line is the header of a session file, or an entry of one."""
    if line.get("type") == "session" and "role" not in line:
        return "version" in line or {"id", "timestamp"} <= line.keys()
    return line.get("type") == "message" and "parentId" in line and "message" in line


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Return every message in the order of the file."""
    yield from conversation(transcript, transcript.name, transcript.lines)


def conversation(
    transcript: TranscriptFile, session: str, lines: Callable[[], Iterable[bytes]]
) -> Iterator[TranscriptMessage]:
    """Yield the messages of a session; its lines are read twice, first for the tree."""
    parents: dict[str, str | None] = {}
    leaf = None
    migration = Migration()
    for entry in _entries(transcript, migration, lines()):
        parents[entry.id], leaf = entry.parent_id, entry.id
    header = migration.header or {}
    session = part.text(header, "id") or session
    transcript.describe(session, project=header.get("cwd"))
    is_torn = bool(migration.bridged)
    kept = set(parents) if is_torn else tree.conversation(parents, leaf)
    damaged, skips = transcript.damaged, transcript.skips.copy()
    del parents
    for entry in _entries(transcript, Migration(), lines()):
        transcript.damaged, transcript.skips = damaged, skips  # counted when the tree was read
        if entry.type == "session_info":
            transcript.describe(session, title=entry.fields.get("name"))
        if entry.type not in MESSAGE_TYPES:
            continue
        message = entry.message
        if message is None:
            skips["line without a message"] += 1
            continue
        at = None if entry.timestamp == EPOCH else milliseconds(entry.timestamp)
        aside: SkipReason | None = None if entry.id in kept else "abandoned branch"
        yield TranscriptMessage(session, entry.id, message, "pi", at, skip_reason=aside)
    transcript.damaged, transcript.skips = damaged, skips


def _entries(
    transcript: TranscriptFile, migration: Migration, lines: Iterable[bytes]
) -> Iterator[Entry]:
    for number, (line, found) in enumerate(transcript.parse_lines(lines), start=1):
        if found is None:
            migration.skip_line()
        elif (entry := migration.read(found, line.rstrip(b"\r\n"), number)) is not None:
            yield entry

"""Pi, and the session files of OpenClaw: a line for each entry of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import milliseconds
from memctx.session.migrate import EPOCH, Migration
from memctx.transfer.readers.tree import lineage
from memctx.transfer.said import Said
from memctx.transfer.tape import parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memctx.session import Entry
    from memctx.transfer.tape import Tape

# What was said stands in the file itself; a compaction only says it again in fewer words.
TOLD = frozenset({"message", "custom_message", "branch_summary"})


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is the header of a session file, or an entry of one."""
    if line.get("type") == "session" and "role" not in line:
        return "version" in line or {"id", "timestamp"} <= line.keys()
    return line.get("type") == "message" and "parentId" in line and "message" in line


def read(tape: Tape) -> Iterator[Said]:
    """The messages from the root to the newest entry."""
    yield from conversation(tape, tape.name, tape.lines)


def conversation(tape: Tape, session: str, lines: Callable[[], Iterable[bytes]]) -> Iterator[Said]:
    """The messages of a session whose lines can be read twice: once for the tree, once for what was said."""
    parents: dict[str, str | None] = {}
    leaf = None
    migration = Migration()
    for entry in _entries(tape, migration, lines()):
        parents[entry.id], leaf = entry.parent_id, entry.id
    header = migration.header or {}
    session = part.text(header, "id") or session
    kept, damaged = lineage(parents, leaf), tape.damaged
    del parents
    for entry in _entries(tape, Migration(), lines()):
        if entry.type not in TOLD:
            continue
        message = entry.message
        if message is None or entry.id not in kept:
            tape.left_out += 1
            continue
        at = None if entry.timestamp == EPOCH else milliseconds(entry.timestamp)
        yield Said(session, entry.id, message, "pi", at)
    tape.damaged = damaged  # counted when the tree was read


def _entries(tape: Tape, migration: Migration, lines: Iterable[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=1):
        found = parsed(line)
        if found is not None:
            entry = migration.read(found, line.rstrip(b"\r\n"), number)
            if entry is not None:
                yield entry
        elif line.strip():
            tape.damaged += 1
            migration.pass_over()

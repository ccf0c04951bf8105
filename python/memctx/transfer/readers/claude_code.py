"""Claude Code: a line for each entry of a tree; messages are Anthropic's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import as_object, milliseconds
from memctx.transfer.readers.tree import lineage
from memctx.transfer.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

SPEECH = frozenset({"user", "assistant"})
ENTRIES = SPEECH | {"system", "attachment", "progress"}
# Lines about a session, which may come before the first entry.
ABOUT = frozenset(
    {"summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title"}
)


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is one of Claude Code's."""
    if part.text(line, "type") in ENTRIES and isinstance(line.get("uuid"), str):
        return "sessionId" in line or "parentUuid" in line
    return part.text(line, "type") in ABOUT and ("leafUuid" in line or "sessionId" in line)


def read(tape: Tape) -> Iterator[Said]:
    """The messages on the way to the newest entry; sidechains, abandoned branches and summaries stay out."""
    kept = _kept(tape)
    damaged, session = tape.damaged, tape.name
    for line in tape.objects():
        tape.damaged = damaged  # counted when the tree was read
        if part.text(line, "type") not in SPEECH:
            continue
        message, uuid = as_object(line.get("message")), part.text(line, "uuid")
        session = part.text(line, "sessionId") or session
        if message is None or uuid not in kept or _is_hidden(line):
            tape.left_out += 1
            continue
        yield Said(session, uuid, message, "anthropic", milliseconds(line.get("timestamp")))


def _kept(tape: Tape) -> set[str]:
    """The ids of the entries that belong to the conversation as it went on."""
    parents: dict[str, str | None] = {}
    answers: list[tuple[str, str | None]] = []
    parts: dict[str, list[str]] = {}
    leaf = last = None
    for line in tape.objects():
        uuid = part.text(line, "uuid")
        if uuid is None or line.get("isSidechain") is True:
            continue
        parent = part.text(line, "parentUuid") or part.text(line, "logicalParentUuid")
        # Where the line of the parent is lost, the entry before stands in for it.
        parents[uuid] = last if parent is not None and parent not in parents else parent
        last = uuid
        if part.text(line, "type") in SPEECH:
            leaf = uuid
        message = line.get("message")
        if (of := part.text(message, "id")) is not None:
            parts.setdefault(of, []).append(uuid)
        if any(
            part.text(block, "type") == "tool_result"
            for block in part.items(part.get(message, "content"))
        ):
            answers.append((uuid, parent))
    kept = set(lineage(parents, leaf))
    # An answer of the model may span several lines, and the results of parallel calls hang off different ones.
    for uuids in parts.values():
        if not kept.isdisjoint(uuids):
            kept.update(uuids)
    kept.update(uuid for uuid, parent in answers if parent in kept)
    return kept


def _is_hidden(line: dict[str, Any]) -> bool:
    return any(line.get(name) is True for name in ("isSidechain", "isMeta", "isCompactSummary"))

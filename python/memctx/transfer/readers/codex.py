"""Codex CLI: a line for each item that went to or came from the model, in the shape of OpenAI's Responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import as_object, milliseconds
from memctx.transfer.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

KINDS = frozenset({"session_meta", "response_item", "compacted", "turn_context", "event_msg"})
SILENT = frozenset({"reasoning", "ghost_snapshot", "compaction", "compaction_summary"})
# What the host tells the model in the user's name.
WRAPPERS = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions",
    "<turn_aborted>",
    "<skill>",
    "<collaboration_mode>",
    "# AGENTS.md instructions",
)


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is one of Codex's, also of those from before its items had an envelope."""
    if part.text(line, "type") in KINDS and as_object(line.get("payload")) is not None:
        return True
    return "instructions" in line and {"id", "timestamp"} <= line.keys() and "type" not in line


def read(tape: Tape) -> Iterator[Said]:
    """The items of the conversation; what the host said in the user's name stays out."""
    session, at, number = tape.name, None, 0
    is_named = False
    for line in tape.objects():
        at = milliseconds(line.get("timestamp")) if "timestamp" in line else at
        item, kind = as_object(line.get("payload")), part.text(line, "type")
        if item is None:
            item, kind = line, "session_meta" if recognises(line) else "response_item"
        if (
            kind == "session_meta" and not is_named
        ):  # a fork repeats the header of what it continues
            session, is_named = part.text(item, "id") or session, True
        if kind != "response_item" or part.text(item, "type") in SILENT:
            continue
        number += 1
        if _is_host(item):
            tape.left_out += 1
            continue
        own = part.text(item, "id") or part.text(item, "call_id")
        yield Said(session, own or str(number), item, "responses", at)


def _is_host(item: dict[str, Any]) -> bool:
    if part.text(item, "role") in {"system", "developer"}:
        return True
    if part.text(item, "role") != "user":
        return False
    texts = [part.text(block, "text") or "" for block in part.items(item.get("content"))]
    return bool(texts) and all(text.lstrip().startswith(WRAPPERS) for text in texts)

"""Messages of Anthropic's Messages API: a role, and text or blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.messages import part
from memctx.messages.content import block_text, text_of
from memctx.messages.record import Record, call_record, tool_record
from memctx.messages.speech import SPEAKERS, with_speech

if TYPE_CHECKING:
    from collections.abc import MutableMapping

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def records(message: object, at: float | None, names: MutableMapping[str, str]) -> list[Record]:
    """The pieces of one message; ``names`` keeps the names of tools by the ids of their calls."""
    role = part.text(message, "role")
    if role not in SPEAKERS:
        return []
    blocks = part.blocks(part.get(message, "content"))
    return with_speech((_piece(block, at, names) for block in blocks), role, at)


def _piece(block: object, at: float | None, names: MutableMapping[str, str]) -> str | Record:
    """The record of a tool's block, or the text of any other."""
    kind = part.text(block, "type") or ""
    if kind in CALLS:
        name, call_id = part.text(block, "name"), part.text(block, "id")
        return call_record(name, part.get(block, "input"), call_id, at, names)
    if kind == "tool_result" or kind.endswith("_tool_result"):
        call_id = part.text(block, "tool_use_id")
        return tool_record(
            "result",
            text_of(part.get(block, "content")),
            at,
            name=names.get(call_id or ""),
            call_id=call_id,
            is_error=part.get(block, "is_error") is True,
        )
    if kind == "compaction":
        summary = text_of(part.get(block, "content"))
        return Record("assistant", summary, at, {"kind": "compactionSummary"})
    return block_text(block)

"""Messages of Pi and OpenClaw, and the lines of their session files that reach the model.

A command that the user ran (``bashExecution``) is a tool's result, unless it was kept from the model. Summaries are
the assistant's words about what went before, and a ``custom`` message reaches the model as the user's; both carry
``metadata["kind"]``, so that nobody takes them for speech.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.messages import part
from memctx.messages.content import block_text, text_of
from memctx.messages.record import Record, call_record, tool_record
from memctx.messages.speech import SPEAKERS, with_speech

if TYPE_CHECKING:
    from collections.abc import MutableMapping

SUMMARIES = {
    "branchSummary": "branchSummary",
    "branch_summary": "branchSummary",
    "compactionSummary": "compactionSummary",
    "compaction": "compactionSummary",
}


def records(message: object, at: float | None, names: MutableMapping[str, str]) -> list[Record]:
    """The pieces of one message; ``names`` keeps the names of tools by the ids of their calls."""
    kind = part.text(message, "role") or part.text(message, "type") or ""
    if kind in SPEAKERS:
        blocks = part.blocks(part.get(message, "content"))
        return with_speech((_piece(block, at, names) for block in blocks), kind, at)
    return with_speech([_other(message, kind, at)], kind, at)


def _piece(block: object, at: float | None, names: MutableMapping[str, str]) -> str | Record:
    """The record of a tool call, or the text of any other block."""
    if part.text(block, "type") != "toolCall":
        return block_text(block)
    name, call_id = part.text(block, "name"), part.text(block, "id")
    return call_record(name, part.get(block, "arguments"), call_id, at, names)


def _other(message: object, kind: str, at: float | None) -> Record | str:
    if kind == "toolResult":
        return tool_record(
            "result",
            text_of(part.get(message, "content")),
            at,
            name=part.text(message, "toolName"),
            call_id=part.text(message, "toolCallId"),
            is_error=part.get(message, "isError") is True,
        )
    if kind == "bashExecution":
        return _command(message, at)
    if kind in SUMMARIES:
        metadata = {"kind": SUMMARIES[kind]}
        return Record("assistant", part.text(message, "summary") or "", at, metadata)
    custom_type = part.text(message, "customType")
    if kind in {"custom", "custom_message"} and custom_type:
        metadata = {"kind": "custom", "customType": custom_type}
        return Record("user", text_of(part.get(message, "content")), at, metadata)
    return ""


def _command(message: object, at: float | None) -> Record | str:
    """A command the user ran and what it printed; nothing if the user kept it from the model."""
    if part.get(message, "excludeFromContext") is True:
        return ""
    text = f"$ {part.text(message, 'command') or ''}\n{part.text(message, 'output') or ''}"
    code = part.get(message, "exitCode")
    return tool_record(
        "result",
        text.strip(),
        at,
        name="bash",
        call_id=None,
        is_error=(code is not None and code != 0) or part.get(message, "cancelled") is True,
    )

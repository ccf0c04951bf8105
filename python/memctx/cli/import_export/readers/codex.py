"""Codex CLI: a line for each item sent to or by the model, in the format of OpenAI's Responses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.transcript_file import TranscriptMessage
from memctx.hosts.pi import as_object, milliseconds
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export.transcript_file import SkipReason, TranscriptFile

KINDS = frozenset({"session_meta", "response_item", "compacted", "turn_context", "event_msg"})
# Items that were not sent to the model.
SILENT = frozenset({"ghost_snapshot", "compaction", "compaction_summary"})
# Host text in the user's name.
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


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a line is one of Codex's, with or without an envelope."""
    if part.text(line, "type") in KINDS and as_object(line.get("payload")) is not None:
        return True
    return "instructions" in line and {"id", "timestamp"} <= line.keys() and "type" not in line


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the items of the conversation; the host's own items are marked to be skipped."""
    held: TranscriptMessage | None = None
    for said in _items(transcript):
        if held is not None:
            yield _mark_summary(held, said)
        held = said
    if held is not None:
        yield held


def _mark_summary(said: TranscriptMessage, following: TranscriptMessage) -> TranscriptMessage:
    """Mark the answer that a compaction made its summary of."""
    if following.skip_reason != "compaction summary" or said.message.get("role") != "assistant":
        return said
    texts = [part.text(block, "text") for block in part.items(said.message.get("content"))]
    is_summary = any(text and text in following.message["content"] for text in texts)
    return replace(said, skip_reason="compaction summary") if is_summary else said


def _items(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the items in the order of the file."""
    session, at, number = transcript.name, None, 0
    is_named = False
    for line in transcript.objects():
        at = milliseconds(line.get("timestamp")) if "timestamp" in line else at
        item, kind = as_object(line.get("payload")), part.text(line, "type")
        if item is None:
            item, kind = line, "session_meta" if recognizes(line) else "response_item"
        if (
            kind == "session_meta" and not is_named
        ):  # a fork repeats the header of what it continues
            session, is_named = part.text(item, "id") or session, True
            transcript.describe(session, project=item.get("cwd"))
        if kind == "event_msg" and part.text(item, "type") == "thread_name_updated":
            transcript.describe(session, title=item.get("thread_name"))
        if kind == "compacted" and (summary := part.text(item, "message")):
            number += 1
            message = {"type": "message", "role": "user", "content": summary}
            yield TranscriptMessage(
                session, str(number), message, "responses", at, skip_reason="compaction summary"
            )
        if kind != "response_item" or part.text(item, "type") in SILENT:
            continue
        number += 1
        own = part.text(item, "id") or part.text(item, "call_id") or str(number)
        speech = _speech(item)
        yield TranscriptMessage(
            session,
            own,
            item,
            "responses",
            at,
            skip_reason=_skip_reason(item, has_speech=speech is not None),
            speech=None if speech is item else speech,
        )


def _skip_reason(item: dict[str, Any], *, has_speech: bool) -> SkipReason | None:
    if part.text(item, "type") == "reasoning":
        return "reasoning"
    is_host = part.text(item, "role") in {"system", "developer"} or not has_speech
    return "host message" if is_host else None


def _speech(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return an item without the host's blocks; None if there are no others."""
    blocks = part.items(item.get("content"))
    if part.text(item, "role") != "user" or not blocks:
        return item
    kept = [
        block
        for block in blocks
        if not (part.text(block, "text") or "").lstrip().startswith(WRAPPERS)
    ]
    return item if len(kept) == len(blocks) else {**item, "content": kept} if kept else None

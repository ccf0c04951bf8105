"""Gemini CLI: one JSON document for a session, or a line for each change of it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.transcript_file import TranscriptMessage
from memctx.hosts.pi import as_object, milliseconds
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export.transcript_file import TranscriptFile

SPEECH = frozenset({"user", "gemini"})
# Texts of the host in the user's name: the folder, what hooks have added, and the summary of a compression.
HOST_TEXT = ("<session_context>", "<hook_context>", "<state_snapshot>")
FOLDER = re.compile(r"(?:Workspace Directories:\**\s+- |working in the directory: )(.+)")
"""The project folder in the host's first message."""
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""The answer that the host writes behind the summary of a compression."""


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a line is the header of a session, or all of it."""
    return isinstance(line.get("sessionId"), str) and "projectHash" in line


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the messages that were not rewound, in their last version."""
    session, messages = transcript.name, dict[str, dict[str, Any]]()
    summaries: set[str] = set()
    for line in _lines(transcript):
        session = part.text(line, "sessionId") or session
        if (back := part.text(line, "$rewindTo")) is not None:
            _rewind(transcript, messages, back)
            continue
        changes = as_object(line.get("$set")) or line
        transcript.describe(session, title=changes.get("summary"))
        # After a compression the host writes what the model still sees; earlier messages are kept.
        for summary, answer in _summaries(changes):
            summaries |= {summary, answer}
        for each in (line, *part.items(changes.get("messages"))):
            message = as_object(each)
            if message is not None and isinstance(message.get("id"), str) and "type" in message:
                messages[message["id"]] = message
    for own, message in messages.items():
        transcript.describe(session, project=_folder(message))
        if part.text(message, "type") not in SPEECH or own in summaries:
            transcript.skips["compaction summary" if own in summaries else "host message"] += 1
            continue
        at = milliseconds(message.get("timestamp"))
        for number, said in enumerate(_contents(message)):
            if not said["parts"]:
                transcript.skips["host message"] += 1
                continue
            yield TranscriptMessage(
                session, f"{own}.{number}" if number else own, said, "gemini", at
            )


def _folder(message: dict[str, Any]) -> str | None:
    """Return the project folder, if the host tells it in a message."""
    for each in part.blocks(message.get("content")):
        text = part.text(_part(each), "text") or ""
        if text.startswith(HOST_TEXT[0]) and (found := FOLDER.search(text)) is not None:
            return found[1].strip()
    return None


def find_compressions(transcript: TranscriptFile) -> list[float]:
    """Return the times at which the host compressed the conversation, in milliseconds since the epoch."""
    found: dict[str, float] = {}
    for line in _lines(transcript):
        changes = as_object(line.get("$set")) or line
        for summary, _ in _summaries(changes):
            # It is written again, with another time, whenever the session is resumed.
            found.setdefault(summary, milliseconds(changes.get("lastUpdated")) or 0.0)
    return list(found.values())


def _summaries(changes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the ids of the summary of a compression and of the answer behind it."""
    for before, message in pairwise(part.items(changes.get("messages"))):
        answer = [
            part.text(_part(each), "text") for each in part.blocks(part.get(message, "content"))
        ]
        if answer == [ACKNOWLEDGED]:
            yield part.text(before, "id") or "", part.text(message, "id") or ""


def _lines(transcript: TranscriptFile) -> Iterator[dict[str, Any]]:
    first = next(transcript.objects(), None)
    transcript.damaged = 0
    transcript.skips.clear()
    if first is not None and (recognizes(first) or "id" in first):
        yield from transcript.objects()
        return
    document = as_object(transcript.document())
    if document is None:
        transcript.damaged += 1
    else:
        yield document


def _rewind(transcript: TranscriptFile, messages: dict[str, dict[str, Any]], back: str) -> None:
    """Remove a message and all after it."""
    ids = list(messages)
    for each in ids[ids.index(back) :] if back in messages else ():
        transcript.skips["taken back by the user"] += 1
        del messages[each]


def _contents(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message as Gemini contents: its text and calls, then the tool results."""
    if message["type"] == "user":
        # The user's own words, where the host has added to them.
        content = message.get("displayContent") or message.get("content")
        said = [_part(each) for each in part.blocks(content) if each]
        yield {"role": "user", "parts": [each for each in said if not _is_host_text(each)]}
        return
    parts = [_part(each) for each in part.blocks(message.get("content")) if each]
    results: list[object] = []
    for call in part.items(message.get("toolCalls")):
        name, call_id = part.text(call, "name") or "", part.text(call, "id")
        parts.append(
            {"functionCall": {"id": call_id, "name": name, "args": part.get(call, "args")}}
        )
        results += _results(name, call_id, part.get(call, "result"))
    yield {"role": "model", "parts": parts}
    if results:
        yield {"role": "user", "parts": results}


def _part(block: object) -> object:
    return {"text": block} if isinstance(block, str) else block


def _is_host_text(block: object) -> bool:
    return (part.text(block, "text") or "").lstrip().startswith(HOST_TEXT)


def _results(name: str, id: str | None, result: object) -> list[object]:
    if result is None:
        return []
    given = [each for each in part.blocks(result) if part.get(each, "functionResponse")]
    if given:
        return given
    return [{"functionResponse": {"id": id, "name": name, "response": {"output": result}}}]

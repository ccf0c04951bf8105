"""Plain messages of any format: one per line, a list per line, or a document with a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.transcript_file import TranscriptMessage, parse_object
from memctx.hosts.pi import as_object, milliseconds
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.cli.import_export.transcript_file import TranscriptFile

SESSIONS = ("session_id", "sessionId", "session", "conversation_id", "thread_id", "chat_id")
LISTS = ("messages", "history", "contents", "input", "items", "conversation")
MOMENTS = ("timestamp", "created_at", "createdAt", "create_time", "time", "date")
# A number of seconds that is that large would be after the year 5000.
LATEST_SECONDS = 1e11


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a line is a message, holds one, or holds a list of them."""
    return _is_message(part.unwrapped(line)) or _list_of(line) is not None


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the messages in the order of the file; the default session id is the file's name."""
    counts: dict[str, int] = {}
    for at, line in enumerate(_lines(transcript)):
        messages = _list_of(line)
        session = _session(line) or (
            transcript.name if messages is None or at == 0 else f"{transcript.name}-{at + 1}"
        )
        for message in [part.unwrapped(line)] if messages is None else messages:
            found = as_object(message)
            if found is None or not _is_message(found):
                transcript.damaged += 1
                continue
            own = _session(found) or session
            counts[own] = counts.get(own, 0) + 1
            message_id = part.text(found, "id") or (
                part.text(line, "id") if messages is None else None
            )
            yield TranscriptMessage(
                own, message_id or str(counts[own]), found, None, _moment(found) or _moment(line)
            )


def _lines(transcript: TranscriptFile) -> Iterator[dict[str, Any]]:
    if _has_lines(transcript):
        yield from transcript.objects()
        return
    for each in transcript.values():
        # A list in a document is one conversation.
        if (line := as_object(each)) is not None:
            yield line
        else:
            transcript.damaged += 1


def _has_lines(transcript: TranscriptFile) -> bool:
    """Return whether each line is an object of its own; the first may be damaged. A document has one, or none."""
    first = [line.strip() for line, _ in zip(transcript.lines(), range(2), strict=False)]
    transcript.skips.clear()
    return not first or (
        not first[0].startswith(b"[") and any(parse_object(line) is not None for line in first)
    )


def _is_message(found: object) -> bool:
    """Return whether a value has a role or is an item of OpenAI's Responses."""
    if part.text(found, "role") is not None:
        return True
    return part.text(found, "type") in {"function_call", "function_call_output", "reasoning"}


def _list_of(line: dict[str, Any]) -> Sequence[object] | None:
    """Return the messages in a line that is none itself."""
    if _is_message(line):
        return None
    for name in LISTS:
        found = part.items(line.get(name))
        if any(_is_message(each) for each in found):
            return found
    return None


def _session(line: dict[str, Any]) -> str | None:
    for name in SESSIONS:
        found = line.get(name)
        if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
            return str(found)
    return None


def _moment(line: dict[str, Any]) -> float | None:
    for name in MOMENTS:
        if name in line:
            found = line[name]
            if (
                isinstance(found, int | float)
                and not isinstance(found, bool)
                and 0 < found < LATEST_SECONDS
            ):
                found *= 1000
            return milliseconds(found)
    return None

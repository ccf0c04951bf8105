"""Aider: a Markdown file in which the quoting marks the speaker."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.transcript_file import TranscriptMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export.transcript_file import TranscriptFile

BEGINNING = "# aider chat started at "
FILE = ".aider.chat.history.md"
"""Name of the file, which lies in the folder that its sessions are about."""
USER, TOOL, ASSISTANT = "#### ", "> ", ""


def recognizes(text: str) -> bool:
    """Return whether a text is a history of Aider."""
    return text.lstrip().startswith(BEGINNING.rstrip())


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the messages; Aider's own output becomes tool results. Sessions are named by their start."""
    seen: dict[str, int] = {}
    session, at, number = transcript.name, None, 0
    speaker, block, size = ASSISTANT, list[str](), 0
    for raw in transcript.lines(keep_blank=True):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        begins = line.startswith(BEGINNING)
        mark = _speaker(line)
        if begins or (mark != speaker and not (mark == ASSISTANT and not line.strip())):
            if (message := _message(speaker, block)) is not None:
                number += 1
                yield TranscriptMessage(session, str(number), message, "pi", at)
            speaker, block, size = (ASSISTANT if begins else mark), [], 0
        size += len(raw)
        if size > transcript.limits.value:
            raise transcript.limits.value_error(str(transcript.path))
        if begins:
            started = line.removeprefix(BEGINNING).strip()
            seen[started] = seen.get(started, 0) + 1
            session, at, number = _session(started, seen[started]), _moment(started), 0
            if transcript.path.name == FILE:
                transcript.describe(session, project=str(transcript.path.absolute().parent))
        elif mark == speaker:
            block.append(line.removeprefix(mark) if mark else line)
        else:
            block.append("")  # an empty line within a message
    if (message := _message(speaker, block)) is not None:
        yield TranscriptMessage(session, str(number + 1), message, "pi", at)


def _speaker(line: str) -> str:
    for mark in (USER, TOOL):
        if line.startswith(mark) or line == mark.rstrip():
            return mark
    return ASSISTANT


def _message(speaker: str, block: list[str]) -> dict[str, Any] | None:
    text = "\n".join(line.rstrip() for line in block).strip()
    if not text:
        return None
    if speaker == TOOL:
        content = [{"type": "text", "text": text}]
        return {
            "role": "toolResult",
            "toolName": "aider",
            "toolCallId": "aider",
            "content": content,
        }
    return {"role": "user" if speaker == USER else "assistant", "content": text}


def _session(started: str, count: int) -> str:
    """Return a stable session id, unique among sessions that began in the same second."""
    digest = sha256(f"{started}#{count}".encode()).hexdigest()
    return f"aider-{digest[:16]}"


def _moment(started: str) -> float | None:
    try:
        return datetime.fromisoformat(started).timestamp() * 1000  # Aider writes local time
    except (ValueError, OverflowError, OSError):
        return None

"""Aider: a Markdown file in which each way of quoting is another speaker."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from memctx.transfer.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

BEGINNING = "# aider chat started at "
USER, TOOL, ASSISTANT = "#### ", "> ", ""


def recognises(text: str) -> bool:
    """Whether a text is a history of Aider."""
    return text.lstrip().startswith(BEGINNING.rstrip())


def read(tape: Tape) -> Iterator[Said]:
    """What was said, and what Aider itself told as the result of a tool. Sessions are named by when they began."""
    seen: dict[str, int] = {}
    session, at, number = tape.name, None, 0
    speaker, block = ASSISTANT, list[str]()
    for raw in tape.lines():
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        begins = line.startswith(BEGINNING)
        mark = _speaker(line)
        if begins or (mark != speaker and not (mark == ASSISTANT and not line.strip())):
            if (message := _message(speaker, block)) is not None:
                number += 1
                yield Said(session, str(number), message, "pi", at)
            speaker, block = (ASSISTANT if begins else mark), []
        if begins:
            started = line.removeprefix(BEGINNING).strip()
            seen[started] = seen.get(started, 0) + 1
            session, at, number = _session(started, seen[started]), _moment(started), 0
        elif mark == speaker:
            block.append(line.removeprefix(mark) if mark else line)
        else:
            block.append("")  # an empty line within what somebody says
    if (message := _message(speaker, block)) is not None:
        yield Said(session, str(number + 1), message, "pi", at)


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
        return {"role": "toolResult", "toolName": "aider", "toolCallId": "", "content": content}
    return {"role": "user" if speaker == USER else "assistant", "content": text}


def _session(started: str, count: int) -> str:
    """The same name whenever the file is read, also for sessions that began in the same second."""
    digest = sha256(f"{started}#{count}".encode()).hexdigest()
    return f"aider-{digest[:16]}"


def _moment(started: str) -> float | None:
    try:
        return datetime.fromisoformat(started).timestamp() * 1000  # Aider writes local time
    except (ValueError, OverflowError, OSError):
        return None

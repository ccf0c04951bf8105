"""Plain messages of any shape: one a line, a list of them in a line, or a document that holds such a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import as_object, milliseconds
from memctx.transfer.said import Said
from memctx.transfer.tape import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.transfer.tape import Tape

SESSIONS = ("session_id", "sessionId", "session", "conversation_id", "thread_id", "chat_id")
LISTS = ("messages", "history", "contents", "input", "items", "conversation")
MOMENTS = ("timestamp", "created_at", "createdAt", "create_time", "time", "date")
# A number of seconds that is that large would be after the year 5000.
LATEST_SECONDS = 1e11


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is a message, holds one, or holds a list of them."""
    return _is_message(part.unwrapped(line)) or _list_of(line) is not None


def read(tape: Tape) -> Iterator[Said]:
    """The messages in the order of the file; one without a session belongs to that which the file is named after."""
    counts: dict[str, int] = {}
    for at, line in enumerate(_lines(tape)):
        messages = _list_of(line)
        session = _session(line) or (
            tape.name if messages is None or at == 0 else f"{tape.name}-{at + 1}"
        )
        for message in [part.unwrapped(line)] if messages is None else messages:
            found = as_object(message)
            if found is None or not _is_message(found):
                tape.damaged += 1
                continue
            own = _session(found) or session
            counts[own] = counts.get(own, 0) + 1
            told = part.text(found, "id") or (part.text(line, "id") if messages is None else None)
            yield Said(own, told or str(counts[own]), found, None, _moment(found) or _moment(line))


def _lines(tape: Tape) -> Iterator[dict[str, Any]]:
    if _has_lines(tape):
        yield from tape.objects()
        return
    document = tape.document()
    for each in part.blocks(document):
        # A list in a document is one conversation.
        if (line := as_object(each)) is not None:
            yield line
        else:
            tape.damaged += 1


def _has_lines(tape: Tape) -> bool:
    """Whether each line is an object of its own, though the first may be damaged; a document has just one, or none."""
    first = [line.strip() for line, _ in zip(tape.lines(), range(2), strict=False)]
    return not first or (first[0] != b"[" and any(parsed(line) is not None for line in first))


def _is_message(found: object) -> bool:
    """Whether it is a message: it has a role, or is an item of OpenAI's Responses."""
    if part.text(found, "role") is not None:
        return True
    return part.text(found, "type") in {"function_call", "function_call_output", "reasoning"}


def _list_of(line: dict[str, Any]) -> Sequence[object] | None:
    """The messages in a line that is none itself."""
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

"""One session as it was: ranges of its messages, parts of long ones, and marks of what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memctx.context import state_writer
from memctx.ui.backend import RequestError
from memctx.ui.overview import describe_session, find_record, timeline

if TYPE_CHECKING:
    from memctx._core import Segment
    from memctx.ui.backend import Backend
    from memctx.ui.parameters import Parameters

SHOWN = 2_000
"""Characters of a message in a list; the rest is read on request."""
MAX_COUNT = 200
"""Most messages of a range."""
MAX_PART = 100_000
"""Most characters of one part of a message."""


def show_session(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return the figures of a session, its timeline, and the messages that its agent was reminded of."""
    log = backend.session(given.text("session"))
    record = find_record(backend, log.id)
    shown = {key.partition(":")[0] for key in (record.shown if record else ())}
    states = state_writer.load(state_writer.path_of(backend.path, log.id), log.id)
    shown |= {
        key.partition(":")[0] for each in states for block in each.blocks for key in block.items
    }
    numbers = sorted(number for each in shown if (number := log.find(each)) is not None)
    return {
        **describe_session(log, record),
        "timeline": timeline([log.times]),
        "recalled": numbers,
        "summarized": _count_summarized(log.times, record.compacted_at if record else 0.0),
        "context_tokens": states[0].estimate + states[0].excess if states else None,
    }


def show_messages(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return ``count`` messages from ``start`` on, long ones shortened; or those around an ``id``."""
    session = given.text("session")
    log = backend.session(session)
    count = given.integer("count", 50, at_least=1, at_most=MAX_COUNT)
    start = given.integer("start", 0, at_most=10**12)
    segments = backend.index.read(session, start, count)
    return {
        "start": start,
        "total": len(log),
        "messages": [
            describe_message(segment, start + place) for place, segment in enumerate(segments)
        ],
    }


def find_message(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return the session and the number of the message with an id, or at a time of a session."""
    session, at = given.optional("session"), given.number("time")
    if session is not None and at is not None:
        times = backend.session(session).times
        number = next((place for place, time in enumerate(times) if time >= at), len(times) - 1)
        return {"session": session, "number": number}
    wanted = given.text("id")
    for log in backend.index.sessions().values():
        found = log.find(wanted)
        if found is not None:
            return {"session": log.id, "number": found}
    raise RequestError(404, f"id is {wanted!r}; no message has it")


def show_part(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return some characters of one message."""
    session = given.text("session")
    number = given.integer("number", 0, at_most=10**12)
    start = given.integer("start", 0, at_most=10**12)
    count = given.integer("count", MAX_PART, at_least=1, at_most=MAX_PART)
    found = backend.index.read(session, number, 1)
    if not found:
        raise RequestError(404, f"number is {number}; session {session!r} has no such message")
    text = found[0].content
    return {"text": text[start : start + count], "start": start, "length": len(text)}


def describe_message(segment: Segment, number: int | None) -> dict[str, Any]:
    """Return a message as lists show it."""
    text, metadata = segment.content, segment.metadata
    tool = cast("dict[str, Any] | None", metadata.get("tool") if segment.role == "tool" else None)
    return {
        "number": number,
        "id": segment.id,
        "session": segment.session_id,
        "role": segment.role,
        "time": segment.timestamp,
        "tokens": segment.tokens,
        "text": text[:SHOWN],
        "length": len(text),
        "topics": segment.topics,
        "tool": f"{tool.get('name') or '?'} · {tool.get('kind')}"
        if isinstance(tool, dict)
        else None,
    }


def _count_summarized(times: Any, compacted_at: float) -> int:  # noqa: ANN401 - an array of numbers
    """Return the number of messages before the last compaction of the host."""
    return sum(time <= compacted_at for time in times) if compacted_at else 0

"""Gemini CLI: one JSON document for a session, or a line for each change of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.messages import part
from memctx.session.entry import as_object, milliseconds
from memctx.transfer.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

SPEECH = frozenset({"user", "gemini"})


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is the head of a session, or all of it."""
    return isinstance(line.get("sessionId"), str) and "projectHash" in line


def read(tape: Tape) -> Iterator[Said]:
    """The messages that were not taken back, each as it was last written."""
    session, messages = tape.name, dict[str, dict[str, Any]]()
    for line in _lines(tape):
        session = part.text(line, "sessionId") or session
        if (back := part.text(line, "$rewindTo")) is not None:
            _rewind(tape, messages, back)
            continue
        told = as_object(line.get("$set")) or line
        # After a compression the host writes what the model still sees; what was said before was said all the same.
        for each in (line, *part.items(told.get("messages"))):
            message = as_object(each)
            if message is not None and isinstance(message.get("id"), str) and "type" in message:
                messages[message["id"]] = message
    for own, message in messages.items():
        if part.text(message, "type") not in SPEECH:
            tape.left_out += 1
            continue
        at = milliseconds(message.get("timestamp"))
        for number, said in enumerate(_contents(message)):
            yield Said(session, f"{own}.{number}" if number else own, said, "gemini", at)


def _lines(tape: Tape) -> Iterator[dict[str, Any]]:
    first = next(tape.objects(), None)
    if first is not None and (recognises(first) or "id" in first):
        tape.damaged = 0
        yield from tape.objects()
        return
    tape.damaged = 0
    document = as_object(tape.document())
    if document is None:
        tape.damaged += 1
    else:
        yield document


def _rewind(tape: Tape, messages: dict[str, dict[str, Any]], back: str) -> None:
    """Take back a message and all after it."""
    ids = list(messages)
    for each in ids[ids.index(back) :] if back in messages else ():
        tape.left_out += 1
        del messages[each]


def _contents(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as the model's contents: what was said, then what its tools gave."""
    parts = [_part(each) for each in part.blocks(message.get("content")) if each]
    if message["type"] == "user":
        yield {"role": "user", "parts": parts}
        return
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


def _results(name: str, id: str | None, result: object) -> list[object]:
    if result is None:
        return []
    given = [each for each in part.blocks(result) if part.get(each, "functionResponse")]
    if given:
        return given
    return [{"functionResponse": {"id": id, "name": name, "response": {"output": result}}}]

"""Messages of OpenAI's two interfaces: Chat Completions, and the items of Responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.messages import part
from memctx.messages.content import text_of
from memctx.messages.record import Record, call_record, tool_record
from memctx.messages.speech import SPEAKERS, with_speech

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

# Where an item of the Responses API has what the tool was asked.
QUESTIONS = ("arguments", "input", "action", "operation", "code", "queries")


def chat_records(
    message: object, at: float | None, names: MutableMapping[str, str]
) -> list[Record]:
    """The pieces of one chat message; ``names`` keeps the names of tools by the ids of their calls."""
    role = part.text(message, "role")
    if role in {"tool", "function"}:
        call_id = part.text(message, "tool_call_id")
        name = part.text(message, "name") or names.get(call_id or "")
        text = text_of(part.get(message, "content"))
        return with_speech([tool_record("result", text, at, name=name, call_id=call_id)], role, at)
    if role not in SPEAKERS:
        return []
    return with_speech(_chat_pieces(message, at, names), role, at)


def _chat_pieces(
    message: object, at: float | None, names: MutableMapping[str, str]
) -> Iterator[str | Record]:
    yield text_of(part.get(message, "content"))
    yield part.text(message, "refusal") or ""
    yield part.text(part.get(message, "audio"), "transcript") or ""
    calls = [*part.items(part.get(message, "tool_calls")), part.get(message, "function_call")]
    for call in filter(None, calls):
        asked = part.get(call, "function") or part.get(call, "custom") or call
        question = part.get(asked, "arguments")
        if question is None:
            question = part.get(asked, "input")
        yield call_record(part.text(asked, "name"), question, part.text(call, "id"), at, names)


def item_records(item: object, at: float | None, names: MutableMapping[str, str]) -> list[Record]:
    """The pieces of one Responses item; ``names`` keeps the names of tools by the ids of their calls."""
    role, kind = part.text(item, "role"), part.text(item, "type") or "message"
    if role in SPEAKERS and kind == "message":
        return with_speech([text_of(part.get(item, "content"))], role, at)
    if kind.endswith(("_call", "_call_output")):
        return with_speech(_item_pieces(item, kind, at, names), "tool", at)
    return []


def _item_pieces(
    item: object, kind: str, at: float | None, names: MutableMapping[str, str]
) -> Iterator[Record]:
    call_id = part.text(item, "call_id") or part.text(item, "id")
    if not kind.endswith("_output"):
        name = part.text(item, "name") or kind.removesuffix("_call")
        question = next(filter(None, (part.get(item, field) for field in QUESTIONS)), "")
        yield call_record(name, question, call_id, at, names)
    text = text_of(part.get(item, "output")) or text_of(part.get(item, "outputs"))
    error = part.get(item, "error")
    text = text or (part.compact(error) if error else "")
    is_error = part.get(item, "status") == "failed" or bool(error)
    yield tool_record(
        "result", text, at, name=names.get(call_id or ""), call_id=call_id, is_error=is_error
    )

"""Views of the messages of Agent Framework."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from agent_framework import Content, Message

from memctx.bridge import View, Views, calls_view, content_after, refuse
from memctx.errors import MessageFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE = "memctx"
"""Name by which the framework knows what comes from memory."""


class MessageViews(Views[Message]):
    """Views of messages: one of what was said, or one for each result."""

    def view(self, message: Message) -> list[View]:
        """Return the views of a message."""
        if not isinstance(message, Message):
            raise refuse(message, expected="a Message of agent_framework")
        results = [content for content in message.contents if content.type == "function_result"]
        if message.role == "tool" and results:
            return [
                {
                    "role": "tool",
                    "tool_call_id": content.call_id or "",
                    "content": _blocks(_items(content)),
                }
                for content in results
            ]
        said = [content for content in message.contents if _is_said(content)]
        if message.role == "assistant" and not results:
            calls = [content for content in message.contents if _is_call(content)]
            if not said and not calls and any(map(_is_item, message.contents)):
                raise MessageFormatError(
                    "a Message holds nothing but reasoning; expected it with its call or answer"
                )
            view: View = {"role": "assistant", "content": _blocks(said) or None}
            if calls:
                view["tool_calls"] = calls_view(
                    (call.call_id or "", call.name or "", _dump(call.arguments)) for call in calls
                )
            if thinking := [
                {"type": "thinking", "thinking": each.text or "", "signature": each.protected_data}
                for each in message.contents
                if _is_bound(each)
            ]:
                view["thinking_blocks"] = thinking
            return [view]
        if message.role in {"user", "system", "developer"} and not results:
            return [{"role": message.role, "content": _blocks(said)}]
        raise MessageFormatError(
            f"a Message has the role {message.role!r} and {len(results)} results; expected one of a user, an assistant"
            " or the system, or of a tool with results"
        )

    def rebuild(self, message: Message, changes: Sequence[tuple[View, View]]) -> Message:
        """Return a copy with other results or another text, or without thinking."""
        rebuilt = copy.copy(message)
        if message.role == "tool":
            known = {
                each.call_id or "": each
                for each in message.contents
                if each.type == "function_result"
            }
            rebuilt.contents = [
                *(
                    _result(known[before["tool_call_id"]], before, after)
                    for before, after in changes
                ),
                *(each for each in message.contents if each.type != "function_result"),
            ]
            return rebuilt
        [(before, after)] = changes
        if message.role == "assistant":
            is_stale = "thinking_blocks" in before and "thinking_blocks" not in after
            rebuilt.contents = [
                each for each in message.contents if not (is_stale and _is_bound(each))
            ]
            return rebuilt
        said = [content for content in message.contents if _is_said(content)]
        rebuilt.contents = _contents(content_after(said, before["content"], after["content"]))
        return rebuilt

    def make(self, view: View) -> Message:
        """Return recalled text as a message of the user, or the result of a call that had none."""
        if view["role"] == "tool":
            result = Content.from_function_result(view["tool_call_id"], result=view["content"])
            return Message("tool", [result])
        return recalled_message([view["content"]])


def recalled_message(texts: Sequence[str]) -> Message:
    """Return recalled text as a message that providers of the history do not store: it comes from a source."""
    source = {"_attribution": {"source_id": SOURCE}}
    return Message("user", list(map(Content.from_text, texts)), additional_properties=source)


def _is_call(content: Content) -> bool:
    """Return whether a content is a call that a result must follow: the provider's own calls have none."""
    return content.type == "function_call" and not content.informational_only


def _is_bound(content: Content) -> bool:
    """Return whether reasoning is bound to what was sent before it: Anthropic's is, OpenAI's has an id instead."""
    return content.type == "text_reasoning" and bool(content.protected_data) and not content.id


def _is_item(content: Content) -> bool:
    """Return whether reasoning is an item of its own, which OpenAI accepts only before its call or answer."""
    return content.type == "text_reasoning" and bool(content.id)


def _is_said(content: Content) -> bool:
    return content.type not in {"text_reasoning", "function_call", "usage"}


def _items(content: Content) -> list[Content]:
    """Return the contents of a result."""
    return list(content.items or ()) or [Content.from_text(str(content.result or ""))]


def _blocks(contents: Sequence[Content]) -> list[dict[str, Any]]:
    return [_block(content) for content in contents]


def _block(content: Content) -> dict[str, Any]:
    """Return a block as OpenAI has it; what memory does not read is carried through."""
    if content.type == "text":
        return {"type": "text", "text": content.text or ""}
    if content.type in {"data", "uri"}:
        kind = content.media_type or ""
        if kind.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": content.uri or ""}}
        return {"type": "file", "file": {"filename": kind}}
    return {"type": content.type}


def _contents(blocks: str | list[Any]) -> list[Content]:
    """Return contents after an edit: the framework's own, and the texts that memory wrote."""
    if isinstance(blocks, str):
        return [Content.from_text(blocks)]
    return [Content.from_text(each["text"]) if isinstance(each, dict) else each for each in blocks]


def _result(content: Content, before: View, after: View) -> Content:
    if before is after:
        return content
    edited = content_after(_items(content), before["content"], after["content"])
    return Content.from_function_result(
        before["tool_call_id"],
        id=content.id,
        result=_contents(edited),
        exception=content.exception,
        status=content.status,
        additional_properties=content.additional_properties,
    )


def _dump(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments or {}, ensure_ascii=False, default=str)

"""Views of LangChain's messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from memctx.bridge import View, Views, calls_view, content_after, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

THINKING = frozenset({"thinking", "redacted_thinking"})
CALLS = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})
"""Blocks that repeat ``tool_calls``."""


class LangChainViews(Views[BaseMessage]):
    """Views of the messages of LangChain: human, AI, tool and system."""

    def view(self, message: BaseMessage) -> list[View]:
        """Return the view of a message."""
        content = _content(message)
        if isinstance(message, AIMessage):
            view: View = {"role": "assistant", "content": content or None}
            calls = [
                (call["id"] or "", call["name"], _dump(call["args"])) for call in message.tool_calls
            ]
            calls += [
                (call["id"] or "", call["name"] or "", call["args"] or "")
                for call in message.invalid_tool_calls
            ]
            if calls:
                view["tool_calls"] = calls_view(calls)
            if thinking := [block for block in _blocks(message) if _is_thinking(block)]:
                view["thinking_blocks"] = thinking
            return [view]
        if isinstance(message, ToolMessage):
            return [{"role": "tool", "tool_call_id": message.tool_call_id, "content": content}]
        if isinstance(message, HumanMessage):
            return [{"role": "user", "content": content}]
        if isinstance(message, SystemMessage):
            return [{"role": "system", "content": content}]
        if isinstance(message, FunctionMessage):
            return [{"role": "function", "name": message.name, "content": content}]
        raise refuse(message, expected="a HumanMessage, AIMessage, ToolMessage or SystemMessage")

    def rebuild(self, message: BaseMessage, changes: Sequence[tuple[View, View]]) -> BaseMessage:
        """Return a copy with another text, or without thinking."""
        [(before, after)] = changes
        if isinstance(message, AIMessage):
            blocks = _blocks(message)
            if "thinking_blocks" in before and "thinking_blocks" not in after:
                blocks = [block for block in blocks if not _is_thinking(block)]
            return message.model_copy(update={"content": blocks})
        raw = message.content if isinstance(message.content, str) else _blocks(message)
        content = content_after(raw, before["content"], after["content"])
        return message.model_copy(update={"content": content})

    def make(self, view: View) -> BaseMessage:
        """Return recalled text as a message of the user, or the result of a call that had none."""
        if view["role"] == "tool":
            return ToolMessage(view["content"], tool_call_id=view["tool_call_id"], status="error")
        return HumanMessage(view["content"])


def _blocks(message: BaseMessage) -> list[Any]:
    content = message.content
    return cast("list[Any]", content) if isinstance(content, list) else [content] if content else []


def _content(message: BaseMessage) -> str | list[Any]:
    """Return the content of a view: blocks as OpenAI has them, without thinking and calls."""
    if isinstance(message.content, str):
        return message.content
    is_answer = isinstance(message, AIMessage)
    return [
        _block(block)
        for block in _blocks(message)
        if not (is_answer and (_is_thinking(block) or _kind(block) in CALLS))
    ]


def _block(block: Any) -> Any:  # noqa: ANN401 - what the provider's package makes
    if isinstance(block, str):
        return {"type": "text", "text": block}
    kind = _kind(block)
    if kind == "text":
        return {"type": "text", "text": block.get("text", "")}
    if kind in {"image", "image_url"}:
        return {"type": "image_url", "image_url": {"url": _url(block)}}
    return block


def _url(block: dict[str, Any]) -> str:
    """Return the address of a picture, its data included."""
    image = block.get("image_url")
    if image is not None:
        return str(image.get("url", "") if isinstance(image, dict) else image)
    source = block.get("source")
    held = source if isinstance(source, dict) else block
    data = held.get("base64") or held.get("data")
    kind = held.get("mime_type") or held.get("media_type") or "image/png"
    return (
        f"data:{kind};base64,{data}" if data else str(held.get("url") or held.get("file_id") or "")
    )


def _kind(block: object) -> object:
    return cast("dict[str, object]", block).get("type") if isinstance(block, dict) else "text"


def _is_thinking(block: object) -> bool:
    """Return whether a block is thinking that is bound to what was sent before it."""
    if _kind(block) in THINKING:
        return True
    extras = cast("dict[str, Any]", block).get("extras") if _kind(block) == "reasoning" else None
    return isinstance(extras, dict) and "signature" in extras


def _dump(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=str)

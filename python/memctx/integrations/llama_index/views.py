"""Views of LlamaIndex's messages."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

from memctx.bridge import View, Views, calls_view, content_after, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

ROLES = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
FILES = frozenset({"audio", "video", "document"})


class LlamaViews(Views[ChatMessage]):
    """Views of chat messages, one for each."""

    def view(self, message: ChatMessage) -> list[View]:
        """Return the view of a message."""
        if not isinstance(message, ChatMessage):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refuse(message, expected="a ChatMessage")
        role = ROLES[message.role]
        blocks = message.blocks
        if role != "assistant":
            content = [_block(block) for block in blocks]
            view: View = {"role": role, "content": content}
            if role == "tool":
                view["tool_call_id"] = message.additional_kwargs.get("tool_call_id")
            return [view]
        said = [_block(it) for it in blocks if it.block_type != "tool_call" and not _is_bound(it)]
        view = {"role": role, "content": said or None}
        if calls := _calls(message):
            view["tool_calls"] = calls_view(calls)
        if thinking := [_thinking(block) for block in blocks if _is_bound(block)]:
            view["thinking_blocks"] = thinking
        return [view]

    def rebuild(self, message: ChatMessage, changes: Sequence[tuple[View, View]]) -> ChatMessage:
        """Return a copy with another text, or without thinking."""
        [(before, after)] = changes
        if before["role"] == "assistant":
            blocks = [block for block in message.blocks if not _is_bound(block)]
        else:
            content = content_after(message.blocks, before["content"], after["content"])
            items = content if isinstance(content, list) else [content]
            blocks = [_own(item) for item in items]
        return message.model_copy(update={"blocks": blocks})

    def make(self, view: View) -> ChatMessage:
        """Return recalled text as a message of the user, or the result of a call that had none."""
        if view["role"] == "tool":
            own = {"tool_call_id": view["tool_call_id"]}
            return ChatMessage(view["content"], role=MessageRole.TOOL, additional_kwargs=own)
        return ChatMessage(view["content"], role=MessageRole.USER)


def _block(block: Any) -> View:  # noqa: ANN401 - blocks of every kind
    """Return the block of a view; the bytes of a file are not part of it."""
    kind = block.block_type
    if kind == "text":
        return {"type": "text", "text": block.text}
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": _name(block)}}
    if kind in FILES:
        return {"type": "file", "file": {"filename": _name(block)}}
    if kind == "citable":
        return {"type": "text", "text": "\n".join(getattr(it, "text", "") for it in block.content)}
    if kind == "thinking":
        return {"type": "reasoning", "text": block.content or ""}
    return {"type": kind}


def _own(item: Any) -> Any:  # noqa: ANN401 - blocks of every kind
    """Return the framework's block for a text that memory wrote."""
    if isinstance(item, str):
        return TextBlock(text=item)
    return TextBlock(text=item["text"]) if isinstance(item, dict) else item


def _name(block: Any) -> str:  # noqa: ANN401 - an image or a file
    named = block.url or block.path or getattr(block, "title", None)
    if named is not None:
        return str(named)
    data = getattr(block, "data" if block.block_type == "document" else block.block_type)
    return hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else block.block_type


def _calls(message: ChatMessage) -> list[tuple[str, str, str]]:
    """Return the calls of an answer, from its blocks or, as older packages write them, from the extra fields."""
    calls = [
        (block.tool_call_id or "", block.tool_name, _dump(block.tool_kwargs))
        for block in message.blocks
        if block.block_type == "tool_call"
    ]
    if calls:
        return calls
    return [_call(call) for call in message.additional_kwargs.get("tool_calls") or ()]


def _call(call: Any) -> tuple[str, str, str]:  # noqa: ANN401 - OpenAI's, Anthropic's, or a dictionary of either
    fields: dict[str, Any] = call if isinstance(call, dict) else call.model_dump()
    function = fields.get("function") or fields
    arguments = function.get("arguments", function.get("input"))
    return fields.get("id") or "", function["name"], _dump(arguments)


def _dump(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, default=str)


def _is_bound(block: Any) -> bool:  # noqa: ANN401 - blocks of every kind
    """Return whether a block is signed thinking, which is bound to what was sent before it."""
    return block.block_type == "thinking" and bool(block.additional_information.get("signature"))


def _thinking(block: Any) -> View:  # noqa: ANN401 - a ThinkingBlock
    signature = block.additional_information["signature"]
    return {"type": "thinking", "thinking": block.content or "", "signature": signature}

"""Views of Pydantic AI's messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    ToolReturnPart,
    UserPromptPart,
)

from memctx.bridge import View, Views, calls_view, content_after, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

STANDING = frozenset(
    {
        "system-prompt",
        "compaction",
        "instruction-baseline",
        "instruction-delta",
        "tool-availability-delta",
        "capability-load-delta",
        "model-settings-delta",
    }
)
"""Parts that hold from their place on, and are never trimmed."""
STANDING_TOOLS = frozenset({"tool-search", "capability-load"})
"""Kinds of tools whose calls and results are such parts, too."""
SERVER_TOOLS = frozenset({"builtin-tool-call", "builtin-tool-return"})
BINDING_PROVIDERS = frozenset({"anthropic", "bedrock"})
"""Providers whose signed thinking is bound to what was sent before it."""


class PydanticViews(Views[ModelMessage]):
    """Views of requests, one for each part, and of responses."""

    def view(self, message: ModelMessage) -> list[View]:
        """Return the views of a message, each with the index of its part; results of tools are first."""
        if isinstance(message, ModelRequest):
            views = [_view(part) | {"part": n} for n, part in enumerate(message.parts)]
            views.sort(key=lambda view: view["role"] != "tool")
            return views or [{"role": "system", "content": message.instructions or ""}]
        if not isinstance(message, ModelResponse):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refuse(message, expected="a ModelRequest or ModelResponse")
        views = [
            {"role": "system", "content": _text(part), "part": n}
            for n, part in enumerate(message.parts)
            if _is_standing(part)
        ]
        said = [part for part in message.parts if not _is_standing(part)]
        return [*views, _answer(said)] if said or not views else views

    def rebuild(self, message: ModelMessage, changes: Sequence[tuple[View, View]]) -> ModelMessage:
        """Return a copy with the parts that are left, each with its edit."""
        edits = {before.get("part"): (before, after) for before, after in changes}
        if isinstance(message, ModelRequest):
            parts = [_edit(part, *edits[n]) for n, part in enumerate(message.parts) if n in edits]
            return replace(message, parts=parts)
        before, after = edits.get(None, ({}, {}))
        has_thinking = before.get("thinking_blocks") == after.get("thinking_blocks")
        kept = [
            part
            for n, part in enumerate(message.parts)
            if (n in edits if _is_standing(part) else None in edits)
            and (has_thinking or not _is_bound(part))
        ]
        return replace(message, parts=kept)

    def make(self, view: View) -> ModelMessage:
        """Return recalled text as a prompt of the user, or the result of a call that had none."""
        if view["role"] == "tool":
            name, own = view.get("name") or "unknown", view["tool_call_id"]
            part = ToolReturnPart(name, view["content"], own, outcome="interrupted")
            return ModelRequest([part])
        return ModelRequest([UserPromptPart(view["content"])])


def _view(part: Any) -> View:  # noqa: ANN401 - parts of every kind
    """Return the view of a part of a request."""
    kind = part.part_kind
    if _is_standing(part):
        return {"role": "system", "content": _text(part)}
    if kind == "user-prompt":
        content = part.content
        is_text = isinstance(content, str)
        return {"role": "user", "content": content if is_text else [_block(it) for it in content]}
    if kind == "tool-return":
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": _result(part)}
    if kind == "retry-prompt" and part.tool_name:
        text = part.model_response()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
    if kind in {"retry-prompt", "retry-feedback"}:
        return {"role": "user", "content": part.model_response()}
    if kind == "speech":
        return {"role": "user", "content": part.content}
    raise refuse(part, expected="a part of Pydantic AI's ModelRequest")


def _answer(parts: Sequence[Any]) -> View:
    """Return the view of what the model said."""
    content: list[View] = []
    calls: list[tuple[str, str, str]] = []
    thinking: list[View] = []
    for part in parts:
        kind = part.part_kind
        if kind in {"text", "speech"}:
            content.append({"type": "text", "text": part.content})
        elif kind == "tool-call":
            calls.append((part.tool_call_id, part.tool_name, part.args_as_json_str()))
        elif _is_bound(part):
            block = {"type": "thinking", "thinking": part.content, "signature": part.signature}
            thinking.append(block)
        elif kind == "thinking":
            content.append({"type": "reasoning", "text": part.content})
        elif kind == "file":
            content.append(_block(part.content))
        elif kind in SERVER_TOOLS:
            content.append({"type": kind, "text": _text(part)})
        else:
            raise refuse(part, expected="a part of Pydantic AI's ModelResponse")
    view: View = {"role": "assistant", "content": content or None}
    if calls:
        view["tool_calls"] = calls_view(calls)
    if thinking:
        view["thinking_blocks"] = thinking
    return view


def _edit(part: Any, before: View, after: View) -> Any:  # noqa: ANN401 - parts of every kind
    """Return a part with the content of its view after an edit."""
    if before is after:
        return part
    raw = part.content if part.part_kind == "user-prompt" else _items(part)
    content = content_after(raw, before["content"], after["content"])
    if isinstance(content, list):
        content = [block["text"] if isinstance(block, dict) else block for block in content]
    return replace(part, content=content)


def _items(part: Any) -> Any:  # noqa: ANN401 - parts of every kind
    """Return the texts and files of a result; its text if it has no files."""
    if part.part_kind != "tool-return":
        return part.model_response()
    if part.files:
        return part.content_items(mode="str", wrap_if_error=False)
    return part.model_response_str(wrap_if_error=False)


def _result(part: Any) -> str | list[View]:  # noqa: ANN401 - a ToolReturnPart of any content
    items = _items(part)
    return items if isinstance(items, str) else [_block(item) for item in items]


def _block(item: Any) -> View:  # noqa: ANN401 - texts, files and marks
    """Return the block of a text or a file; the bytes of a file are not part of it."""
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, TextContent):
        return {"type": "text", "text": item.content}
    if isinstance(item, CachePoint):
        return {"type": item.kind}
    if isinstance(item, ImageUrl):
        return {"type": "image_url", "image_url": {"url": item.url}}
    name = item.identifier
    if isinstance(item, BinaryContent) and item.is_image:
        return {"type": "image_url", "image_url": {"url": name}}
    return {"type": "file", "file": {"filename": name}}


def _text(part: Any) -> str:  # noqa: ANN401 - parts of every kind
    """Return the text of a part that is never edited."""
    if hasattr(part, "args_as_json_str"):
        return str(part.args_as_json_str())
    if hasattr(part, "model_response_str"):
        return str(part.model_response_str())
    content = getattr(part, "content", None)
    return content if isinstance(content, str) else ""


def _is_standing(part: Any) -> bool:  # noqa: ANN401 - parts of every kind
    return part.part_kind in STANDING or getattr(part, "tool_kind", None) in STANDING_TOOLS


def _is_bound(part: Any) -> bool:  # noqa: ANN401 - parts of every kind
    """Return whether a part is thinking that is bound to what was sent before it."""
    if part.part_kind != "thinking" or not part.signature:
        return False
    written = str((part.provider_details or {}).get("format", ""))
    return part.provider_name in BINDING_PROVIDERS or written.startswith("anthropic")

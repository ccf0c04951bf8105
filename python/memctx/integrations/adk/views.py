"""Views of contents whose thoughts are bound to what was sent before them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.genai import types

from memctx.bridge import View, Views, calls_view, content_after, refuse
from memctx.errors import MessageFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUTS = ("result", "output", "error")
"""Names of the only field of a response that is text."""


class ContentViews(Views[types.Content]):
    """Views of Gemini's contents: one of what was said, and one for each function response."""

    def view(self, message: types.Content) -> list[View]:
        """Return the views of a content."""
        if not isinstance(message, types.Content):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refuse(message, expected="a Content of google.genai")
        parts = message.parts or []
        said = [_block(part) for part in parts if _is_said(part)]
        if message.role == "model":
            view: View = {"role": "assistant", "content": said or None}
            if calls := [part.function_call for part in parts if part.function_call]:
                view["tool_calls"] = calls_view(
                    (_id(call.id), call.name or "", _dump(call.args or {})) for call in calls
                )
            if thinking := [_thinking(part) for part in parts if part.thought]:
                view["thinking_blocks"] = thinking
            return [view]
        views: list[View] = [
            {"role": "tool", "tool_call_id": _id(answer.id), "content": _text(answer.response)}
            for part in parts
            if (answer := part.function_response)
        ]
        return [*views, {"role": "user", "content": said}] if said or not views else views

    def rebuild(
        self, message: types.Content, changes: Sequence[tuple[View, View]]
    ) -> types.Content:
        """Return a copy with other results or another text, or without thoughts."""
        parts = message.parts or []
        if message.role == "model":
            [(before, after)] = changes
            if "thinking_blocks" in before and "thinking_blocks" not in after:
                parts = [part for part in parts if not part.thought]
            return message.model_copy(update={"parts": parts})
        answers = {
            part.function_response.id: part for part in parts if part.function_response is not None
        }
        said = [part for part in parts if _is_said(part)]
        made: list[types.Part] = []
        for before, after in changes:
            if before["role"] == "tool":
                made.append(_answer(answers[before["tool_call_id"]], before, after))
            else:
                content = content_after(said, before["content"], after["content"])
                made += [_part(block) for block in content]
        return message.model_copy(update={"parts": made})

    def make(self, view: View) -> types.Content:
        """Return recalled text as a content of the user, or the response to a call that had none."""
        if view["role"] == "tool":
            answer = types.FunctionResponse(
                id=view["tool_call_id"], name="unknown", response={"error": view["content"]}
            )
            return types.Content(role="user", parts=[types.Part(function_response=answer)])
        return types.Content(role="user", parts=[types.Part(text=view["content"])])


def _is_said(part: types.Part) -> bool:
    return not (part.thought or part.function_call or part.function_response)


def _block(part: types.Part) -> dict[str, Any]:
    """Return the block of a view: text, or a placeholder for the bytes that the part keeps."""
    if part.text is not None:
        return {"type": "text", "text": part.text}
    held = part.inline_data or part.file_data
    kind = (held.mime_type if held is not None else None) or "application/octet-stream"
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,"}}
    return {"type": "file", "file": {"filename": kind}}


def _part(block: types.Part | dict[str, Any]) -> types.Part:
    return block if isinstance(block, types.Part) else types.Part(text=block["text"])


def _thinking(part: types.Part) -> dict[str, Any]:
    signature = (part.thought_signature or b"").decode("utf-8", "replace")
    return {"type": "thinking", "thinking": part.text or "", "signature": signature}


def _answer(part: types.Part, before: View, after: View) -> types.Part:
    """Return the part of a response, with another text if it was edited."""
    if before is after or part.function_response is None:
        return part
    response = {"result": after["content"]}
    return part.model_copy(
        update={
            "function_response": part.function_response.model_copy(update={"response": response})
        }
    )


def _text(response: dict[str, Any] | None) -> str:
    """Return the text of a response: that of its only field, or all of it in JSON."""
    fields = response or {}
    [(name, only)] = fields.items() if len(fields) == 1 else [("", None)]
    return only if name in OUTPUTS and isinstance(only, str) else _dump(fields)


def _id(own: str | None) -> str:
    if not own:
        raise MessageFormatError("a function call has no id; expected the model's or ADK's")
    return own


def _dump(fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False, default=str)

"""Messages of every format, written as its provider's documentation has them."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]

FORMATS = ("anthropic", "openai", "responses", "gemini", "bedrock", "pi")
# Shapes in which results are blocks of the user's message that follows the calls.
IN_BLOCKS = ("anthropic", "gemini", "bedrock")


def user(text: str, format: str) -> Message:
    if format == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    if format == "bedrock":
        return {"role": "user", "content": [{"text": text}]}
    if format == "responses":
        return {"role": "user", "content": [{"type": "input_text", "text": text}]}
    if format == "anthropic":
        return {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"role": "user", "content": text}


def assistant(text: str, format: str) -> Message:
    if format == "gemini":
        return {"role": "model", "parts": [{"text": text}]}
    if format == "bedrock":
        return {"role": "assistant", "content": [{"text": text}]}
    if format == "responses":
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": "assistant", "content": content}
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def calls(ids: list[str], format: str, text: str = "") -> list[Message]:
    """Return the model's calls: one message, or an item each."""
    if format == "responses":
        said = [assistant(text, format)] if text else []
        call = {"type": "function_call", "name": "read", "arguments": "{}"}
        return [*said, *({**call, "call_id": one} for one in ids)]
    if format == "openai":
        function = {"name": "read", "arguments": "{}"}
        asked = [{"id": one, "type": "function", "function": function} for one in ids]
        return [{"role": "assistant", "content": text or None, "tool_calls": asked}]
    blocks = {
        "anthropic": lambda call: {"type": "tool_use", "id": call, "name": "read", "input": {}},
        "gemini": lambda call: {"functionCall": {"id": call, "name": "read", "args": {}}},
        "bedrock": lambda call: {"toolUse": {"toolUseId": call, "name": "read", "input": {}}},
        "pi": lambda call: {"type": "toolCall", "id": call, "name": "read", "arguments": {}},
    }[format]
    message = assistant(text, format)
    field = "parts" if format == "gemini" else "content"
    message[field] = [*(message[field] if text else []), *map(blocks, ids)]
    return [message]


def result_block(id: str, text: str, format: str) -> Message:
    """Return a result for the formats that have them as blocks."""
    if format == "gemini":
        return {"functionResponse": {"id": id, "name": "read", "response": {"output": text}}}
    if format == "bedrock":
        return {"toolResult": {"toolUseId": id, "content": [{"text": text}], "status": "success"}}
    return {"type": "tool_result", "tool_use_id": id, "content": text}


def results(ids: list[str], format: str, said: str = "", text: str = "done") -> list[Message]:
    """Return the results of tools: one message, or one each; ``said`` is the user's text."""
    if format in IN_BLOCKS:
        field = "parts" if format == "gemini" else "content"
        blocks = [result_block(one, text, format) for one in ids]
        more = user(said, format)[field] if said else []
        return [{"role": "user", field: [*blocks, *more]}]
    one = {
        "openai": lambda call: {"role": "tool", "tool_call_id": call, "content": text},
        "responses": lambda call: {"type": "function_call_output", "call_id": call, "output": text},
        "pi": lambda call: {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": "read",
            "content": [{"type": "text", "text": text}],
            "isError": False,
        },
    }[format]
    return [*map(one, ids), *([user(said, format)] if said else [])]

"""Message formats: one `Format` record for each provider, which readers, editors and planners consult."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FormatName: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]
"""Name of a message format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Result of a call, before it is written in a format."""

    call_id: str | None
    name: str | None
    """Name of the tool."""
    text: str
    is_error: bool = False
    kind: str = "function_call"
    """Type of the item with the call, where calls are items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Rules and spellings of one provider's messages."""

    name: FormatName
    tool_call: Callable[[str, str, dict[str, Any]], dict[str, Any]]
    """Function that returns the message of a call from its id, the name of the tool and the arguments."""
    tool_result: Callable[[ToolResult], dict[str, Any]]
    """Function that returns the message of a result."""

    roles_alternate: bool = False
    """True if neighbors of one role are refused."""
    begins_with_user: bool = False
    """True if the first message must be the user's."""
    assistant_role: str = "assistant"

    content_field: str = "content"
    """Field that holds the blocks of a message."""
    plain_text: bool = True
    """True if the content of a message may be a string."""
    message_type: str | None = None
    """Type of an item that is a message, where messages are items among others."""
    text_type: str | None = "text"
    """Type of a user's block of text; None where blocks have no type."""
    assistant_text_type: str | None = None
    """Type of an assistant's block of text, where it is another."""
    empty_content_is_null: bool = False
    """True if content without blocks is null instead of an empty list."""
    has_timestamps: bool = False
    summary_role: str | None = None
    """Role of a message that holds a summary, where it is not the user's."""
    has_user_commands: bool = False
    """True if a result may be the output of a command that the user ran, and answer no call."""

    calls_field: str | None = None
    """Field of a message that holds its calls, where they are no blocks."""
    results_in_blocks: bool = False
    """True if a result is a block of a user's message rather than a message."""
    result_type: str | None = None
    """Type of a block that is a result."""
    result_fields: tuple[str, ...] = ()
    """Fields of a block, any of which holds a result."""
    ignores_block_type: bool = False
    """True if a block is known by its fields even if it has a type."""
    result_roles: frozenset[str] = frozenset()
    """Roles of messages that are results."""
    result_type_suffix: str | None = None
    """Ending of the type of an item that is a result."""
    output_field: str = "content"
    """Field with the text of a message that is a result."""
    flags_errors: bool = True
    """True if a result says that the tool failed."""

    reasoning_type: str | None = None
    """Type of an item that is nothing but reasoning."""
    signed_fields: tuple[str, ...] = ()
    """Fields of a message with signed thinking beside its content."""


def _anthropic_call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id, "name": name, "input": arguments}
    return {"role": "assistant", "content": [block]}


def _anthropic_result(result: ToolResult) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
    error = {"is_error": True} if result.is_error else {}
    return {"role": "user", "content": [{**block, **error}]}


def _openai_call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _openai_result(result: ToolResult) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": result.call_id, "content": result.text}


def _responses_call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": id,
        "name": name,
        "arguments": json.dumps(arguments),
    }


def _responses_result(result: ToolResult) -> dict[str, Any]:
    item: dict[str, Any] = {"type": f"{result.kind}_output", "call_id": result.call_id}
    if result.kind == "shell_call":
        streams = ("", result.text) if result.is_error else (result.text, "")
        outcome = {"type": "exit", "exit_code": int(result.is_error)}
        output = {"stdout": streams[0], "stderr": streams[1], "outcome": outcome}
        return {**item, "output": [output]}
    if result.kind == "apply_patch_call":
        item["status"] = "failed" if result.is_error else "completed"
    return {**item, "output": result.text}


def _gemini_call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"id": id, "name": name, "args": arguments}
    return {"role": "model", "parts": [{"functionCall": call}]}


def _gemini_result(result: ToolResult) -> dict[str, Any]:
    output = {"error" if result.is_error else "output": result.text}
    response = {"name": result.name or "unknown", "response": output}
    response = {"id": result.call_id, **response} if result.call_id else response
    return {"role": "user", "parts": [{"functionResponse": response}]}


def _bedrock_call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    use = {"toolUseId": id, "name": name, "input": arguments}
    return {"role": "assistant", "content": [{"toolUse": use}]}


def _bedrock_result(result: ToolResult) -> dict[str, Any]:
    answer = {"toolUseId": result.call_id, "content": [{"text": result.text}]}
    error = {"status": "error"} if result.is_error else {}
    return {"role": "user", "content": [{"toolResult": {**answer, **error}}]}


def _pi_call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    block = {"type": "toolCall", "id": id, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block]}


def _pi_result(result: ToolResult) -> dict[str, Any]:
    answer = {
        "role": "toolResult",
        "toolCallId": result.call_id,
        "toolName": result.name or "unknown",
    }
    return {
        **answer,
        "content": [{"type": "text", "text": result.text}],
        "isError": result.is_error,
    }


ANTHROPIC = Format(
    name="anthropic",
    tool_call=_anthropic_call,
    tool_result=_anthropic_result,
    begins_with_user=True,
    results_in_blocks=True,
    result_type="tool_result",
)
OPENAI = Format(
    name="openai",
    tool_call=_openai_call,
    tool_result=_openai_result,
    empty_content_is_null=True,
    calls_field="tool_calls",
    result_roles=frozenset({"tool", "function"}),
    flags_errors=False,
    signed_fields=("thinking_blocks", "reasoning_details"),
)
RESPONSES = Format(
    name="responses",
    tool_call=_responses_call,
    tool_result=_responses_result,
    plain_text=False,
    message_type="message",
    text_type="input_text",
    assistant_text_type="output_text",
    result_type_suffix="_output",
    output_field="output",
    flags_errors=False,
    reasoning_type="reasoning",
)
GEMINI = Format(
    name="gemini",
    tool_call=_gemini_call,
    tool_result=_gemini_result,
    roles_alternate=True,
    begins_with_user=True,
    assistant_role="model",
    content_field="parts",
    plain_text=False,
    text_type=None,
    results_in_blocks=True,
    result_fields=("functionResponse", "function_response"),
    ignores_block_type=True,
)
BEDROCK = Format(
    name="bedrock",
    tool_call=_bedrock_call,
    tool_result=_bedrock_result,
    roles_alternate=True,
    begins_with_user=True,
    plain_text=False,
    text_type=None,
    results_in_blocks=True,
    result_fields=("toolResult",),
)
PI = Format(
    name="pi",
    tool_call=_pi_call,
    tool_result=_pi_result,
    has_timestamps=True,
    summary_role="compactionSummary",
    has_user_commands=True,
    result_roles=frozenset({"toolResult", "tool", "bashExecution"}),
)

FORMATS: Mapping[str, Format] = {
    each.name: each for each in (OPENAI, RESPONSES, ANTHROPIC, GEMINI, BEDROCK, PI)
}
"""Every format by its name."""

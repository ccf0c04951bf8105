"""Message formats: one `Format` record for each provider, which readers, editors and planners consult."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

FormatName: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]
"""Name of a message format."""

MISSING = _core.MISSING_RESULT


class MissingResult(Protocol):
    """Builder of the message that answers a call without a result."""

    def __call__(self, call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:
        """Return an error, so that no model takes it for a result; ``kind`` is the type of the item with the call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Rules and spellings of one provider's messages."""

    name: FormatName
    missing_result: MissingResult

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


def _missing_in_anthropic(call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:  # noqa: ARG001
    block = {"type": "tool_result", "tool_use_id": call_id, "content": MISSING, "is_error": True}
    return {"role": "user", "content": [block]}


def _missing_in_openai(call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:  # noqa: ARG001
    return {"role": "tool", "tool_call_id": call_id, "content": MISSING}


def _missing_in_responses(call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:  # noqa: ARG001
    item: dict[str, Any] = {"type": f"{kind}_output", "call_id": call_id}
    if kind == "shell_call":
        outcome = {"type": "exit", "exit_code": 1}
        return {**item, "output": [{"stdout": "", "stderr": MISSING, "outcome": outcome}]}
    if kind == "apply_patch_call":
        item["status"] = "failed"
    return {**item, "output": MISSING}


def _missing_in_gemini(call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:  # noqa: ARG001
    response = {"name": name or "unknown", "response": {"error": MISSING}}
    response = {"id": call_id, **response} if call_id else response
    return {"role": "user", "parts": [{"functionResponse": response}]}


def _missing_in_bedrock(call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:  # noqa: ARG001
    result = {"toolUseId": call_id, "content": [{"text": MISSING}], "status": "error"}
    return {"role": "user", "content": [{"toolResult": result}]}


def _missing_in_pi(call_id: str | None, name: str | None, kind: str) -> dict[str, Any]:  # noqa: ARG001
    answer = {"role": "toolResult", "toolCallId": call_id, "toolName": name or "unknown"}
    return {**answer, "content": [{"type": "text", "text": MISSING}], "isError": True}


ANTHROPIC = Format(
    name="anthropic",
    missing_result=_missing_in_anthropic,
    begins_with_user=True,
    results_in_blocks=True,
    result_type="tool_result",
)
OPENAI = Format(
    name="openai",
    missing_result=_missing_in_openai,
    empty_content_is_null=True,
    calls_field="tool_calls",
    result_roles=frozenset({"tool", "function"}),
    flags_errors=False,
    signed_fields=("thinking_blocks", "reasoning_details"),
)
RESPONSES = Format(
    name="responses",
    missing_result=_missing_in_responses,
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
    missing_result=_missing_in_gemini,
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
    missing_result=_missing_in_bedrock,
    roles_alternate=True,
    begins_with_user=True,
    plain_text=False,
    text_type=None,
    results_in_blocks=True,
    result_fields=("toolResult",),
)
PI = Format(
    name="pi",
    missing_result=_missing_in_pi,
    has_timestamps=True,
    result_roles=frozenset({"toolResult", "tool", "bashExecution"}),
)

FORMATS: Mapping[str, Format] = {
    each.name: each for each in (ANTHROPIC, OPENAI, RESPONSES, GEMINI, BEDROCK, PI)
}
"""Every format by its name."""

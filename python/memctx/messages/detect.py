"""Which host a list of messages comes from, told by the first message that only one of them writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape: TypeAlias = Literal["anthropic", "openai", "responses", "pi"]

PI_ROLES = frozenset({"toolResult", "bashExecution", "branchSummary", "compactionSummary"})
OPENAI_ROLES = frozenset({"tool", "function"})
BLOCKS: dict[str, Shape] = {
    "toolCall": "pi",
    "input_text": "responses",
    "output_text": "responses",
    "input_image": "responses",
    "input_file": "responses",
    "image_url": "openai",
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "server_tool_use": "anthropic",
    "mcp_tool_use": "anthropic",
}


def detect(messages: Sequence[Any]) -> Shape:
    """The shape of a list of messages; ``"anthropic"`` where all shapes would read it alike."""
    for message in messages:
        if shape := _told_by(part.unwrapped(message)):
            return shape
    return "anthropic"


def _told_by(message: object) -> Shape | None:
    role, kind = part.text(message, "role"), part.text(message, "type")
    if role is None:
        return _told_by_item(message, kind)
    if role in PI_ROLES or (role == "custom" and part.text(message, "customType")):
        return "pi"
    if (
        role in OPENAI_ROLES
        or part.get(message, "tool_calls")
        or part.get(message, "function_call")
    ):
        return "openai"
    kinds = (part.text(block, "type") for block in part.items(part.get(message, "content")))
    return next((BLOCKS[kind] for kind in kinds if kind in BLOCKS), None)


def _told_by_item(message: object, kind: str | None) -> Shape | None:
    """What has no role is an item of the Responses API or a line of Pi's session file."""
    if kind is None:
        return None
    if part.text(message, "summary") or part.text(message, "customType"):
        return "pi"
    if kind in {"reasoning", "item_reference"} or kind.endswith(("_call", "_call_output")):
        return "responses"
    return None

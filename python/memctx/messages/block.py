"""What the blocks of a message are, in each shape: text, thinking, results; and how a block of text is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.messages import part
from memctx.messages.altered import alike

if TYPE_CHECKING:
    from collections.abc import Sequence

# The field that holds the blocks of a message, where it is not "content".
FIELDS = {"gemini": "parts"}
# The type that a block of text says it has; a block of the other shapes is told by its fields.
TEXT_TYPES = {
    "anthropic": "text",
    "openai": "text",
    "responses": "input_text",
    "pi": "text",
}
TEXTS = frozenset({"text", "input_text", "output_text"})
THINKING = frozenset({"thinking", "redacted_thinking"})
# Where a block of shapes without types holds its result, in JSON's spelling and in the SDK's.
RESULTS = {
    "gemini": ("functionResponse", "function_response"),
    "bedrock": ("toolResult",),
}


def field_of(shape: str) -> str:
    """The field that holds the blocks of a message."""
    return FIELDS.get(shape, "content")


def blocks_of(message: object, shape: str) -> list[object]:
    """The blocks of a message; text that is no list is one block."""
    content = part.get(message, field_of(shape))
    if isinstance(content, str):
        block = text_block(content, shape)
        if shape == "responses" and part.text(message, "role") == "assistant":
            block = {"type": "output_text", "text": content}
        return [block] if content else []
    return [] if content is None else list(part.blocks(content))


def text_block(text: str, shape: str, beside: Sequence[object] = ()) -> object:
    """A block of text, written as those beside it are."""
    kind = TEXT_TYPES.get(shape)
    fields: dict[str, object] = {"type": kind, "text": text} if kind else {"text": text}
    return alike(beside[0], fields) if beside else fields


def text_in(block: object, shape: str) -> str | None:
    """The text of a block of text; None for any other."""
    if isinstance(block, str):
        return block
    if shape in TEXT_TYPES and part.text(block, "type") not in TEXTS:
        return None
    return None if is_thinking(block, shape) else part.text(block, "text")


def is_thinking(block: object, shape: str) -> bool:
    """Whether a block is the model's reasoning."""
    if shape == "gemini":
        return part.get(block, "thought") is True
    if shape == "bedrock":
        return part.get(block, "reasoningContent") is not None
    return part.text(block, "type") in THINKING


def result_field(block: object, shape: str) -> str | None:
    """The field of a block that holds a tool's result; "" if the block is the result itself, None if there is none."""
    if shape == "anthropic":
        return "" if part.text(block, "type") == "tool_result" else None
    for name in RESULTS.get(shape, ()):
        result = part.get(block, name)
        # A provider's own tool answers in the model's message.
        if result is not None and not (part.text(result, "type") or "").endswith("_tool_result"):
            return name
    return None


def is_result(block: object, shape: str) -> bool:
    """Whether a block is or holds the result of a tool that the host ran."""
    return result_field(block, shape) is not None


def results_of(message: object, shape: str) -> list[object]:
    """The blocks of a message that are or hold results."""
    return [block for block in blocks_of(message, shape) if is_result(block, shape)]


def says_something(block: object) -> bool:
    """Whether a block means anything alone."""
    return part.get(block, "cachePoint") is None

"""Blocks of a message in each format: text, thinking, results.

Hosts take over each other's blocks, so a result is known by its own spelling, whatever format carries it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.messages import part
from memctx.messages.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = frozenset(
    kind for each in FORMATS.values() for kind in (each.text_type, each.assistant_text_type) if kind
)
THINKING = frozenset({"thinking", "redacted_thinking"})
# Type of a block that is a result, or field of a block without a type that holds one.
RESULTS = tuple(
    name
    for each in FORMATS.values()
    for name in (each.result_type, *each.result_fields)
    if name is not None
)


def field_of(format: str) -> str:
    """Return the name of the field that holds the blocks of a message."""
    return FORMATS[format].content_field


def blocks_of(message: object, format: str) -> list[object]:
    """Return the blocks of a message; a plain text is one block."""
    content = part.get(message, field_of(format))
    if isinstance(content, str):
        block = text_block(content, format)
        kind = FORMATS[format].assistant_text_type
        if kind is not None and part.text(message, "role") == "assistant":
            block = {"type": kind, "text": content}
        return [block] if content else []
    return [] if content is None else list(part.blocks(content))


def text_block(text: str, format: str, neighbors: Sequence[object] = ()) -> object:
    """Return a block of text, written as its neighbors are."""
    kind = FORMATS[format].text_type
    fields: dict[str, object] = {"type": kind, "text": text} if kind else {"text": text}
    return part.make_like(neighbors[0], fields) if neighbors else fields


def text_in(block: object, format: str) -> str | None:
    """Return the text of a block of text; None for any other."""
    if isinstance(block, str):
        return block
    kind = part.text(block, "type")
    if kind is not None and FORMATS[format].text_type is not None and kind not in TEXTS:
        return None
    return None if is_thinking(block) else part.text(block, "text")


def is_thinking(block: object) -> bool:
    """Return whether a block is the model's reasoning, in any format's spelling."""
    return (
        part.text(block, "type") in THINKING
        or part.get(block, "thought") is True
        or part.get(block, "reasoningContent") is not None
    )


def result_field(block: object, format: str) -> str | None:
    """Return the field of a block that holds a tool's result; "" if the block is the result, None if there is none."""
    message_format = FORMATS[format]
    if not message_format.results_in_blocks:
        return None
    kind = part.text(block, "type")
    if kind in RESULTS:
        return "" if kind == "tool_result" or part.get(block, kind) is None else kind
    if kind is not None and not message_format.ignores_block_type:
        return None
    for name in RESULTS:
        result = part.get(block, name)
        # A provider's own tool answers in the model's message.
        if result is not None and not (part.text(result, "type") or "").endswith("_tool_result"):
            return name
    return None


def is_result(block: object, format: str) -> bool:
    """Return whether a block is or holds the result of a tool that the host ran."""
    return result_field(block, format) is not None


def results_of(message: object, format: str) -> list[object]:
    """Return the blocks of a message that are or hold results."""
    return [block for block in blocks_of(message, format) if is_result(block, format)]


def has_content(block: object) -> bool:
    """Return whether a block means anything alone, which a cache mark does not."""
    return part.get(block, "cachePoint") is None

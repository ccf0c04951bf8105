"""Texts, calls and results of a message, in every format, which a turn may remove but never invent or move.

Thinking is left out, since an edit before it makes it stale, and so are recalled blocks, which come and go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Piece: TypeAlias = tuple[str, str]
"""``text`` and the text, ``call`` or ``result`` and the id, or the name of anything else."""

_CALLS = {"tool_use": "id", "toolCall": "id", "function_call": "call_id"}
_RESULTS = {"tool_result": "tool_use_id", "function_call_output": "call_id"}
_THINKING = {"thinking", "redacted_thinking", "reasoning"}


def pieces(messages: Iterable[Any]) -> list[Piece]:
    """Return the pieces of a list of messages, in order."""
    return [piece for message in messages for piece in _message(message) if not _is_ours(piece)]


def all_pieces(messages: Iterable[Any]) -> list[Piece]:
    """Return the same with blocks."""
    return [piece for message in messages for piece in _message(message)]


def blocks(messages: Iterable[Any]) -> list[str]:
    """Return the recalled blocks of a list of messages, in order."""
    found = (piece for message in messages for piece in _message(message))
    return [piece[1] for piece in found if _is_ours(piece)]


def has_thinking(message: dict[str, Any]) -> bool:
    """Return True if there is thinking in a message, or it is nothing else."""
    content = message.get("content") or message.get("parts") or []
    inner = content if isinstance(content, list) else []
    return message.get("type") in _THINKING or any(
        block.get("type") in _THINKING or "reasoningContent" in block or block.get("thought")
        for block in inner
        if isinstance(block, dict)
    )


def _is_ours(piece: Piece) -> bool:
    return piece[0] == "text" and _core.is_block(piece[1])


def _message(message: dict[str, Any]) -> Iterator[Piece]:
    role, kind = message.get("role"), message.get("type")
    if kind in _CALLS or kind in _RESULTS or kind in _THINKING or role is None:
        yield from _block(message)
    elif role == "tool":
        yield "result", message["tool_call_id"]
    elif role == "toolResult":
        yield "result", message["toolCallId"]
    elif role in {"bashExecution", "compactionSummary"}:
        yield role, message.get("command") or message["summary"]
    else:
        yield from _content(message.get("content", message.get("parts")))
        for call in message.get("tool_calls") or ():
            yield "call", call["id"]


def _content(content: Any) -> Iterator[Piece]:
    if isinstance(content, str):
        yield "text", content
    else:
        for block in content or ():
            yield from _block(block)


def _block(block: dict[str, Any]) -> Iterator[Piece]:
    kind = block.get("type")
    if kind in _THINKING or block.get("thought") or "reasoningContent" in block:
        return
    if kind in _CALLS:
        yield "call", block[_CALLS[kind]]
    elif kind in _RESULTS:
        yield "result", block[_RESULTS[kind]]
    elif "functionCall" in block:
        yield "call", block["functionCall"]["id"]
    elif "functionResponse" in block:
        yield "result", block["functionResponse"]["id"]
    elif "toolUse" in block:
        yield "call", block["toolUse"]["toolUseId"]
    elif "toolResult" in block:
        yield "result", block["toolResult"]["toolUseId"]
    elif isinstance(block.get("text"), str):
        yield "text", block["text"]
    else:
        yield "other", kind or next(iter(block))

"""Signed thinking is stripped once what stood before it changed, whichever format carries it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

import memctx

if TYPE_CHECKING:
    from pathlib import Path

THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "b3BhcXVl"}
DETAILS = {
    "type": "reasoning.text",
    "text": "hm",
    "signature": "c2ln",
    "format": "anthropic-claude-v1",
}


def chat(number: int, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a call with thinking, its long result, and an answer."""
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": "{}"},
    }
    return [
        {"role": "user", "content": f"question {number} about the port"},
        {"role": "assistant", "content": None, **fields, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"port {number} " * 700},
        {"role": "assistant", "content": f"answer {number}"},
    ]


CARRIERS: dict[str, dict[str, Any]] = {
    "blocks in the content": {"content": [THINKING, {"type": "text", "text": "Reading."}]},
    "redacted blocks in the content": {"content": [REDACTED, {"type": "text", "text": "Reading."}]},
    "blocks and nothing else in the content": {"content": [THINKING]},
    "LiteLLM's field": {"thinking_blocks": [THINKING], "reasoning_content": "hm"},
    "LiteLLM's field, redacted": {"thinking_blocks": [REDACTED]},
    "OpenRouter's field": {"reasoning_details": [DETAILS]},
}


def has_thinking(message: Any) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return bool(
        message.get("thinking_blocks")
        or message.get("reasoning_details")
        or any("thinking" in block["type"] for block in blocks)
    )


@pytest.mark.parametrize("carrier", CARRIERS)
def test_stale_thinking_in_chat_messages_is_stripped_after_a_trim(
    carrier: str, tmp_path: Path
) -> None:
    said: list[dict[str, Any]] = []
    question = {"role": "user", "content": "and the port?"}
    with memctx.open(tmp_path, session_id="s", context_window=10_000, auto_recall=False) as memory:
        turn = memory.prepare([question])
        while not turn.report.trimmed:
            said += chat(len(said), CARRIERS[carrier])
            before = copy.deepcopy(said)
            turn = memory.prepare([*said, question])
            assert turn.report.format == "openai"
            assert said == before
    kept = [message for message in turn.messages if message.get("tool_calls")]
    assert kept
    assert not any(map(has_thinking, kept))
    assert all(message.get("content") != [] for message in kept)
    assert memctx.validate(turn.messages) == []


def test_thinking_stays_while_nothing_before_it_changes(tmp_path: Path) -> None:
    said = chat(0, CARRIERS["LiteLLM's field"])
    with memctx.open(tmp_path, session_id="s", context_window=100_000) as memory:
        turn = memory.prepare(said)
    assert turn.messages == said


def test_thinking_beside_its_text_is_counted_once(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s") as memory:
        both, one = (
            memory.prepare([{"role": "assistant", "content": "so", **fields}], format="openai")
            for fields in (
                {"thinking_blocks": [THINKING], "reasoning_content": "hm"},
                {"thinking_blocks": [THINKING]},
            )
        )
    assert both.report.tokens.before == one.report.tokens.before

"""The same short tool loop as four hosts write it: a question, a call, its failed result, an answer."""

from __future__ import annotations

from typing import Any

QUESTION = "Which port does the payment webhook listen on?"
ANSWER = "It listens on port 8443, says the configuration."
SYSTEM = {"role": "system", "content": "You are brief and to the point."}

ANTHROPIC: list[dict[str, Any]] = [
    SYSTEM,
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "secret thoughts", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "pay.toml"}},
            {"type": "tool_use", "id": "t2", "name": "bash", "input": {"command": "ss -lt"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "port = 8443"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": "no such command",
                "is_error": True,
            },
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]

CHAT: list[dict[str, Any]] = [
    SYSTEM,
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path":"a"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "port = 8443"},
    {"role": "assistant", "content": ANSWER},
]

RESPONSES: list[dict[str, Any]] = [
    SYSTEM,
    {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
    {"type": "reasoning", "id": "r1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path":"a"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "port = 8443"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
]

PI: list[dict[str, Any]] = [
    {"role": "compactionSummary", "summary": "The webhook was written.", "tokensBefore": 51_234},
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}}],
    },
    {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "read",
        "content": [{"type": "text", "text": "port = 8443"}],
        "isError": False,
    },
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]

"""Amazon Bedrock's Converse."""

from __future__ import annotations

from typing import Any

from memctx._core import MessageReader
from memctx.messages import Record, detect, read

CONVERSATION: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [
            {"text": "Which port?"},
            {"image": {"format": "png", "source": {"bytes": "iVBO"}}},
            {"document": {"format": "pdf", "name": "terms", "source": {"bytes": "JVBE"}}},
            {"document": {"format": "txt", "name": "notes", "source": {"text": "clause 4"}}},
            {"cachePoint": {"type": "default"}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "hidden", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": "b3BhcXVl"}},
            {"text": "Looking."},
            {"toolUse": {"toolUseId": "t1", "name": "read", "input": {"path": "支付.py"}}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "toolResult": {
                    "toolUseId": "t1",
                    "status": "error",
                    "content": [
                        {"text": "half of it"},
                        {"json": {"port": 8443}},
                        {"image": {"format": "png", "source": {"bytes": "iVBO"}}},
                    ],
                }
            },
            {"cachePoint": {"type": "default"}},
        ],
    },
    {"role": "assistant", "content": [{"citationsContent": {"content": [{"text": "8443."}]}}]},
]


def test_a_tool_loop_becomes_speech_and_tools() -> None:
    call = {"name": "read", "callId": "t1"}
    assert detect(CONVERSATION) == "bedrock"
    assert read(CONVERSATION) == [
        Record("user", "Which port?\n[image png]\n[document terms]\nclause 4"),
        Record("assistant", "Looking."),
        Record("tool", 'read {"path":"支付.py"}', None, {"tool": {**call, "kind": "call"}}),
        Record(
            "tool",
            'half of it\n{"port":8443}\n[image png]',
            None,
            {"tool": {**call, "kind": "result", "isError": True}},
        ),
        Record("assistant", "8443."),
    ]


def test_results_are_a_tools_and_belong_to_their_calls() -> None:
    conversation = MessageReader().read(CONVERSATION)
    assert conversation.roles == ["user", "assistant", "tool", "assistant"]
    assert conversation.units == [(0,), (1, 2), (3,)]


def test_a_message_of_text_alone_is_detected() -> None:
    assert detect([{"role": "user", "content": [{"text": "hi"}]}]) == "bedrock"

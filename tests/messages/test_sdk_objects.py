"""Objects of the real SDKs are understood as their dictionaries are."""

from __future__ import annotations

from typing import Any

import anthropic.types as anthropic
import pytest
from openai.types import chat, responses

import memctx
from memctx.messages import detect, read

USER = {"role": "user", "content": "Which port?"}
ANTHROPIC = anthropic.Message.model_validate(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "Reading.", "citations": None},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
)
CHAT = chat.ChatCompletionMessage.model_validate(
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        ],
    }
)
ITEMS: list[Any] = [
    responses.ResponseReasoningItem.model_validate(
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [],
            "encrypted_content": "x",
        }
    ),
    responses.ResponseFunctionToolCall.model_validate(
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "read",
            "arguments": "{}",
        }
    ),
]
ANSWER = responses.ResponseOutputMessage.model_validate(
    {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "8443", "annotations": []}],
    }
)
CONVERSATIONS: dict[str, list[Any]] = {
    "anthropic": [
        USER,
        ANTHROPIC,
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "8443"}],
        },
    ],
    "openai": [USER, CHAT, {"role": "tool", "tool_call_id": "c1", "content": "8443"}],
    "responses": [
        USER,
        *ITEMS,
        {"type": "function_call_output", "call_id": "c1", "output": "8443"},
        ANSWER,
    ],
}


def dumped(message: Any) -> Any:
    return message if isinstance(message, dict) else message.model_dump(exclude_none=True)


@pytest.mark.parametrize("format", CONVERSATIONS)
def test_objects_of_an_sdk_are_understood_as_their_dictionaries_are(format: str) -> None:
    said = CONVERSATIONS[format]
    assert detect(said) == format
    assert memctx.validate(said) == []
    assert memctx.repair(said).messages is said
    assert read(said) == read(list(map(dumped, said)))
    assert [record.role for record in read(said)][1:3] != []


@pytest.mark.parametrize("format", CONVERSATIONS)
def test_a_lost_result_of_an_sdks_object_is_made_up_as_a_dictionary(format: str) -> None:
    said = [
        message
        for message in CONVERSATIONS[format]
        if "8443" not in str(message) or message is ANSWER
    ]
    repaired = memctx.repair([*said, USER])
    assert [change.code for change in repaired.changes] == ["added-result"]
    (added,) = [
        message
        for message in repaired.messages
        if not any(message is each for each in [*said, USER])
    ]
    assert type(added) is dict

"""Rules of the loopback provider, which are those of the real ones: each is broken once."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from .anthropic_messages import AnthropicMessages, sign
from .api import Refused, Reply, Usage
from .gemini import Gemini
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses

if TYPE_CHECKING:
    from collections.abc import Callable

    from .api import Api, Body

    Break = Callable[[Body], object]

WINDOW = 4_000
LONG = "word " * 4_000


def anthropic_body() -> Body:
    asked: list[Body] = [{"role": "user", "content": "Read it."}]
    thought = {"type": "thinking", "thinking": "Hm.", "signature": sign(None, asked)}
    call = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "text"}
    return {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            *asked,
            {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}, call]},
            {"role": "user", "content": [result, {"type": "text", "text": "And now?"}]},
        ],
    }


def chat_body() -> Body:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    return {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Read it."}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "text"},
        ],
    }


def responses_body() -> Body:
    return {
        "model": "m",
        "input": [
            {"role": "user", "content": "Read it."},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "a",
                "name": "read",
                "arguments": "{}",
            },
            {"type": "function_call_output", "call_id": "a", "output": "text"},
        ],
    }


def gemini_body() -> Body:
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "Read it."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {}}}]},
        ]
    }


APIS: dict[str, tuple[Api, Callable[[], Body]]] = {
    "anthropic": (AnthropicMessages(), anthropic_body),
    "chat": (OpenAIChat(), chat_body),
    "responses": (OpenAIResponses(), responses_body),
    "gemini": (Gemini(), gemini_body),
}
MARK = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
CASES: list[tuple[str, str, Break]] = [
    ("anthropic", "max_tokens", lambda body: body.pop("max_tokens")),
    ("anthropic", "at least one", lambda body: body.update(messages=[])),
    ("anthropic", "first message", lambda body: body["messages"].pop(0)),
    ("anthropic", "unexpected role", lambda body: body["messages"][1].update(role="tool")),
    ("anthropic", "Extra inputs", lambda body: body["messages"][0].update(name="x")),
    ("anthropic", "Extra inputs", lambda body: body["messages"][2]["content"][1].update(id="x")),
    ("anthropic", "non-empty content", lambda body: body["messages"][2].update(content=[])),
    ("anthropic", "must be non-empty", lambda body: body["messages"][0].update(content=" ")),
    ("anthropic", "valid list", lambda body: body["messages"][0].update(content=None)),
    ("anthropic", "expected tags", lambda body: body["messages"][1]["content"].append({"type": "image"})),
    ("anthropic", "without `tool_result`", lambda body: body["messages"].pop()),
    ("anthropic", "without `tool_result`", lambda body: body["messages"][2]["content"].pop(0)),
    ("anthropic", "unexpected `tool_use_id`", lambda body: body["messages"][1]["content"].pop()),
    ("anthropic", "must come first", lambda body: body["messages"][2]["content"].reverse()),
    ("anthropic", "single result", lambda body: body["messages"][2]["content"].insert(0, body["messages"][2]["content"][0])),
    ("anthropic", "must be unique", lambda body: body["messages"].extend(body["messages"][1:])),
    ("anthropic", "should match pattern", lambda body: body["messages"][1]["content"][2].update(id="a b")),
    ("anthropic", "valid dictionary", lambda body: body["messages"][1]["content"][2].update(input="{}")),
    ("anthropic", "prefix_binding_mismatch", lambda body: body["messages"][0].update(content="Read!")),
    ("anthropic", "maximum of 4 blocks", lambda body: body["messages"][2]["content"].extend([MARK] * 5)),
    ("anthropic", "prompt is too long", lambda body: body["messages"].append({"role": "user", "content": LONG})),
    ("chat", "empty array", lambda body: body.update(messages=[])),
    ("chat", "Invalid value: 'model'", lambda body: body["messages"][0].update(role="model")),
    ("chat", "Invalid value: 'tool_result'", lambda body: body["messages"][1].update(content=[{"type": "tool_result"}])),
    ("chat", "empty array", lambda body: body["messages"][1].update(content=[])),
    ("chat", "got null", lambda body: body["messages"][1].update(content=None)),
    ("chat", "Invalid type", lambda body: body["messages"][1].update(content=5)),
    ("chat", "did not have response messages: a", lambda body: body["messages"].pop()),
    ("chat", "did not have response messages: a", lambda body: body["messages"].insert(3, body["messages"][1])),
    ("chat", "must be a response to a preceding", lambda body: body["messages"].pop(2)),
    ("chat", "tool_calls': empty array", lambda body: body["messages"][2].update(content="x", tool_calls=[])),
    ("chat", "must be a string", lambda body: body["messages"][2]["tool_calls"][0]["function"].update(arguments={})),
    ("chat", "maximum context length", lambda body: body["messages"].append({"role": "user", "content": LONG})),
    ("responses", "must be provided", lambda body: body.update(input=[])),
    ("responses", "Invalid value: 'tool'", lambda body: body["input"][3].update(type="tool")),
    ("responses", "Invalid value: 'tool'", lambda body: body["input"][0].update(role="tool")),
    ("responses", "empty array", lambda body: body["input"][0].update(content=[])),
    ("responses", "Invalid value: 'text'", lambda body: body["input"][0].update(content=[{"type": "text"}])),
    ("responses", "begins with 'fc'", lambda body: body["input"][2].update(id="x")),
    ("responses", "No tool output", lambda body: body["input"].pop()),
    ("responses", "No tool call found", lambda body: body["input"].pop(2)),
    ("responses", "Duplicate", lambda body: body["input"].append(body["input"][2])),
    ("responses", "required following item", lambda body: body["input"].append(body["input"].pop(1))),
    ("responses", "context window", lambda body: body["input"].append({"role": "user", "content": LONG})),
    ("gemini", "not specified", lambda body: body.update(contents=[])),
    ("gemini", "begin with a user turn", lambda body: body["contents"].pop(0)),
    ("gemini", "valid role", lambda body: body["contents"][2].update(role="tool")),
    ("gemini", "missing a thought_signature", lambda body: body.update(generationConfig={"thinkingConfig": {"includeThoughts": True}})),
    ("gemini", "must not be empty", lambda body: body["contents"][0].update(parts=[])),
    ("gemini", "oneof field", lambda body: body["contents"][0].update(parts=[{}])),
    ("gemini", "number of function response", lambda body: body["contents"].pop()),
    ("gemini", "after a function call turn", lambda body: body["contents"].pop(1)),
    ("gemini", "after a user turn", lambda body: body["contents"].insert(1, {"role": "model", "parts": [{"text": "x"}]})),
    ("gemini", "exceeds the maximum", lambda body: body["contents"].append({"role": "user", "parts": [{"text": LONG}]})),
]  # fmt: skip


@pytest.mark.parametrize("name", APIS)
def test_a_valid_request_is_accepted(name: str) -> None:
    api, make = APIS[name]
    assert api.check(make(), WINDOW) > 20
    assert api.asked(make()).is_result


@pytest.mark.parametrize(
    ("name", "words", "break_rule"),
    CASES,
    ids=[f"{name}: {words} ({number})" for number, (name, words, _) in enumerate(CASES)],
)
def test_a_request_that_breaks_a_rule_is_rejected(name: str, words: str, break_rule: Break) -> None:
    api, make = APIS[name]
    body = copy.deepcopy(make())
    break_rule(body)
    with pytest.raises(Refused) as refused:
        api.check(body, WINDOW)
    assert words in str(refused.value)
    assert str(refused.value) in str(api.refusal(str(refused.value)))


def test_items_that_follow_reasoning_are_rejected_without_it() -> None:
    api = OpenAIResponses(reasoning=True)
    body: dict[str, Any] = {"model": "m", "input": [{"role": "user", "content": "Read it."}]}
    answer = api.answer(body, Reply("Read."), Usage(10, 0), 1)
    body["input"] += answer["output"]
    assert api.check(body, WINDOW)
    del body["input"][1]
    with pytest.raises(Refused, match="required 'reasoning' item: 'rs_1'"):
        api.check(body, WINDOW)

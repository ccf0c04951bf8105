"""Regressions against OpenClaw's plugin: one test for each failure of its trim."""

from __future__ import annotations

from typing import Any

import pytest

from memctx import _core
from memctx.context import smart_trim

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def talk(count: int) -> list[Message]:
    return [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n} " * 20}
        for n in range(count)
    ]


def test_06_the_hosts_own_summary_stays_and_is_paid_for() -> None:
    """OpenClaw's plugin sees no text in a ``compactionSummary``, prices it at one token and removes it first."""
    summary = {
        "role": "compactionSummary",
        "summary": "All that was decided. " * 100,
        "tokensBefore": 9,
    }
    messages = [summary, *talk(20)]
    done = smart_trim(messages, "message 3", safe_limit=1200)
    assert done.kept[0] is summary
    assert done.trimmed
    conversation = _core.MessageReader().read(messages)
    assert conversation.message_tokens[0] > 700


def test_07_arguments_thinking_and_pictures_cost_something() -> None:
    """OpenClaw's plugin counts text blocks alone: a conversation of large calls is never too long for it."""
    calls = [
        {
            "role": "assistant",
            "content": [
                {
                    "type": "toolCall",
                    "id": f"c{n}",
                    "name": "write",
                    "arguments": {"text": "x" * 3000},
                }
            ],
        }
        for n in range(10)
    ]
    results = [{"role": "toolResult", "toolCallId": f"c{n}", "content": []} for n in range(10)]
    pairs = [message for pair in zip(calls, results, strict=True) for message in pair]
    done = smart_trim([user("write it"), *pairs, user("next")], "write it", safe_limit=5000)
    assert done.did_trim
    assert done.trimmed == pairs[: len(done.trimmed)]
    for block in (
        {"type": "thinking", "thinking": "hm " * 1000},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ):
        assert _core.MessageReader().read([{"role": "user", "content": [block]}]).tokens > 500


def pairs_of(format: str) -> tuple[Message, list[Message]]:
    """Return two calls, the answer to one, a word between, the answer to the other."""
    if format == "anthropic":
        asked = [{"type": "tool_use", "id": i, "name": "read", "input": {}} for i in "ab"]
        answers = [
            {"type": "tool_result", "tool_use_id": i, "content": "found " * 50} for i in "ab"
        ]
        return {"role": "assistant", "content": asked}, [
            {"role": "user", "content": [a]} for a in answers
        ]
    calls = [
        {"id": i, "type": "function", "function": {"name": "read", "arguments": "{}"}} for i in "ab"
    ]
    answers = [{"role": "tool", "tool_call_id": i, "content": "found " * 50} for i in "ab"]
    return {"role": "assistant", "tool_calls": calls}, answers


@pytest.mark.parametrize("format", ["anthropic", "openai"])
def test_08_calls_and_results_belong_together_by_id(format: str) -> None:
    """OpenClaw's plugin pairs neighbors: with a message between, the call goes and its second result stays behind."""
    call, (first, second) = pairs_of(format)
    between = user("a word between: the port is 8443")
    last, answers = pairs_of(format)
    messages = [user("go"), call, first, between, second, *talk(12), last, *answers]
    done = smart_trim(messages, "which port is it", safe_limit=1200)
    trimmed = [
        message
        for message in (call, first, second)
        if any(message is gone for gone in done.trimmed)
    ]
    assert trimmed == [call, first, second]
    assert any(kept is between for kept in done.kept)
    whole = smart_trim(messages, "found", safe_limit=1200).kept
    assert all(any(kept is message for kept in whole) for message in (call, first, second))


def test_08_the_last_calls_of_anthropic_stay_with_all_their_results() -> None:
    """OpenClaw's repair knows no ``tool_use`` and drops the results of it."""
    call, results = pairs_of("anthropic")
    messages = [user("go"), *talk(12), call, *results]
    done = smart_trim(messages, "message", safe_limit=300, protected_recent=0)
    assert list(done.kept[-3:]) == [call, *results]


def test_10_the_limit_is_the_callers() -> None:
    """OpenClaw's plugin, in one version, trims at 4,000 tokens whatever the model takes."""
    messages = talk(200)
    assert _core.MessageReader().read(messages).tokens > 12_000
    assert not smart_trim(messages, "message 3", safe_limit=100_000).did_trim

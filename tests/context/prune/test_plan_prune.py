"""The plan of a pruning, as Python sees it, carried out on messages."""

from __future__ import annotations

from typing import Any

import pytest

from memctx import ConfigError, _core
from memctx.config import PruningSettings
from memctx.messages import edit

Message = dict[str, Any]

# Arguments of a call rather than settings.
CALL = {"context_window", "sticky", "is_cold", "estimator"}


def conversation(*lengths: int, name: str = "read") -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": "go"}]
    for number, length in enumerate(lengths):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": name, "arguments": "{}"},
        }
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "x" * length})
    return [*messages, *({"role": "assistant", "content": "done"} for _ in range(3))]


def plan(messages: list[Message], **settings: Any) -> list[_core.Pruned]:
    call: dict[str, Any] = {"context_window": 1000}
    call |= {name: settings.pop(name) for name in CALL & settings.keys()}
    unchecked = PruningSettings()
    vars(unchecked).update({"mode": "adaptive", **settings})
    return _core.plan_prune(
        _core.MessageReader().read(messages),
        unchecked,
        **call,
    )


def carried_out(messages: list[Message], pruned: list[_core.Pruned]) -> list[Message]:
    sent = list(messages)
    for change in pruned:
        sent[change.message] = edit.replace_result(
            sent[change.message], change.ordinal, change.text, "openai"
        )
    return sent


def test_pruned_messages_are_pruned_no_further() -> None:
    messages = conversation(5000, 20_000, 100)
    for mode in ("adaptive", "aggressive"):
        pruned = plan(messages, mode=mode, min_prunable_tool_chars=1000)
        assert pruned
        assert plan(carried_out(messages, pruned), mode=mode, min_prunable_tool_chars=1000) == []


def test_forms_are_replayed_to_the_byte() -> None:
    messages = conversation(5000, 20_000, 100)
    first = plan(messages, mode="cache-ttl", is_cold=True)
    assert [(change.message, change.form) for change in first] == [(2, "soft"), (4, "soft")]
    sticky = {change.key: change.form for change in first}
    more = [*messages, {"role": "user", "content": "next"}]
    for settings in (
        {"mode": "cache-ttl"},
        {"context_window": 10**6},
        {"context_window": 1, "is_cold": True},
    ):
        again = plan(more, sticky=sticky, **settings)
        assert [change for change in again if change.key in sticky] == first
    assert plan(more, sticky=sticky, mode="off") == []


def test_pruned_messages_cost_what_the_reader_estimates() -> None:
    messages = conversation(5000)
    (change,) = plan(messages)
    before = _core.MessageReader().read(messages).tokens
    after = _core.MessageReader().read(carried_out(messages, [change])).tokens
    assert before - after == change.tokens_before - change.tokens_after


def test_tools_are_chosen_by_name() -> None:
    messages = conversation(5000, name="Read_File")
    assert plan(messages, allow=["read*"], deny=["bash"])
    assert not plan(messages, allow=["read*"], deny=["*FILE"])
    assert not plan(messages, allow=["bash"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"mode": "sometimes"},
            'mode must be "off", "cache-ttl", "adaptive" or "aggressive", not "sometimes"',
        ),
        ({"context_window": 0}, "context_window must be above 0, not 0"),
        (
            {"soft_trim_ratio": float("nan")},
            "soft_trim_ratio must be a share of the window, 0 or more, not NaN",
        ),
        ({"soft_trim_head_chars": -3}, "soft_trim_head_chars must be 0 or more, not -3"),
        (
            {"sticky": {1: "hard"}},
            'form must be "soft", "clear" or "soft:" and a number, not "hard"',
        ),
        ({"estimator": "words"}, 'estimator must be "utf16" or "script", not "words"'),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        plan(conversation(10), **settings)

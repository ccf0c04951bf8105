"""The plan of a trim, as Python sees it."""

from __future__ import annotations

from typing import Any

import pytest

from memctx import ConfigError, _core

Message = dict[str, Any]
MESSAGES: list[Message] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "set up the webhook"},
    {"role": "assistant", "content": "small talk"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "the port is 8443"},
]


def scanned(*more: Message) -> _core.Conversation:
    return _core.MessageReader().read([*MESSAGES, *more])


def test_a_trim_plan_lists_removed_units_and_reasons() -> None:
    conversation = scanned({"role": "user", "content": "which port?"})
    plan = _core.plan_trim(conversation, "which port?", limit=30, target=25, protected_recent=1)
    (removed,) = plan.removed
    assert (removed.unit, removed.messages, removed.layer) == (2, (2,), "relevance")
    assert (removed.key, removed.score) == (conversation.unit_keys[2], 0.0)
    assert removed.reason == "least relevant to the query"
    assert removed.tokens == conversation.message_tokens[2]
    assert plan.removed_messages == [2]
    assert dict(plan.protected) == {
        0: "system",
        1: "task",
        3: "last tool group",
        4: "same unit",
        5: "recent",
    }
    assert (plan.tokens_before, plan.tokens_after) == (
        conversation.tokens,
        conversation.tokens - removed.tokens,
    )
    assert not plan.is_deferred


def test_a_trim_waits_for_tools_and_remembers_removed_units() -> None:
    conversation = scanned()
    plan = _core.plan_trim(conversation, "port", limit=10, ceiling=10_000, protected_recent=0)
    assert plan.is_deferred
    assert plan.removed == []
    sticky = [conversation.unit_keys[2]]
    plan = _core.plan_trim(conversation, "port", limit=10_000, protected_recent=0, sticky=sticky)
    assert [(removed.messages, removed.layer) for removed in plan.removed] == [((2,), "sticky")]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"limit": -1}, "limit must be 0 or more, not -1"),
        ({"limit": 5, "target": 6}, "target must be at most the limit 5, not 6"),
        ({"limit": 5, "ceiling": -2}, "ceiling must be 0 or more, not -2"),
        ({"limit": 5, "pinned": [5]}, "index 5 is no message"),
        ({"limit": 5, "costs": [1, 2]}, "costs must have one item for each of 5 messages, not 2"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _core.plan_trim(scanned(), "port", **settings)

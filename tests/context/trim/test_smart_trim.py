"""`smart_trim` does what OpenClaw's plugin does in one call, but for its defects."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx
from memctx import ConfigError, MessageFormatError
from memctx.context import smart_trim

from . import openclaw

Message = dict[str, Any]
BLOCK = '<recalled-context source="memory-context">\n\n<knowledge>\n- [config] x\n</knowledge>\n\n</recalled-context>'


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def call(*ids: str, kind: str = "toolCall") -> Message:
    return {
        "role": "assistant",
        "content": [{"type": kind, "id": i, "name": "read", "arguments": {}} for i in ids],
    }


def result(call_id: str, text: str) -> Message:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": content}


def as_seed(
    messages: list[Message], query: str, limit: int, recent: int = 6
) -> memctx.context.SmartTrimmed[Message]:
    return smart_trim(
        messages,
        query,
        safe_limit=limit,
        protected_recent=recent,
        estimate=openclaw.estimate,
        protect_task=False,
    )


def test_smart_trim_at_the_limit_returns_the_same_list() -> None:
    messages = [user("x" * 30), assistant("y" * 30)]
    done = as_seed(messages, "query", 20)
    assert done.kept is messages
    assert (done.trimmed, done.did_trim) == ([], False)


def test_the_least_relevant_leaves_and_the_oldest_among_equals() -> None:
    messages = [
        user("apples and pears"),
        user("nuts and plums!!"),
        user("the port is 8443"),
        user("last"),
    ]
    total = sum(map(openclaw.estimate, messages))
    one = as_seed(messages, "which port", total - 1, recent=1)
    assert one.trimmed == messages[:1]
    two = as_seed(messages, "which port", total - 7, recent=1)
    assert two.trimmed == messages[:2]
    assert two.kept == messages[2:]


def test_results_of_tools_are_judged_and_not_counted_as_recent() -> None:
    messages = [
        user("look around"),
        call("a"),
        result("a", "nothing of use " * 10),
        call("b"),
        result("b", "the port is 8443 " * 10),
        call("c"),
        result("c", "newest " * 10),
        user("which port?"),
    ]
    done = as_seed(messages, "which port?", 120, recent=1)
    assert done.trimmed == [messages[0], messages[1], messages[2]]


def test_messages_without_text_are_removed_last() -> None:
    image = {
        "role": "user",
        "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
    }
    messages = [image, user("words words"), user("more words here"), user("end")]
    assert as_seed(messages, "unrelated", 7, recent=1).trimmed == [messages[1]]
    assert as_seed(messages, "unrelated", 2, recent=1).trimmed == messages[1:3]
    assert as_seed(messages, "unrelated", 1, recent=1).trimmed == messages[:3]


def test_system_prompts_recalled_blocks_and_the_last_group_stay() -> None:
    messages = [
        {"role": "system", "content": "be brief " * 20},
        user(BLOCK),
        call("a"),
        result("a", "old"),
        call("b"),
        result("b", "newest"),
        {"role": "system", "content": "be brief " * 20},
        user("next"),
    ]
    done = as_seed(messages, "query", 1, recent=1)
    assert done.trimmed == messages[2:4]
    assert done.did_trim


def test_a_summary_in_its_place_stays() -> None:
    summary = user("Summary\n<read-files>\na.py\n</read-files>")
    assert (
        summary in as_seed([user("hi"), summary, user("x"), user("end")], "query", 1, recent=1).kept
    )
    third = [
        {"role": "system", "content": "s"},
        {"role": "system", "content": "t"},
        summary,
        user("end"),
    ]
    assert summary in as_seed(third, "query", 1, recent=1).kept
    late = [user("hi"), user("x"), user("y"), summary, user("end")]
    assert summary in as_seed(late, "query", 1, recent=1).trimmed


def test_a_trim_reports_that_nothing_can_be_removed() -> None:
    messages = [user("x" * 300), assistant("y" * 300)]
    for _ in range(2):
        done = as_seed(messages, "query", 10)
        assert done.kept is messages
        assert (done.trimmed, done.did_trim) == ([], True)


def test_without_a_query_the_oldest_leave() -> None:
    messages = [user("first words"), user("second words"), user("last")]
    for query in ("", "ab"):
        assert as_seed(messages, query, 7, recent=1).trimmed == messages[:1]


def test_the_task_stays_unless_switched_off() -> None:
    messages = [user("the task " * 9), assistant("talk " * 9), user("end")]
    assert smart_trim(messages, "query", safe_limit=9, protected_recent=1).trimmed == messages[1:2]
    done = smart_trim(messages, "query", safe_limit=9, protected_recent=1, protect_task=False)
    assert done.trimmed == messages[:2]


def test_smart_trim_returns_the_same_objects_unchanged() -> None:
    messages = [user(f"message {number} " * 20) for number in range(20)]
    before = copy.deepcopy(messages)
    done = smart_trim(messages, "message 7", safe_limit=800)
    assert messages == before
    assert all(any(kept is message for message in messages) for kept in done.kept)
    assert any(kept is messages[7] for kept in done.kept)


@pytest.mark.parametrize("setting", [{"safe_limit": -1}, {"safe_limit": 1, "protected_recent": -1}])
def test_numbers_below_zero_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be 0 or more, not -1"):
        smart_trim([user("hi")], "query", **setting)


def test_smart_trim_refuses_values_that_are_no_list() -> None:
    with pytest.raises(MessageFormatError):
        smart_trim("hello", "query", safe_limit=1)
    with pytest.raises(ConfigError, match="must be 0 or more, not -5"):
        smart_trim([user("hi")], "query", safe_limit=1, estimate=lambda _: -5)


words = st.lists(st.sampled_from(["port", "webhook", "飞书", "the", "x_y", "ok"]), max_size=8).map(
    " ".join
)
plain = st.builds(
    lambda role, text: {"role": role, "content": text},
    st.sampled_from(["user", "assistant", "system"]),
    words,
)


@given(
    st.lists(plain, max_size=25),
    st.sampled_from(["port of the webhook", "飞书 port", "ok ok the", "nothing"]),
    st.integers(0, 120),
    st.integers(0, 8),
)
def test_smart_trim_keeps_what_openclaw_keeps(
    messages: list[Message], query: str, limit: int, recent: int
) -> None:
    done = as_seed(messages, query, limit, recent)
    assert done.kept == [messages[place] for place in openclaw.trim(messages, query, limit, recent)]
    again = as_seed(list(done.kept), query, limit, recent)
    assert again.trimmed == []

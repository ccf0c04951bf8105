"""Message objects that memory does not read are refused with their class and a remedy, and stay as they are."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.integrations

CALL = {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": '{"n": 1}'}}


def langchain_anthropic() -> list[Any]:
    lc = pytest.importorskip("langchain_core.messages")
    call = {"type": "tool_use", "id": "c1", "name": "read_log", "input": {"n": 1}}
    calls = [{"name": "read_log", "args": {"n": 1}, "id": "c1"}]
    return [
        lc.HumanMessage("Read log 1."),
        lc.AIMessage([call], tool_calls=calls),
        lc.ToolMessage("It is fine.", tool_call_id="c1"),
    ]


def langchain_openai() -> list[Any]:
    lc = pytest.importorskip("langchain_core.messages")
    calls = [{"name": "read_log", "args": {"n": 1}, "id": "c1"}]
    return [
        lc.HumanMessage("Read log 1."),
        lc.AIMessage("", tool_calls=calls),
        lc.ToolMessage("It is fine.", tool_call_id="c1"),
    ]


def llama_index() -> list[Any]:
    said = pytest.importorskip("llama_index.core.llms").ChatMessage
    return [
        said(role="user", content="Read log 1."),
        said(role="assistant", content="", additional_kwargs={"tool_calls": [CALL]}),
        said(role="tool", content="It is fine.", additional_kwargs={"tool_call_id": "c1"}),
    ]


def agent_framework() -> list[Any]:
    framework = pytest.importorskip("agent_framework")
    said, content = framework.Message, framework.Content
    return [
        said("user", [content.from_text("Read log 1.")]),
        said("assistant", [content.from_function_call("c1", "read_log", arguments='{"n": 1}')]),
        said("tool", [content.from_function_result("c1", result="It is fine.")]),
    ]


LISTS: dict[Callable[[], list[Any]], str] = {
    langchain_anthropic: "HumanMessage|AIMessage|ToolMessage",
    langchain_openai: "HumanMessage|AIMessage|ToolMessage",
    llama_index: "ChatMessage",
    agent_framework: "Message",
}


def plain(message: Any) -> Any:
    """Return everything that an object says of itself."""
    return message.to_dict() if hasattr(message, "to_dict") else message.model_dump()


@pytest.mark.parametrize("make", LISTS)
@pytest.mark.parametrize("job", ["prepare", "archive", "validate", "repair"])
def test_a_raw_object_is_refused_by_class_and_left_alone(
    make: Callable[[], list[Any]], job: str, tmp_path: Path
) -> None:
    messages = make()
    before = copy.deepcopy(list(map(plain, messages)))
    objects = list(messages)
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        jobs: dict[str, Callable[[list[Any]], object]] = {
            "prepare": memory.prepare,
            "archive": memory.archive,
            "validate": memctx.validate,
            "repair": memctx.repair,
        }
        with pytest.raises(memctx.MessageFormatError, match=LISTS[make]):
            jobs[job](messages)
    assert all(one is two for one, two in zip(messages, objects, strict=True))
    assert list(map(plain, messages)) == before

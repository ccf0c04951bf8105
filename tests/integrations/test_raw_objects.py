"""Message objects that memory does not read are refused with their class and a remedy, and stay as they are."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from agent_framework import Content, Message
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.llms import ChatMessage

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.integrations

CALL = {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": '{"n": 1}'}}
LISTS: dict[str, Callable[[], list[Any]]] = {
    "langchain anthropic": lambda: [
        HumanMessage("Read log 1."),
        AIMessage(
            [{"type": "tool_use", "id": "c1", "name": "read_log", "input": {"n": 1}}],
            tool_calls=[{"name": "read_log", "args": {"n": 1}, "id": "c1"}],
        ),
        ToolMessage("It is fine.", tool_call_id="c1"),
    ],
    "langchain openai": lambda: [
        HumanMessage("Read log 1."),
        AIMessage("", tool_calls=[{"name": "read_log", "args": {"n": 1}, "id": "c1"}]),
        ToolMessage("It is fine.", tool_call_id="c1"),
    ],
    "llama-index": lambda: [
        ChatMessage(role="user", content="Read log 1."),
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [CALL]}),
        ChatMessage(role="tool", content="It is fine.", additional_kwargs={"tool_call_id": "c1"}),
    ],
    "agent-framework": lambda: [
        Message("user", [Content.from_text("Read log 1.")]),
        Message("assistant", [Content.from_function_call("c1", "read_log", arguments='{"n": 1}')]),
        Message("tool", [Content.from_function_result("c1", result="It is fine.")]),
    ],
}
CLASSES = {
    "langchain": "HumanMessage|AIMessage|ToolMessage",
    "llama": "ChatMessage",
    "agent": "Message",
}


def plain(message: Any) -> Any:
    """Return everything that an object says of itself."""
    return message.to_dict() if isinstance(message, Message) else message.model_dump()


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("job", ["prepare", "archive", "validate", "repair"])
def test_a_raw_object_is_refused_by_class_and_left_alone(
    name: str, job: str, tmp_path: Path
) -> None:
    messages = LISTS[name]()
    before = copy.deepcopy(list(map(plain, messages)))
    objects = list(messages)
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        jobs: dict[str, Callable[[list[Any]], object]] = {
            "prepare": memory.prepare,
            "archive": memory.archive,
            "validate": memctx.validate,
            "repair": memctx.repair,
        }
        pattern = CLASSES[name.partition("-")[0].partition(" ")[0]]
        with pytest.raises(memctx.MessageFormatError, match=pattern):
            jobs[job](messages)
    assert all(one is two for one, two in zip(messages, objects, strict=True))
    assert list(map(plain, messages)) == before

"""The chat history for LangChain: exact, durable, and one for each session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables.history import RunnableWithMessageHistory

import memctx
from memctx.errors import ConfigError
from memctx.integrations.langchain import MemctxChatMessageHistory

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations

KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
CALLS: Any = [{"name": "read", "args": {"n": 1, "path": "日本"}, "id": "c1", "type": "tool_call"}]
USAGE: Any = {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17}
THINKING: Any = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage([{"type": "text", "text": f"key {KEY} \ud800"}], id="m1", name="alice"),
    AIMessage(
        [THINKING, {"type": "text", "text": "I look."}],
        tool_calls=CALLS,
        usage_metadata=USAGE,
        response_metadata={"model": "loopback"},
        additional_kwargs={"refusal": None},
        id="m2",
    ),
    ToolMessage("8443", tool_call_id="c1", status="error", artifact={"rows": [1, 2]}),
    AIMessageChunk("Port 8443.", id="m3"),
    ChatMessage("Right.", role="critic"),
]


def open_history(path: Path, session_id: str = "alice/../x") -> MemctxChatMessageHistory:
    return MemctxChatMessageHistory(path, session_id=session_id)


def test_messages_come_back_as_they_were_added(tmp_path: Path) -> None:
    history = open_history(tmp_path)
    assert history.messages == []
    history.add_messages(MESSAGES[:2])
    for message in MESSAGES[2:]:
        history.add_message(message)
    for opened in (history, open_history(tmp_path)):
        assert opened.messages == MESSAGES
        assert list(map(type, opened.messages)) == list(map(type, MESSAGES))
    assert [file.parent.name for file in tmp_path.rglob("*.jsonl")] == ["histories"]


def test_sessions_are_apart_and_cleared_alone(tmp_path: Path) -> None:
    alice, bob = open_history(tmp_path, "alice"), open_history(tmp_path, "bob")
    other = open_history(tmp_path, "alice")
    alice.add_user_message("Port 8443.")
    bob.add_ai_message("Coffee.")
    assert len(other.messages) == 1
    alice.clear()
    assert alice.messages == other.messages == []
    assert [each.text for each in bob.messages] == ["Coffee."]
    alice.add_user_message("Again.")
    assert [each.text for each in other.messages] == ["Again."]


def test_changes_of_messages_outside_do_not_reach_the_history(tmp_path: Path) -> None:
    history = open_history(tmp_path)
    history.add_user_message("Port 8443.")
    history.messages[0].content = "changed"
    history.messages.clear()
    assert history.messages == [HumanMessage("Port 8443.")]


def test_asynchronous_calls(tmp_path: Path) -> None:
    async def use() -> None:
        history = open_history(tmp_path)
        await history.aadd_messages(MESSAGES)
        assert await history.aget_messages() == MESSAGES
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(use())


def test_artifact_that_is_not_json_is_refused(tmp_path: Path) -> None:
    history = open_history(tmp_path)
    with pytest.raises(TypeError, match="not JSON serializable"):
        history.add_messages([MESSAGES[0], ToolMessage("x", tool_call_id="c", artifact=object())])
    assert history.messages == []


def test_session_is_that_of_an_open_memory(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s") as memory:
        MemctxChatMessageHistory(memory).add_user_message("Port 8443.")
        assert len(MemctxChatMessageHistory(tmp_path, session_id="s").messages) == 1
        with pytest.raises(ConfigError, match="memory is open"):
            MemctxChatMessageHistory(memory, redaction="off")
    with pytest.raises(ConfigError, match="session_id is missing"):
        MemctxChatMessageHistory(tmp_path)


def test_chain_with_history(tmp_path: Path) -> None:
    model = FakeMessagesListChatModel(responses=[AIMessage("Noted."), AIMessage("8443.")])
    for said in ("Port 8443.", "Which port?"):
        chain = RunnableWithMessageHistory(
            model, lambda session_id: MemctxChatMessageHistory(tmp_path, session_id=session_id)
        )
        chain.invoke([HumanMessage(said)], {"configurable": {"session_id": "alice"}})
    texts = [each.text for each in open_history(tmp_path, "alice").messages]
    assert texts == ["Port 8443.", "Noted.", "Which port?", "8443."]

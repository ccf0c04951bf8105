"""The middleware of LangChain: sessions, usage, long results, and what it does not understand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain.agents")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

import memctx
from memctx.integrations.langchain import MemctxMiddleware
from memctx.integrations.langchain.views import LangChainViews

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"


class Spy(AgentMiddleware[Any, Any, Any]):
    """Keeps the messages of every request."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[Any]] = []

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.sent.append(list(request.messages))
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self.sent.append(list(request.messages))
        return await handler(request)


class Fake(FakeMessagesListChatModel):
    """A model with scripted answers, which takes tools."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        del tools, options
        return self


def answers(*messages: AIMessage) -> Fake:
    return Fake(responses=list(messages) or [AIMessage("Noted.")])


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def test_threads_and_agents_have_sessions_of_their_own(tmp_path: Path) -> None:
    remembering, spy = MemctxMiddleware(tmp_path, context_window=16_000), Spy()
    agents = [
        create_agent(answers(), name=name, middleware=[remembering, spy]) for name in (None, "b")
    ]
    agents[0].invoke(said(STATED), thread("t1"))
    for agent, name in ((agents[0], "t1"), (agents[0], "t2"), (agents[1], "t1")):
        agent.invoke(said(QUESTION), thread(name))
    remembering.sessions.close()
    assert ["8443" in str(sent) for sent in spy.sent[1:]] == [True, False, False]
    with memctx.open(tmp_path, session_id="t1/b") as memory:
        assert [segment.content for segment in memory.store.segments()] == [QUESTION]


def test_conversation_without_a_thread_is_known_by_its_first_message(tmp_path: Path) -> None:
    remembering, spy = MemctxMiddleware(tmp_path, context_window=16_000), Spy()
    agent = create_agent(answers(), middleware=[remembering, spy])
    first = agent.invoke(said(STATED))["messages"]
    agent.invoke({"messages": [first[0], HumanMessage(QUESTION)]})
    agent.invoke(said(QUESTION))
    sessions = set(remembering.sessions._memories)  # noqa: SLF001 - the ids
    remembering.sessions.close()
    assert first[0].id in sessions
    assert len(sessions) == 2
    assert "8443" not in str(spy.sent[-1])


def test_usage_is_counted_and_the_last_answer_archived(tmp_path: Path) -> None:
    usage: Any = {"input_tokens": 1_234, "output_tokens": 5, "total_tokens": 1_239}
    model = answers(AIMessage("The codename is quokka-77.", usage_metadata=usage))
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        agent = create_agent(model, middleware=[MemctxMiddleware(memory)])
        asyncio.run(agent.ainvoke(said("Pick a codename."), thread("t")))
        assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1_234, 5)
        assert "The codename is quokka-77." in [each.content for each in memory.store.segments()]


def test_result_that_would_fill_the_window_is_shortened_and_archived_whole(tmp_path: Path) -> None:
    def dump() -> str:
        """Return a long text."""
        return "head " + "x" * 60_000 + " tail"

    call: Any = {"name": "dump", "args": {}, "id": "c1"}
    model = answers(AIMessage("", tool_calls=[call]), AIMessage("Done."))
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        agent = create_agent(model, [dump], middleware=[MemctxMiddleware(memory)])
        messages = agent.invoke(said("Dump it."), thread("t"))["messages"]
        [result] = [each for each in messages if isinstance(each, ToolMessage)]
        stored = [each.content for each in memory.store.segments()]
    assert len(result.text) < 32_000
    assert result.text.startswith("head ")
    assert dump() in stored


def test_unknown_message_class_steps_aside(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    spy = Spy()
    remembering = MemctxMiddleware(tmp_path, context_window=16_000, on_turn=turns.append)
    agent = create_agent(answers(), middleware=[remembering, spy])
    strange = ChatMessage("Which port?", role="critic")
    assert agent.invoke({"messages": [strange]}, thread("t"))["messages"][-1].text == "Noted."
    remembering.sessions.close()
    assert [type(each) for each in spy.sent[0]] == [ChatMessage]
    assert "ChatMessage" in turns[0].report.errors[0]


def test_failure_of_the_model_passes_through(tmp_path: Path) -> None:
    class Failing(Fake):
        """A model that fails."""

        def _generate(self, *given: Any, **options: Any) -> Any:
            del given, options
            raise ConnectionError("the provider is away")

    remembering = MemctxMiddleware(tmp_path, context_window=16_000)
    agent = create_agent(
        Failing(responses=[]), middleware=[remembering], checkpointer=InMemorySaver()
    )
    with pytest.raises(ConnectionError, match="the provider is away"):
        agent.invoke(said("Hello."), thread("t"))
    remembering.sessions.close()


def test_views_keep_pictures_thinking_and_calls() -> None:
    views = LangChainViews()
    picture: Any = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
    }
    thinking: Any = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    use: Any = {"type": "tool_use", "id": "c1", "name": "read", "input": {"n": 1}}
    call: Any = {"name": "read", "args": {"n": 1}, "id": "c1"}
    human = HumanMessage([{"type": "text", "text": "Look."}, picture])
    answer = AIMessage([thinking, {"type": "text", "text": "I see."}, use], tool_calls=[call])
    [seen] = views.view(human)
    assert seen["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,AAAA"},
    }
    added = {"type": "text", "text": "Recalled."}
    rebuilt = views.rebuild(human, [(seen, {**seen, "content": [added, *seen["content"]]})])
    assert rebuilt.content == [added, *human.content]
    [told] = views.view(answer)
    assert told["thinking_blocks"] == [thinking]
    assert told["content"] == [{"type": "text", "text": "I see."}]
    assert told["tool_calls"][0]["id"] == "c1"
    without = {name: value for name, value in told.items() if name != "thinking_blocks"}
    bare = views.rebuild(answer, [(told, without)])
    assert bare.content == answer.content[1:]
    assert bare.tool_calls == answer.tool_calls
    assert views.view(SystemMessage("Be brief."))[0]["role"] == "system"

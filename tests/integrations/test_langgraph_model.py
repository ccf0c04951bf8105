"""The model with memory for graphs of LangGraph: sessions, usage, and what it does not understand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langgraph")

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import Field

import memctx
from memctx.integrations.langgraph import MemctxModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
USAGE: Any = {"input_tokens": 1_234, "output_tokens": 5, "total_tokens": 1_239}


class Model(FakeMessagesListChatModel):
    """A scripted model that keeps what it was sent, and streams with usage as Anthropic does."""

    responses: Any = (AIMessage("Noted.", usage_metadata=USAGE),)
    sent: list[Any] = Field(default_factory=list)

    def _generate(self, messages: Any, *given: Any, **options: Any) -> Any:
        del given, options
        self.sent.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=self.responses[0].model_copy())])

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self.bind(tools=tools, **options)


class Streaming(Model):
    """The same, which streams."""

    def _stream(self, messages: Any, *given: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        del given, options
        self.sent.append(list(messages))
        first: Any = {"input_tokens": 1_234, "output_tokens": 0, "total_tokens": 1_234}
        last: Any = {"input_tokens": 0, "output_tokens": 5, "total_tokens": 5}
        for text, usage in (("The codename ", first), ("is quokka", None), ("-77.", last)):
            yield ChatGenerationChunk(message=AIMessageChunk(text, usage_metadata=usage))


def graph_of(node: Any, *, name: str = "call_model") -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node(name, node)
    builder.add_edge(START, name)
    return builder.compile(checkpointer=InMemorySaver())


def node_of(model: MemctxModel) -> Any:
    return lambda state: {"messages": [model.invoke(state["messages"])]}


def say(graph: Any, text: str, thread: str | None = "t1") -> Any:
    config: Any = {"configurable": {"thread_id": thread}} if thread else {}
    return graph.invoke({"messages": [HumanMessage(text)]}, config)


def contents(path: Path, session_id: str) -> list[str]:
    with memctx.open(path, session_id=session_id) as memory:
        return [segment.content for segment in memory.store.segments()]


def test_threads_and_nodes_have_sessions_of_their_own(tmp_path: Path) -> None:
    fake = Model()
    model = MemctxModel(fake, tmp_path, context_window=16_000)
    inner = graph_of(node_of(model), name="think")
    state: Any = {"messages": [HumanMessage(STATED)]}
    config: Any = {"configurable": {"thread_id": "t1"}}
    graph_of(node_of(model)).invoke(state, config)
    for node, name, thread in (
        (node_of(model), "call_model", "t1"),
        (node_of(model), "call_model", "t2"),
        (node_of(model), "review", "t1"),
        (inner, "call_model", "t1"),
    ):
        say(graph_of(node, name=name), QUESTION, thread)
    sessions = set(model.sessions._memories)  # noqa: SLF001 - the ids
    model.close()
    assert ["8443" in str(sent) for sent in fake.sent[1:]] == [True, False, False, False]
    assert sessions == {"t1/call_model", "t2/call_model", "t1/review", "t1/call_model/think"}


def test_state_keeps_every_message(tmp_path: Path) -> None:
    fake = Model()
    model = MemctxModel(fake, tmp_path, context_window=8_000)
    graph = graph_of(node_of(model))
    texts = [STATED, *(f"Remark {n}: {'coffee was late ' * 60}" for n in range(30)), QUESTION]
    states = [say(graph, text) for text in texts]
    model.close()
    assert [each.text for each in states[-1]["messages"][::2]] == texts
    assert len(fake.sent[-1]) < 40
    assert "8443" in str(fake.sent[-1])


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_usage_is_counted_and_the_answer_archived(tmp_path: Path, way: str) -> None:
    fake = Streaming(responses=[AIMessage("The codename is quokka-77.", usage_metadata=USAGE)])
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        model = MemctxModel(fake, memory)

        async def acall() -> Any:
            if way == "ainvoke":
                return await model.ainvoke("Pick a codename.")
            return [chunk async for chunk in model.astream("Pick a codename.")]

        if way == "invoke":
            model.invoke("Pick a codename.")
        elif way == "stream":
            assert len(list(model.stream("Pick a codename."))) >= 3
        else:
            asyncio.run(acall())
        assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1_234, 5)
        stored = [segment.content for segment in memory.store.segments()]
    assert stored == ["Pick a codename.", "The codename is quokka-77."]


def test_prepare_leaves_the_call_to_the_caller(tmp_path: Path) -> None:
    model = MemctxModel(Model(), tmp_path, session_id="mine", context_window=16_000)
    given = [HumanMessage(STATED)]
    prepared = model.prepare(given)
    prepared.observe(USAGE)
    assert prepared.messages[0] is given[0]
    assert prepared.memory is not None
    assert prepared.memory.counters.input_tokens == 1_234
    assert "8443" in str(model.prepare(QUESTION).messages)
    model.close()
    assert STATED in contents(tmp_path, "mine")


def test_chains_and_tools(tmp_path: Path) -> None:
    fake = Model()
    model = MemctxModel(fake, tmp_path, session_id="mine", context_window=16_000)
    bound = model.bind_tools([{"name": "look"}])
    assert bound.sessions is model.sessions
    prompt = ChatPromptTemplate.from_messages([("system", "Be brief."), ("human", "{text}")])
    assert (prompt | bound).invoke({"text": STATED}).text == "Noted."
    model.close()
    assert [each.text for each in fake.sent[0]] == ["Be brief.", STATED]


def test_calls_without_a_thread_go_on_without_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    turns: list[memctx.Turn] = []
    fake = Model()
    model = MemctxModel(fake, tmp_path, on_turn=turns.append)
    assert model.invoke("Which port?").text == "Noted."
    assert "expected session_id" in turns[0].report.errors[0]
    assert "memory steps aside" in caplog.text
    assert fake.sent == [[HumanMessage("Which port?")]]


def test_unknown_message_class_steps_aside(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    fake = Model()
    model = MemctxModel(fake, tmp_path, session_id="s", on_turn=turns.append)
    strange = ChatMessage("Which port?", role="critic")
    assert model.invoke([strange]).text == "Noted."
    model.close()
    assert fake.sent[0][0] is strange
    assert "ChatMessage" in turns[0].report.errors[0]


def test_failure_of_the_model_passes_through(tmp_path: Path) -> None:
    class Failing(Model):
        """A model that fails."""

        def _generate(self, *given: Any, **options: Any) -> Any:
            del given, options
            raise ConnectionError("the provider is away")

    model = MemctxModel(Failing(), tmp_path, session_id="s", context_window=16_000)
    for call in (lambda: model.invoke("Hello."), lambda: list(model.stream("Hello."))):
        with pytest.raises(ConnectionError, match="the provider is away"):
            call()
    with pytest.raises(ConnectionError):
        asyncio.run(model.ainvoke("Hello."))
    with pytest.raises(Exception, match="message"):
        model.invoke([object()])  # type: ignore[list-item]
    model.close()

"""Graphs of LangGraph written by hand, with a model that has memory."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from integrations.case import Case, read_log
from memctx.integrations.langgraph import MemctxModel

if TYPE_CHECKING:
    from integrations.case import Talk

THREAD: Any = {"configurable": {"thread_id": "t1"}}


def _model(name: str, talk: Talk) -> Any:
    model: Any
    if name.startswith("anthropic"):
        thinking: Any = {"type": "enabled", "budget_tokens": 1024} if "thinking" in name else None
        model = ChatAnthropic(
            model_name="loopback",
            base_url=talk.url,
            api_key="x",
            max_retries=0,
            timeout=30,
            stop=None,
            thinking=thinking,
        )
    else:
        is_responses = name == "responses"
        model = ChatOpenAI(
            model="loopback",
            base_url=f"{talk.url}/v1",
            api_key="x",
            max_retries=0,
            use_responses_api=is_responses,
            store=False if is_responses else None,
            include=["reasoning.encrypted_content"] if is_responses else None,
        )
    if talk.has_memory:
        model = MemctxModel(model, talk.path, **talk.options)
    return model.bind_tools([read_log])


def _graph(name: str, talk: Talk) -> Any:
    model = _model(name, talk)
    system = SystemMessage("You read logs.")

    def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke([system, *state["messages"]])]}

    async def acall_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke([system, *state["messages"]])]}

    def stream_model(state: MessagesState) -> dict[str, Any]:
        chunks = list(model.stream([system, *state["messages"]]))
        return {"messages": [chunks[0] + chunks[1:]]}

    async def astream_model(state: MessagesState) -> dict[str, Any]:
        chunks = [chunk async for chunk in model.astream([system, *state["messages"]])]
        return {"messages": [chunks[0] + chunks[1:]]}

    nodes: dict[str, Any] = {
        "async": acall_model,
        "stream": stream_model,
        "astream": astream_model,
    }
    builder = StateGraph(MessagesState)
    builder.add_node("call_model", nodes.get(name.rpartition("-")[2], call_model))
    builder.add_node("tools", ToolNode([read_log]))
    builder.add_edge(START, "call_model")
    builder.add_conditional_edges("call_model", tools_condition)
    builder.add_edge("tools", "call_model")
    return builder.compile(checkpointer=InMemorySaver())


def _hold(name: str, talk: Talk) -> str:
    graph = _graph(name, talk)

    async def ahold() -> None:
        for said in talk.said:
            await graph.ainvoke({"messages": [HumanMessage(said)]}, THREAD)

    if "async" in name or "astream" in name:
        asyncio.run(ahold())
    else:
        for said in talk.said:
            graph.invoke({"messages": [HumanMessage(said)]}, THREAD)
    return "\n".join(str(message.content) for message in graph.get_state(THREAD).values["messages"])


def _stream(name: str, talk: Talk) -> str:
    """Let LangGraph stream the messages of a node that does not."""
    graph = _graph(name, talk)
    for said in talk.said:
        for _ in graph.stream({"messages": [HumanMessage(said)]}, THREAD, stream_mode="messages"):
            pass
    return "\n".join(str(message.content) for message in graph.get_state(THREAD).values["messages"])


CASES = [
    Case("langgraph-anthropic", partial(_hold, "anthropic")),
    Case("langgraph-anthropic-async", partial(_hold, "anthropic-async")),
    Case("langgraph-anthropic-stream", partial(_hold, "anthropic-stream")),
    Case("langgraph-anthropic-astream", partial(_hold, "anthropic-astream")),
    Case("langgraph-anthropic-messages", partial(_stream, "anthropic")),
    Case("langgraph-anthropic-thinking", partial(_hold, "anthropic-thinking"), reasoning=True),
    Case("langgraph-chat", partial(_hold, "chat")),
    Case("langgraph-responses-reasoning", partial(_hold, "responses"), reasoning=True),
]

"""LangChain agents: a middleware that hands converted messages to memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage, convert_to_openai_messages
from langchain_openai import ChatOpenAI

from . import runs
from .bridge import Bridge

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations


class Remembering(AgentMiddleware[Any, Any]):
    """Prepares every request."""

    def __init__(self, memory: memctx.Memory) -> None:
        super().__init__()
        self._memory = memory
        self._bridge: Bridge[Any] = Bridge(
            view=lambda message: convert_to_openai_messages([message]),
            edited=_edited,
            made=HumanMessage,
        )

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Prepare the messages of a call."""
        return handler(request.override(messages=self._prepared(request)))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Prepare the messages of an asynchronous call."""
        return await handler(request.override(messages=self._prepared(request)))

    def _prepared(self, request: Any) -> list[Any]:
        return self._bridge.prepare(self._memory, request.messages)


def _edited(message: Any, texts: dict[str, str]) -> Any:
    assert isinstance(message, ToolMessage)
    return message.model_copy(update={"content": texts[message.tool_call_id]})


def model(name: str, provider: Provider) -> Any:
    if name == "anthropic":
        return ChatAnthropic(
            model_name="loopback",
            base_url=provider.url,
            api_key="x",
            max_retries=0,
            timeout=30,
            stop=None,
        )
    return ChatOpenAI(
        model="loopback",
        base_url=f"{provider.url}/v1",
        api_key="x",
        max_retries=0,
        use_responses_api=name == "responses",
        store=False if name == "responses" else None,
    )


def agent(name: str, provider: Provider, memory: memctx.Memory) -> Any:
    prompt = "You read logs."
    middleware = [Remembering(memory)]
    return create_agent(
        model(name, provider), [runs.read_log], system_prompt=prompt, middleware=middleware
    )


@pytest.mark.parametrize("name", ["anthropic", "chat", "responses"])
def test_invoked_agents_recall_evicted_facts(name: str, tmp_path: Path) -> None:
    with runs.run(tmp_path) as (provider, memory):
        talking: Any = agent(name, provider, memory)
        messages: list[Any] = []
        for said in runs.turns():
            messages = talking.invoke({"messages": [*messages, HumanMessage(said)]})["messages"]


def test_asynchronous_agents_recall_evicted_facts(tmp_path: Path) -> None:
    async def talk(talking: Any) -> None:
        messages: list[Any] = []
        for said in runs.turns():
            state = await talking.ainvoke({"messages": [*messages, HumanMessage(said)]})
            messages = state["messages"]

    with runs.run(tmp_path) as (provider, memory):
        asyncio.run(talk(agent("anthropic", provider, memory)))


def test_streaming_agents_recall_evicted_facts(tmp_path: Path) -> None:
    with runs.run(tmp_path) as (provider, memory):
        talking: Any = agent("anthropic", provider, memory)
        messages: list[Any] = []
        for said in runs.turns():
            given = {"messages": [*messages, HumanMessage(said)]}
            for mode, chunk in talking.stream(given, stream_mode=["values", "messages"]):
                messages = chunk["messages"] if mode == "values" else messages

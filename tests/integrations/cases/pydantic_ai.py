"""Pydantic AI agents with the capability."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from integrations.case import Case, read_log
from memctx.integrations.pydantic_ai import MemctxCapability

if TYPE_CHECKING:
    from integrations.case import Talk

SYSTEM = "You read logs."
"""A system prompt in the history."""
SETTINGS: dict[str, Any] = {
    "anthropic-thinking": {"anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}},
    "responses": {"openai_store": False},
}


def _model(name: str, url: str) -> Any:
    if name.startswith("anthropic"):
        client = AsyncAnthropic(base_url=url, api_key="x", max_retries=0)
        return AnthropicModel("loopback", provider=AnthropicProvider(anthropic_client=client))
    openai = AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)
    kind = OpenAIChatModel if name == "chat" else OpenAIResponsesModel
    return kind("loopback", provider=OpenAIProvider(openai_client=openai))


def _agent(name: str, talk: Talk, system: str = "") -> Agent[None, str]:
    return Agent(
        _model(name, talk.url),
        name="reader",
        system_prompt=system or (),
        instructions=None if system else "You read logs.",
        model_settings=SETTINGS.get(name),
        tools=[read_log],
        capabilities=[MemctxCapability(talk.path, **talk.options)] if talk.has_memory else [],
    )


def _state(history: list[Any]) -> str:
    return "\n".join(
        str(part.content)
        for message in history
        for part in message.parts
        if hasattr(part, "content")
    )


async def _run(agent: Agent[None, str], said: str, history: list[Any]) -> list[Any]:
    return (await agent.run(said, message_history=history)).all_messages()


async def _stream(agent: Agent[None, str], said: str, history: list[Any]) -> list[Any]:
    async with agent.run_stream(said, message_history=history) as streamed:
        await streamed.get_output()
        return streamed.all_messages()


async def _iter(agent: Agent[None, str], said: str, history: list[Any]) -> list[Any]:
    async with agent.iter(said, message_history=history) as run:
        async for _ in run:
            pass
        return run.all_messages()


def _hold(name: str, way: Any, talk: Talk, system: str = "") -> str:
    async def hold() -> str:
        agent = _agent(name, talk, system)
        history: list[Any] = []
        for said in talk.said:
            history = await way(agent, said, history)
        return _state(history)

    return asyncio.run(hold())


def _sync(name: str, talk: Talk) -> str:
    agent = _agent(name, talk)
    history: list[Any] = []
    for said in talk.said:
        history = agent.run_sync(said, message_history=history).all_messages()
    return _state(history)


CASES = [
    Case("pydantic_ai-anthropic", partial(_hold, "anthropic", _run)),
    Case("pydantic_ai-anthropic-stream", partial(_hold, "anthropic", _stream)),
    Case("pydantic_ai-anthropic-iter", partial(_hold, "anthropic", _iter)),
    Case(
        "pydantic_ai-anthropic-thinking",
        partial(_hold, "anthropic-thinking", _run),
        reasoning=True,
    ),
    Case(
        "pydantic_ai-anthropic-thinking-stream",
        partial(_hold, "anthropic-thinking", _stream),
        reasoning=True,
    ),
    Case("pydantic_ai-chat", partial(_hold, "chat", _run)),
    Case("pydantic_ai-chat-sync", partial(_sync, "chat")),
    Case(
        "pydantic_ai-responses",
        partial(_hold, "responses", _run, system=SYSTEM),
    ),
    Case("pydantic_ai-responses-reasoning", partial(_hold, "responses", _run), reasoning=True),
]

COMPARED = [CASES[0]]
"""Cases that are held with memctx and without any memory."""
OWN: list[Case] = []
"""Pydantic AI has no memory of its own that needs no provider's compaction."""

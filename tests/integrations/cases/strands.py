"""Agents of Strands with the conversation manager."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel

from integrations.case import Case, read_log
from memctx.integrations.strands import MemctxConversationManager

if TYPE_CHECKING:
    from integrations.case import Talk


def model(name: str, url: str) -> Any:
    """Return a model of the loopback provider."""
    if name in {"anthropic", "thinking"}:
        thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
        return AnthropicModel(
            client_args={"base_url": url, "api_key": "x", "max_retries": 0},
            model_id="claude-loopback",
            max_tokens=2048,
            params=thinking if name == "thinking" else None,
        )
    kind: Any = OpenAIModel if name == "chat" else OpenAIResponsesModel
    client = {"base_url": f"{url}/v1", "api_key": "x", "max_retries": 0}
    return kind(client_args=client, model_id="loopback")


def _agent(name: str, talk: Talk) -> Agent:
    manager = MemctxConversationManager(talk.path, **talk.options) if talk.has_memory else None
    return Agent(
        model(name, talk.url),
        tools=[tool(read_log)],
        system_prompt="You read logs.",
        callback_handler=None,
        conversation_manager=manager,
    )


def _call(name: str, talk: Talk) -> str:
    agent = _agent(name, talk)
    for said in talk.said:
        agent(said)
    return str(agent.messages)


def _invoke(name: str, talk: Talk) -> str:
    async def hold() -> str:
        agent = _agent(name, talk)
        for said in talk.said:
            await agent.invoke_async(said)
        return str(agent.messages)

    return asyncio.run(hold())


def _stream(name: str, talk: Talk) -> str:
    async def hold() -> str:
        agent = _agent(name, talk)
        for said in talk.said:
            async for _ in agent.stream_async(said):
                pass
        return str(agent.messages)

    return asyncio.run(hold())


CASES = [
    Case("strands-anthropic", partial(_call, "anthropic")),
    Case("strands-anthropic-async", partial(_invoke, "anthropic")),
    Case("strands-anthropic-stream", partial(_stream, "anthropic")),
    Case("strands-anthropic-thinking", partial(_invoke, "thinking"), reasoning=True),
    Case("strands-chat", partial(_invoke, "chat")),
    Case("strands-responses", partial(_invoke, "responses")),
    Case(
        "strands-responses-reasoning",
        partial(_stream, "responses"),
        reasoning=True,
    ),
]

"""Agents of Microsoft Agent Framework with the chat middleware."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from agent_framework import Agent, ContextWindowCompactionStrategy, InMemoryHistoryProvider
from agent_framework.anthropic import AnthropicClient
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from integrations.case import Case, read_log
from memctx.integrations.agent_framework import MemctxMiddleware
from providers import conversation

if TYPE_CHECKING:
    from integrations.case import Talk


LOCAL = {"store": False}
"""Options of OpenAI's clients: the conversation is sent, not kept by the provider."""
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048}


def _sdk(kind: type[Any], url: str) -> Any:
    if kind is AnthropicClient:
        return AsyncAnthropic(base_url=url, api_key="x", max_retries=0)
    return AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)


async def _hold(
    kind: type[Any],
    talk: Talk,
    *,
    stream: bool = False,
    thinking: bool = False,
    strategy: Any = None,
) -> str:
    sdk = _sdk(kind, talk.url)
    is_openai = kind is not AnthropicClient
    middleware = [MemctxMiddleware(talk.path, **talk.options)] if talk.has_memory else []
    history = InMemoryHistoryProvider()
    agent = Agent(
        kind(model="loopback", **{"async_client" if is_openai else "anthropic_client": sdk}),
        "You read logs.",
        tools=[read_log],
        middleware=middleware,
        context_providers=[history],
        compaction_strategy=strategy,
        default_options=LOCAL if is_openai else THINKING if thinking else {},
    )
    session = agent.create_session()
    for said in talk.said:
        if stream:
            async for _ in agent.run(said, session=session, stream=True):
                pass
        else:
            await agent.run(said, session=session)
    await sdk.close()
    return str(session.to_dict())


def _run(kind: type[Any], talk: Talk) -> str:
    return asyncio.run(_hold(kind, talk))


def _compacted(kind: type[Any], talk: Talk) -> str:
    """Hold it with the framework's own compaction for the window."""
    strategy = ContextWindowCompactionStrategy(
        max_context_window_tokens=conversation.WINDOW, max_output_tokens=1_000
    )
    return asyncio.run(_hold(kind, talk, strategy=strategy))


def _stream(kind: type[Any], talk: Talk) -> str:
    return asyncio.run(_hold(kind, talk, stream=True))


def _think(kind: type[Any], talk: Talk, *, stream: bool = False) -> str:
    return asyncio.run(_hold(kind, talk, stream=stream, thinking=True))


# The framework adds the agent's name to what the model said, and other ids to its calls, when the next run sends them.
OWN_BREAKS = conversation.STEPS

CASES = [
    Case("agent_framework-chat", partial(_run, OpenAIChatCompletionClient), more_breaks=OWN_BREAKS),
    Case(
        "agent_framework-chat-stream",
        partial(_stream, OpenAIChatCompletionClient),
        more_breaks=OWN_BREAKS,
    ),
    Case("agent_framework-responses", partial(_run, OpenAIChatClient), more_breaks=OWN_BREAKS),
    Case(
        "agent_framework-responses-stream",
        partial(_stream, OpenAIChatClient),
        more_breaks=OWN_BREAKS,
    ),
    Case(
        "agent_framework-responses-reasoning",
        partial(_run, OpenAIChatClient),
        reasoning=True,
        more_breaks=OWN_BREAKS,
    ),
    Case(
        "agent_framework-responses-reasoning-stream",
        partial(_stream, OpenAIChatClient),
        reasoning=True,
        more_breaks=OWN_BREAKS,
    ),
    Case("agent_framework-anthropic", partial(_run, AnthropicClient)),
    Case("agent_framework-anthropic-stream", partial(_stream, AnthropicClient)),
    Case("agent_framework-anthropic-thinking", partial(_think, AnthropicClient), reasoning=True),
    Case(
        "agent_framework-anthropic-thinking-stream",
        partial(_think, AnthropicClient, stream=True),
        reasoning=True,
    ),
]

COMPARED = [CASES[0], *(case for case in CASES if case.name == "agent_framework-anthropic")]
"""Cases that are held with memctx and without any memory."""
OWN = [
    Case("agent_framework, its compaction", partial(_compacted, OpenAIChatCompletionClient)),
    Case("agent_framework, its compaction, Anthropic", partial(_compacted, AnthropicClient)),
]
"""The framework's own memory."""

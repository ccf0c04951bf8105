"""Microsoft's Agent Framework: a chat middleware that hands views of its messages to memory."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from agent_framework import Agent, ChatMiddleware, Content, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from openai import AsyncOpenAI

from . import runs
from .bridge import Bridge, View

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations

OWN_BREAKS = 35
"""The framework adds a name to what the model said when it is sent the next time."""


def view(message: Any) -> list[View]:
    results = [each for each in message.contents if each.type == "function_result"]
    if results:
        return [
            {"role": "tool", "tool_call_id": each.call_id, "content": str(each.result)}
            for each in results
        ]
    calls = [
        {
            "id": each.call_id,
            "type": "function",
            "function": {"name": each.name, "arguments": _written(each.arguments)},
        }
        for each in message.contents
        if each.type == "function_call"
    ]
    seen: View = {"role": str(message.role), "content": message.text or None}
    return [seen | ({"tool_calls": calls} if calls else {})]


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def edited(message: Any, texts: dict[str, str]) -> Any:
    contents = [
        Content.from_function_result(each.call_id, result=texts[each.call_id])
        if each.type == "function_result" and each.call_id in texts
        else each
        for each in message.contents
    ]
    return Message(message.role, contents)


class Remembering(ChatMiddleware):
    """Prepares every request."""

    def __init__(self, memory: memctx.Memory) -> None:
        self._memory = memory
        self._bridge: Bridge[Any] = Bridge(
            view, edited, lambda text: Message("user", [Content.from_text(text)])
        )

    async def process(self, context: Any, call_next: Any) -> None:
        """Prepare the messages of a call."""
        context.messages = self._bridge.prepare(self._memory, context.messages)
        await call_next()


async def talk(kind: Any, provider: Provider, memory: memctx.Memory) -> None:
    openai = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
    client = kind(model="loopback", async_client=openai, middleware=[Remembering(memory)])
    agent = Agent(client, "You read logs.", tools=[runs.read_log], default_options={"store": False})
    session = agent.create_session()
    for said in runs.turns():
        await agent.run(said, session=session)
    await openai.close()


@pytest.mark.parametrize("kind", [OpenAIChatCompletionClient, OpenAIChatClient])
def test_agents_recall_evicted_facts(kind: Any, tmp_path: Path) -> None:
    with runs.run(tmp_path, breaks=OWN_BREAKS) as (provider, memory):
        asyncio.run(talk(kind, provider, memory))

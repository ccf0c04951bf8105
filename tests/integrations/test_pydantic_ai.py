"""Pydantic AI: a capability that hands views of its messages to memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from . import runs
from .bridge import Bridge, View

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations


def view(message: Any) -> list[View]:
    if isinstance(message, ModelRequest):
        return [
            {"role": "user", "content": part.content}
            if isinstance(part, UserPromptPart)
            else {"role": "tool", "tool_call_id": part.tool_call_id, "content": str(part.content)}
            for part in message.parts
            if isinstance(part, UserPromptPart | ToolReturnPart)
        ]
    text = "".join(part.content for part in message.parts if part.part_kind == "text")
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
        }
        for part in message.parts
        if part.part_kind == "tool-call"
    ]
    return [
        {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})
    ]


def edited(message: Any, texts: dict[str, str]) -> Any:
    parts = [
        replace(part, content=texts[part.tool_call_id])
        if isinstance(part, ToolReturnPart) and part.tool_call_id in texts
        else part
        for part in message.parts
    ]
    return replace(message, parts=parts)


@dataclass
class Remembering(AbstractCapability[None]):
    """Prepares every request."""

    memory: memctx.Memory

    def __post_init__(self) -> None:
        self._bridge: Bridge[Any] = Bridge(
            view, edited, lambda text: ModelRequest([UserPromptPart(text)])
        )

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Prepare the messages of a call; the history stays as it is."""
        del ctx
        messages = self._bridge.prepare(self.memory, request_context.messages)
        return replace(request_context, messages=messages)


def model(name: str, provider: Provider) -> Any:
    if name == "anthropic":
        client = AsyncAnthropic(base_url=provider.url, api_key="x", max_retries=0)
        return AnthropicModel("loopback", provider=AnthropicProvider(anthropic_client=client))
    openai = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
    kind = OpenAIChatModel if name == "chat" else OpenAIResponsesModel
    return kind("loopback", provider=OpenAIProvider(openai_client=openai))


async def talk(name: str, provider: Provider, memory: memctx.Memory, *, stream: bool) -> None:
    agent = Agent(
        model(name, provider),
        instructions="You read logs.",
        tools=[runs.read_log],
        capabilities=[Remembering(memory)],
    )
    history: list[Any] = []
    for said in runs.turns():
        if stream:
            async with agent.run_stream(said, message_history=history) as streamed:
                await streamed.get_output()
                history = streamed.all_messages()
        else:
            history = (await agent.run(said, message_history=history)).all_messages()


@pytest.mark.parametrize(
    ("name", "stream"),
    [("anthropic", False), ("anthropic", True), ("chat", False), ("responses", False)],
)
def test_agents_recall_evicted_facts(name: str, stream: bool, tmp_path: Path) -> None:  # noqa: FBT001 - drawn from a table
    with runs.run(tmp_path) as (provider, memory):
        asyncio.run(talk(name, provider, memory, stream=stream))

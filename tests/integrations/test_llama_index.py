"""LlamaIndex: a memory of its agents that prepares what they read from it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import PrivateAttr

from . import runs
from .bridge import Bridge, View

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations


def view(message: Any) -> list[View]:
    calls = [
        {
            "id": block.tool_call_id,
            "type": "function",
            "function": {"name": block.tool_name, "arguments": _written(block.tool_kwargs)},
        }
        for block in message.blocks
        if block.block_type == "tool_call"
    ]
    seen: View = {"role": message.role.value, "content": message.content or ""}
    if calls:
        seen["tool_calls"] = calls
    if "tool_call_id" in message.additional_kwargs:
        seen["tool_call_id"] = message.additional_kwargs["tool_call_id"]
    return [seen]


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def edited(message: Any, texts: dict[str, str]) -> Any:
    text = texts[message.additional_kwargs["tool_call_id"]]
    return ChatMessage(role=message.role, content=text, additional_kwargs=message.additional_kwargs)


class Remembering(BaseMemory):
    """Keeps every message and gives out what is to be sent."""

    _memory: Any = PrivateAttr()
    _messages: list[Any] = PrivateAttr(default_factory=list)
    _bridge: Any = PrivateAttr()

    def __init__(self, memory: memctx.Memory) -> None:
        super().__init__()
        self._memory = memory
        self._bridge = Bridge(view, edited, lambda text: ChatMessage(role="user", content=text))

    @classmethod
    def from_defaults(cls, **given: Any) -> Remembering:
        """Return one over a memory."""
        return cls(given["memory"])

    def get(self, input: Any = None, **rest: Any) -> list[Any]:
        """Return what is to be sent."""
        del input, rest
        return list(self._bridge.prepare(self._memory, self._messages))

    def get_all(self) -> list[Any]:
        """Return every message."""
        return list(self._messages)

    def put(self, message: Any) -> None:
        """Keep a message."""
        self._messages.append(message)

    def set(self, messages: Any) -> None:
        """Keep these messages and no others."""
        self._messages = list(messages)

    def reset(self) -> None:
        """Keep none."""
        self._messages = []


async def talk(provider: Provider, memory: memctx.Memory) -> None:
    model = OpenAILike(
        model="loopback",
        api_base=f"{provider.url}/v1",
        api_key="x",
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=200_000,
        max_retries=0,
    )
    tool = FunctionTool.from_defaults(fn=runs.read_log, async_fn=runs.aread_log, name="read_log")
    agent = FunctionAgent(tools=[tool], llm=model, system_prompt="You read logs.", streaming=False)
    remembering = Remembering(memory)
    for said in runs.turns():
        await agent.run(user_msg=said, memory=remembering)


def test_agents_recall_evicted_facts(tmp_path: Path) -> None:
    with runs.run(tmp_path, breaks=runs.BREAKS + 1) as (provider, memory):
        asyncio.run(talk(provider, memory))

"""LiteLLM: a hook before asynchronous calls, whose messages memory reads as they are."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import litellm
import pytest
from litellm.integrations.custom_logger import CustomLogger

from . import runs

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOL = {
    "type": "function",
    "function": {"name": "read_log", "description": "Read a log.", "parameters": SCHEMA},
}


class Remembering(CustomLogger):
    """Prepares every request."""

    def __init__(self, memory: memctx.Memory) -> None:
        super().__init__()
        self._memory = memory

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Prepare the messages of a call."""
        del call_type
        turn = await self._memory.aprepare(kwargs["messages"], format="openai")
        assert not turn.report.errors, turn.report.errors
        return kwargs | {"messages": turn.messages}


async def talk(model: str, base: str) -> None:
    messages: list[Any] = [{"role": "system", "content": "You read logs."}]
    for said in runs.turns():
        messages.append({"role": "user", "content": said})
        while True:
            options: Any = {"api_base": base, "api_key": "x", "tools": [TOOL], "num_retries": 0}
            response: Any = await litellm.acompletion(model=model, messages=messages, **options)
            message = response.choices[0].message
            kept: dict[str, Any] = {"role": "assistant", "content": message.content}
            calls = [call.model_dump() for call in message.tool_calls or ()]
            messages.append(kept | ({"tool_calls": calls} if calls else {}))
            for call in calls:
                number = json.loads(call["function"]["arguments"])["n"]
                text = runs.read_log(number)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
            if not calls:
                break


def base_of(model: str, provider: Provider) -> str:
    return f"{provider.url}/v1" if model.startswith("openai") else provider.url


@pytest.mark.parametrize("model", ["openai/loopback", "anthropic/claude-loopback"])
def test_asynchronous_completions_recall_evicted_facts(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with runs.run(tmp_path) as (provider, memory):
        monkeypatch.setattr(litellm, "callbacks", [Remembering(memory)])
        asyncio.run(talk(model, base_of(model, provider)))

"""The Agents SDK: a filter of the model's input, whose items memory reads as they are."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)
from agents.run import ModelInputData
from openai import AsyncOpenAI

from . import runs

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations


async def talk(provider: Provider, memory: memctx.Memory, *, kind: Any, stream: bool) -> None:
    def prepare(data: Any) -> ModelInputData:
        turn = memory.prepare(data.model_data.input)
        assert not turn.report.errors, turn.report.errors
        return ModelInputData(input=turn.messages, instructions=data.model_data.instructions)

    client = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
    model = kind(model="loopback", openai_client=client)
    agent = Agent(
        name="reader",
        instructions="You read logs.",
        model=model,
        tools=[function_tool(runs.read_log)],
    )
    config = RunConfig(call_model_input_filter=prepare, tracing_disabled=True)
    items: list[Any] = []
    for said in runs.turns():
        given = [*items, {"role": "user", "content": said}]
        if stream:
            result: Any = Runner.run_streamed(agent, given, run_config=config)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, given, run_config=config)
        items = result.to_input_list()
    await client.close()


@pytest.mark.parametrize(
    ("kind", "stream"),
    [
        (OpenAIResponsesModel, False),
        (OpenAIResponsesModel, True),
        (OpenAIChatCompletionsModel, False),
    ],
)
def test_agents_recall_evicted_facts(kind: Any, stream: bool, tmp_path: Path) -> None:  # noqa: FBT001 - drawn from a table
    with runs.run(tmp_path) as (provider, memory):
        asyncio.run(talk(provider, memory, kind=kind, stream=stream))

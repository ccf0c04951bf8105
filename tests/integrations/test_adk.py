"""Google's Agent Development Kit: a plugin, whose contents memory reads as they are."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.genai import types

from . import runs

if TYPE_CHECKING:
    from pathlib import Path

    import memctx
    from providers.server import Provider

pytestmark = pytest.mark.integrations


class Remembering(BasePlugin):
    """Prepares every request."""

    def __init__(self, memory: memctx.Memory) -> None:
        super().__init__(name="memory")
        self._memory = memory

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Prepare the contents of a call."""
        del callback_context
        turn = await self._memory.aprepare(llm_request.contents)
        assert not turn.report.errors, turn.report.errors
        llm_request.contents = turn.messages


async def talk(provider: Provider, memory: memctx.Memory) -> None:
    model = Gemini(model="gemini-loopback", base_url=provider.url)
    agent = LlmAgent(
        name="reader", model=model, instruction="You read logs.", tools=[runs.read_log]
    )
    runner = InMemoryRunner(agent, app_name="logs", plugins=[Remembering(memory)])
    session = await runner.session_service.create_session(app_name="logs", user_id="u")
    for said in runs.turns():
        message = types.Content(role="user", parts=[types.Part(text=said)])
        async for event in runner.run_async(
            user_id="u", session_id=session.id, new_message=message
        ):
            assert not event.error_code, event.error_message
    await runner.close()


def test_an_agent_recalls_evicted_facts(tmp_path: Path) -> None:
    with runs.run(tmp_path) as (provider, memory):
        asyncio.run(talk(provider, memory))

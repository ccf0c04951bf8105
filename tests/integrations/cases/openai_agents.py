"""Agents of OpenAI's SDK with the memory of runs."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SessionSettings,
    SQLiteSession,
    function_tool,
)
from openai import AsyncOpenAI

from integrations.case import Case, read_log
from memctx.integrations.openai_agents import MemctxMemory

if TYPE_CHECKING:
    from integrations.case import Talk


def _client(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)


def _agent(api: str, client: AsyncOpenAI) -> Any:
    model = OpenAIChatCompletionsModel if api == "chat" else OpenAIResponsesModel
    is_stored = None if api == "chat" else False
    return Agent(
        name="reader",
        instructions="You read logs.",
        model=model("loopback", openai_client=client),
        model_settings=ModelSettings(
            store=is_stored,
            include_usage=True,
            response_include=None if api == "chat" else ["reasoning.encrypted_content"],
        ),
        tools=[function_tool(read_log)],
    )


def _options(talk: Talk, session: SQLiteSession) -> Any:
    """Return the arguments of a run."""
    given: Any = {"session": session, "run_config": RunConfig(tracing_disabled=True)}
    return MemctxMemory(talk.path, **talk.options).options(**given) if talk.has_memory else given


def _state(session: SQLiteSession) -> str:
    return json.dumps(asyncio.run(session.get_items()), ensure_ascii=False)


def _run(api: str, talk: Talk, limit: int | None = None) -> str:
    """Hold it with `run`; the session gives no more than ``limit`` items."""
    session = SQLiteSession("alice", session_settings=SessionSettings(limit=limit))
    options = _options(talk, session)

    async def hold() -> None:
        async with _client(talk.url) as client:
            agent = _agent(api, client)
            for said in talk.said:
                await Runner.run(agent, said, **options)

    asyncio.run(hold())
    return _state(session)


def _run_sync(api: str, talk: Talk) -> str:
    session = SQLiteSession("alice")
    options = _options(talk, session)
    agent = _agent(api, _client(talk.url))
    for said in talk.said:
        Runner.run_sync(agent, said, **options)
    return _state(session)


def _run_streamed(api: str, talk: Talk) -> str:
    session = SQLiteSession("alice")
    options = _options(talk, session)

    async def hold() -> None:
        async with _client(talk.url) as client:
            agent = _agent(api, client)
            for said in talk.said:
                async for _ in Runner.run_streamed(agent, said, **options).stream_events():
                    pass

    asyncio.run(hold())
    return _state(session)


def _filter(api: str, talk: Talk) -> str:
    """Hold the conversation with the bare filter, over lists of items instead of a session."""
    memory = MemctxMemory(talk.path, session_id="alice", **talk.options)

    async def hold() -> Any:
        items: list[Any] = []
        config = RunConfig(tracing_disabled=True, call_model_input_filter=memory.filter)
        async with _client(talk.url) as client:
            agent = _agent(api, client)
            for said in talk.said:
                items.append({"role": "user", "content": said})
                result = await Runner.run(agent, items, run_config=config, hooks=memory.hooks)
                items = result.to_input_list()
        return items

    return json.dumps(asyncio.run(hold()), ensure_ascii=False)


CASES = [
    Case("openai_agents-responses", partial(_run, "responses")),
    Case("openai_agents-responses-sync", partial(_run_sync, "responses")),
    Case("openai_agents-responses-stream", partial(_run_streamed, "responses")),
    Case("openai_agents-responses-reasoning", partial(_run, "responses"), reasoning=True),
    Case(
        "openai_agents-responses-stream-reasoning",
        partial(_run_streamed, "responses"),
        reasoning=True,
    ),
    Case("openai_agents-responses-filter", partial(_filter, "responses")),
    Case("openai_agents-chat", partial(_run, "chat")),
    Case("openai_agents-chat-stream", partial(_run_streamed, "chat")),
]

COMPARED = [CASES[0]]
"""Cases that are held with memctx and without any memory."""
OWN = [Case("openai_agents, SQLiteSession of 30 items", partial(_run, "responses", limit=30))]
"""The framework's own memory: the newest items, which at this length fit into the window."""

"""Agents of CrewAI with the hooks."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from crewai import LLM, Agent
from crewai.tools import tool

from integrations.case import Case
from memctx.integrations.crewai import MemctxHooks
from providers import conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from integrations.case import Talk


@tool("read_log")  # type: ignore[untyped-decorator, unused-ignore] # without types
def read_log(n: int) -> str:
    """Read log number n."""
    return conversation.read_log(n)


def model(url: str, *, stream: bool = False) -> Any:
    """Return a model of the loopback provider."""
    return LLM(
        model="openai/gpt-4o", base_url=f"{url}/v1", api_key="x", stream=stream, max_retries=0
    )


def agent(url: str, *, role: str = "Reader", stream: bool = False) -> Any:
    """Return an agent that reads logs."""
    return Agent(
        role=role,
        goal="Read logs.",
        backstory="You read logs.",
        tools=[read_log],
        llm=model(url, stream=stream),
    )


@contextmanager
def _hooks(talk: Talk) -> Iterator[None]:
    hooks = MemctxHooks(talk.path, **talk.options)
    if talk.has_memory:
        hooks.register()
    try:
        yield
    finally:
        hooks.unregister()


def _after(answer: Any) -> list[Any]:
    """Return the conversation so far; each run begins with the instructions."""
    return [message for message in answer.messages if message["role"] != "system"]


def _run(talk: Talk, *, stream: bool = False) -> str:
    own, messages = agent(talk.url, stream=stream), list[Any]()
    with _hooks(talk):
        for said in talk.said:
            messages = _after(own.kickoff([*messages, {"role": "user", "content": said}]))
    return str(messages)


def _arun(talk: Talk) -> str:
    async def hold() -> str:
        own, messages = agent(talk.url), list[Any]()
        for said in talk.said:
            answer = await own.kickoff_async([*messages, {"role": "user", "content": said}])
            messages = _after(answer)
        return str(messages)

    with _hooks(talk):
        return asyncio.run(hold())


CASES = [
    Case("crewai-chat", _run),
    Case("crewai-chat-stream", partial(_run, stream=True)),
    Case("crewai-chat-async", _arun),
]

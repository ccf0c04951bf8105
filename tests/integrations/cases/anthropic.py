"""Anthropic's client with the middleware, in a loop as users write it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import anthropic

from integrations.case import Case
from memctx.integrations.anthropic import MemctxMiddleware
from providers.clients import ABOUT, MODEL, SCHEMA, anthropic_answer, anthropic_results

if TYPE_CHECKING:
    from collections.abc import Generator

    from integrations.case import Talk

OPTIONS: dict[str, Any] = {
    "model": MODEL,
    "max_tokens": 500,
    "system": "You read logs.",
    "tools": [{"name": "read_log", "description": ABOUT, "input_schema": SCHEMA}],
}


def _client(talk: Talk, kind: Any) -> Any:
    middleware = [MemctxMiddleware(talk.path, session_id="s", **talk.options)]
    return kind(
        base_url=talk.url,
        api_key="x",
        max_retries=0,
        middleware=middleware if talk.has_memory else None,
    )


def _hold(talk: Talk, way: str) -> Generator[list[Any], Any, str]:
    """Hold the conversation: yield the messages of each call, and receive its response."""
    messages: list[Any] = []
    for said in talk.said:
        messages.append({"role": "user", "content": said})
        results: Any = True
        while results:
            response = yield messages
            messages.append(anthropic_answer(response, way))
            if results := anthropic_results(response):
                messages.append({"role": "user", "content": results})
    return "\n".join(
        str(block["content"])
        for message in messages
        for block in (message["content"] if message["role"] == "user" else ())
        if isinstance(block, dict)
    )


def _run(talk: Talk, *, way: str = "create", thinking: bool = False) -> str:
    client = _client(talk, anthropic.Anthropic)
    options = OPTIONS | (
        {"thinking": {"type": "enabled", "budget_tokens": 1024}} if thinking else {}
    )

    def send(messages: list[Any]) -> Any:
        if way == "helper":
            with client.messages.stream(messages=messages, **options) as stream:
                return stream.get_final_message()
        resource = client.beta.messages if way == "beta" else client.messages
        return resource.create(messages=messages, **options)

    turns = _hold(talk, "objects" if way == "objects" else "dicts")
    with client:
        response = None
        while True:
            try:
                response = send(turns.send(response))
            except StopIteration as end:
                return str(end.value)


def _arun(talk: Talk, *, way: str = "create") -> str:
    async def hold() -> str:
        turns = _hold(talk, "dicts")
        async with _client(talk, anthropic.AsyncAnthropic) as client:
            response = None
            while True:
                try:
                    messages = turns.send(response)
                except StopIteration as end:
                    return str(end.value)
                if way == "helper":
                    async with client.messages.stream(messages=messages, **OPTIONS) as stream:
                        response = await stream.get_final_message()
                else:
                    response = await client.messages.create(messages=messages, **OPTIONS)

    return asyncio.run(hold())


CASES = [
    Case("anthropic-create", _run),
    Case("anthropic-objects", partial(_run, way="objects")),
    Case("anthropic-stream", partial(_run, way="helper")),
    Case("anthropic-beta", partial(_run, way="beta")),
    Case("anthropic-async", _arun),
    Case("anthropic-async-stream", partial(_arun, way="helper")),
    Case("anthropic-thinking", partial(_run, thinking=True), reasoning=True),
    Case("anthropic-thinking-stream", partial(_run, way="helper", thinking=True), reasoning=True),
]

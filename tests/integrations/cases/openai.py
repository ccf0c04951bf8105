"""OpenAI's client with memory, in loops as users write them."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import openai

from integrations.case import Case, read_log
from memctx.integrations.openai import remember
from providers.clients import ABOUT, MODEL, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Generator

    from integrations.case import Talk

FUNCTION = {"name": "read_log", "description": ABOUT, "parameters": SCHEMA}
CHAT: dict[str, Any] = {"model": MODEL, "tools": [{"type": "function", "function": FUNCTION}]}
RESPONSES: dict[str, Any] = {
    "model": MODEL,
    "tools": [{"type": "function", "strict": False, **FUNCTION}],
    "instructions": "You read logs.",
    "store": False,
    "include": ["reasoning.encrypted_content"],
}


def _client(talk: Talk, kind: Any) -> Any:
    client = kind(base_url=f"{talk.url}/v1", api_key="x", max_retries=0)
    return (
        remember(client, talk.path, session_id="s", **talk.options) if talk.has_memory else client
    )


def _chat(talk: Talk, *, objects: bool = False) -> Generator[list[Any], Any, str]:
    """Hold the conversation: yield the messages of each call, and receive its completion."""
    messages: list[Any] = [{"role": "system", "content": "You read logs."}]
    for said in talk.said:
        messages.append({"role": "user", "content": said})
        calls: Any = True
        while calls:
            message = (yield messages).choices[0].message
            messages.append(message if objects else message.to_dict())
            calls = message.tool_calls
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": _read(call.function)}
                for call in calls or ()
            ]
    return "\n".join(str(it["content"]) for it in messages if isinstance(it, dict))


def _responses(talk: Talk, *, objects: bool = False) -> Generator[list[Any], Any, str]:
    """Hold the conversation: yield the items of each call, and receive its response."""
    items: list[Any] = []
    for said in talk.said:
        items.append({"role": "user", "content": said})
        calls: Any = True
        while calls:
            output = (yield items).output
            items += output if objects else [item.to_dict() for item in output]
            calls = [item for item in output if item.type == "function_call"]
            items += [
                {"type": "function_call_output", "call_id": call.call_id, "output": _read(call)}
                for call in calls
            ]
    return "\n".join(str(it.get("output")) for it in items if isinstance(it, dict))


def _read(call: Any) -> str:
    return read_log(json.loads(call.arguments)["n"])


def _run(talk: Talk, *, api: str, way: str = "create") -> str:
    client = _client(talk, openai.OpenAI)

    def send(messages: list[Any]) -> Any:
        if api == "chat":
            if way == "helper":
                usage: Any = {"include_usage": True}
                with client.chat.completions.stream(
                    messages=messages, stream_options=usage, **CHAT
                ) as stream:
                    return stream.get_final_completion()
            return client.chat.completions.create(messages=messages, **CHAT)
        if way == "helper":
            with client.responses.stream(input=messages, **RESPONSES) as stream:
                return stream.get_final_response()
        return client.responses.create(input=messages, **RESPONSES)

    turns = (_chat if api == "chat" else _responses)(talk, objects=way == "objects")
    response = None
    with client:
        while True:
            try:
                response = send(turns.send(response))
            except StopIteration as end:
                return str(end.value)


def _arun(talk: Talk, *, api: str, way: str = "create") -> str:
    async def send(client: Any, messages: list[Any]) -> Any:
        if api == "chat":
            return await client.chat.completions.create(messages=messages, **CHAT)
        if way == "helper":
            async with client.responses.stream(input=messages, **RESPONSES) as stream:
                return await stream.get_final_response()
        return await client.responses.create(input=messages, **RESPONSES)

    async def hold() -> str:
        turns = (_chat if api == "chat" else _responses)(talk)
        response = None
        async with _client(talk, openai.AsyncOpenAI) as client:
            while True:
                try:
                    messages = turns.send(response)
                except StopIteration as end:
                    return str(end.value)
                response = await send(client, messages)

    return asyncio.run(hold())


CASES = [
    Case("openai-chat", partial(_run, api="chat")),
    Case("openai-chat-objects", partial(_run, api="chat", way="objects")),
    Case("openai-chat-stream", partial(_run, api="chat", way="helper")),
    Case("openai-chat-async", partial(_arun, api="chat")),
    Case("openai-responses", partial(_run, api="responses")),
    Case("openai-responses-stream", partial(_run, api="responses", way="helper")),
    Case("openai-responses-async-stream", partial(_arun, api="responses", way="helper")),
    Case(
        "openai-responses-reasoning", partial(_run, api="responses", way="objects"), reasoning=True
    ),
]

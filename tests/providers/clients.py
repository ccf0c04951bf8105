"""The conversation held through the providers' own SDKs, a loop for each API as a host would write it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import openai

from . import conversation

if TYPE_CHECKING:
    from collections.abc import Iterable

    import memctx

    from .server import Provider

MODEL = "loopback"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ABOUT = "Read log number n."


def anthropic_turns(
    provider: Provider, memory: memctx.Memory, *, way: str = "dicts", thinking: bool = False
) -> list[Any]:
    """Hold the conversation through the Messages API and return the host's own list."""
    client = anthropic.Anthropic(base_url=provider.url, api_key="x", max_retries=0)
    options: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "system": "You read logs."}
    options["tools"] = [{"name": "read_log", "description": ABOUT, "input_schema": SCHEMA}]
    if thinking:
        options["thinking"] = {"type": "enabled", "budget_tokens": 1024}

    def send(messages: list[Any]) -> Any:
        if way == "stream":
            with client.messages.stream(messages=messages, **options) as stream:
                return stream.get_final_message()
        return client.messages.create(messages=messages, **options)

    messages: list[Any] = []
    for said in conversation.turns():
        messages.append({"role": "user", "content": said})
        while True:
            turn = memory.prepare(messages)
            response = send(turn.messages)
            memory.observe(response.usage)
            messages.append(anthropic_answer(response, way))
            if results := anthropic_results(response):
                messages.append({"role": "user", "content": results})
                continue
            break
    client.close()
    return messages


async def anthropic_turns_async(provider: Provider, memory: memctx.Memory) -> list[Any]:
    """Hold the conversation through the asynchronous client."""
    options: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "system": "You read logs."}
    options["tools"] = [{"name": "read_log", "description": ABOUT, "input_schema": SCHEMA}]
    messages: list[Any] = []
    async with anthropic.AsyncAnthropic(
        base_url=provider.url, api_key="x", max_retries=0
    ) as client:
        for said in conversation.turns():
            messages.append({"role": "user", "content": said})
            while True:
                turn = await memory.aprepare(messages)
                response = await client.messages.create(messages=turn.messages, **options)
                memory.observe(response.usage)
                messages.append(anthropic_answer(response, "dicts"))
                if results := anthropic_results(response):
                    messages.append({"role": "user", "content": results})
                    continue
                break
    return messages


def anthropic_answer(response: Any, way: str) -> dict[str, Any]:
    """Return the message that a host keeps of a response: plain dictionaries, or the SDK's objects as they are."""
    if way == "objects":
        return {"role": "assistant", "content": response.content}
    blocks = [block.model_dump(exclude_none=True) for block in response.content]
    known = {"text": ("type", "text"), "tool_use": ("type", "id", "name", "input")}
    kept = [{key: block[key] for key in known.get(block["type"], tuple(block))} for block in blocks]
    return {"role": "assistant", "content": kept}


def anthropic_results(response: Any) -> list[dict[str, Any]]:
    """Return the results of the calls in a response."""
    return [
        {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": conversation.read_log(block.input["n"]),
        }
        for block in response.content
        if block.type == "tool_use"
    ]


def chat_turns(provider: Provider, memory: memctx.Memory, *, way: str = "dicts") -> list[Any]:
    """Hold the conversation through chat completions."""
    client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
    function = {"name": "read_log", "description": ABOUT, "parameters": SCHEMA}
    tools: Any = [{"type": "function", "function": function}]

    def send(messages: list[Any]) -> tuple[Any, Any]:
        if way == "stream":
            with client.chat.completions.stream(
                model=MODEL, messages=messages, tools=tools, stream_options={"include_usage": True}
            ) as stream:
                completion: Any = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        return completion.choices[0].message, completion.usage

    messages: list[Any] = [{"role": "system", "content": "You read logs."}]
    for said in conversation.turns():
        messages.append({"role": "user", "content": said})
        while True:
            message, usage = send(memory.prepare(messages).messages)
            memory.observe(usage)
            is_object = way == "objects"
            messages.append(message if is_object else _chat_answer(message))
            for call in message.tool_calls or ():
                text = conversation.read_log(json.loads(call.function.arguments)["n"])
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
            if not message.tool_calls:
                break
    client.close()
    return messages


def _chat_answer(message: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        kept["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
    return kept


def responses_turns(provider: Provider, memory: memctx.Memory, *, way: str = "dicts") -> list[Any]:
    """Hold the conversation through the responses API, its items kept by the host."""
    client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
    tools: Any = [
        {
            "type": "function",
            "name": "read_log",
            "description": ABOUT,
            "parameters": SCHEMA,
            "strict": False,
        }
    ]
    items: list[Any] = []
    for said in conversation.turns():
        items.append({"role": "user", "content": said})
        while True:
            turn = memory.prepare(items)
            response = client.responses.create(
                model=MODEL,
                input=turn.messages,
                tools=tools,
                instructions="You read logs.",
                store=False,
            )
            memory.observe(response.usage)
            items += response.output if way == "objects" else _dumped(response.output)
            calls = [item for item in response.output if item.type == "function_call"]
            items += [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": conversation.read_log(json.loads(call.arguments)["n"]),
                }
                for call in calls
            ]
            if not calls:
                break
    client.close()
    return items


def _dumped(items: Iterable[Any]) -> list[dict[str, Any]]:
    return [item.model_dump(exclude_none=True, mode="json") for item in items]

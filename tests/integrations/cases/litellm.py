"""LiteLLM: calls of a program with the callback, and through the proxy."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

import anthropic
import litellm
import openai

from integrations.case import Case, read_log
from memctx import Report, Turn
from memctx.integrations.litellm import MemctxCallback
from providers import clients

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from integrations.case import Talk

FUNCTION = {"name": "read_log", "description": clients.ABOUT, "parameters": clients.SCHEMA}
TOOL = {"type": "function", "function": FUNCTION}
MODELS = {
    "chat": {"model": "openai/loopback", "path": "/v1"},
    "anthropic": {"model": "anthropic/claude-loopback", "path": ""},
    "thinking": {"model": "anthropic/claude-sonnet-4-5", "path": ""},
}
START = 90.0
KEY = f"sk-{'5eed' * 16}"
"""Key of the proxy."""


def _options(name: str, talk: Talk, *, stream: bool) -> dict[str, Any]:
    options: dict[str, Any] = {
        "model": MODELS[name]["model"],
        "api_base": talk.url + MODELS[name]["path"],
        "api_key": "x",
        "tools": [TOOL],
        "num_retries": 0,
        "metadata": {"session_id": "t1"},
        "stream": stream,
    }
    if name == "thinking":
        options["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    return options


def _next(messages: list[Any], message: Any) -> bool:
    """Append the answer, an object of LiteLLM, and the results of its calls; return whether there were any."""
    messages.append(message)
    for call in message.tool_calls or ():
        text = read_log(json.loads(call.function.arguments)["n"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return bool(message.tool_calls)


def _sync(name: str, talk: Talk, *, stream: bool = False) -> str:
    complete: Callable[..., Any] = litellm.completion
    if talk.has_memory:
        complete = MemctxCallback(talk.path, **talk.options).completion
    messages: list[Any] = [{"role": "system", "content": "You read logs."}]
    for said in talk.said:
        messages.append({"role": "user", "content": said})
        while True:
            response = complete(messages=messages, **_options(name, talk, stream=stream))
            if stream:
                response = litellm.stream_chunk_builder(list(response), messages=messages)
            if not _next(messages, response.choices[0].message):
                break
    return str(messages)


def _async(name: str, talk: Talk, *, stream: bool = False) -> str:
    async def complete(messages: list[Any]) -> Any:
        response: Any = await litellm.acompletion(
            messages=messages, **_options(name, talk, stream=stream)
        )
        if not stream:
            return response
        return litellm.stream_chunk_builder([chunk async for chunk in response], messages=messages)

    async def hold() -> str:
        messages: list[Any] = [{"role": "system", "content": "You read logs."}]
        for said in talk.said:
            messages.append({"role": "user", "content": said})
            while _next(messages, (await complete(messages)).choices[0].message):
                pass
        return str(messages)

    litellm.callbacks = [MemctxCallback(talk.path, **talk.options)] if talk.has_memory else []
    try:
        return asyncio.run(hold())
    finally:
        litellm.callbacks = []


PROXY = """
import json
from memctx.integrations.litellm import MemctxCallback

def on_turn(turn):
    report = {"errors": list(turn.report.errors), "trimmed": len(turn.report.trimmed)}
    with open("turns.jsonl", "a") as file:
        file.write(json.dumps(report) + "\\n")

memory = MemctxCallback(MEMORY, on_turn=on_turn, **OPTIONS)
"""


@contextmanager
def proxy(
    folder: Path, config: dict[str, Any], *, module: str = "", **environment: str
) -> Iterator[str]:
    """Run the proxy with a configuration, and with a module ``setup`` beside it; give its address."""
    folder.mkdir(exist_ok=True)
    (folder / "setup.py").write_text(module)
    (folder / "config.yaml").write_text(json.dumps(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = "from litellm import run_server; run_server()"
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                script,
                "--config=config.yaml",
                "--host=127.0.0.1",
                f"--port={port}",
            ],
            env=os.environ | {"LITELLM_MASTER_KEY": KEY, "NO_DOCS": "True"} | environment,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/health/liveliness", process, folder / "log.txt")
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(url, timeout=5).close()  # noqa: S310 - it is on this machine
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(log.read_text()[-3000:])


def models(url: str) -> list[dict[str, Any]]:
    """Return the models of the proxy, both of the loopback provider."""
    return [
        {
            "model_name": name,
            "litellm_params": {
                "model": MODELS[name]["model"],
                "api_base": url + MODELS[name]["path"],
                "api_key": "x",
            },
        }
        for name in ("chat", "anthropic")
    ]


def _proxy(hold: Callable[[str, list[str]], Awaitable[str]], talk: Talk) -> str:
    """Hold the conversation through the proxy, and hand on the turns of the memory in its process."""
    folder = talk.path.parent / "proxy"
    config: dict[str, Any] = {"model_list": models(talk.url)}
    module = ""
    options = dict(talk.options)
    on_turn = options.pop("on_turn", None)
    if talk.has_memory:
        config["litellm_settings"] = {"callbacks": ["setup.memory"]}
        module = PROXY.replace("MEMORY", repr(str(talk.path))).replace("OPTIONS", repr(options))
    with proxy(folder, config, module=module) as url:
        state = asyncio.run(_collect(hold(url, talk.said)))
    turns = folder / "turns.jsonl"
    for line in turns.read_text().splitlines() if turns.exists() else ():
        told = json.loads(line)
        trimmed: Any = [None] * told["trimmed"]
        if on_turn is not None:
            on_turn(Turn([], Report("unknown", errors=told["errors"], trimmed=trimmed)))
    return state


async def _collect(held: Awaitable[str]) -> str:
    return await held


HEADERS = {"x-litellm-session-id": "thread-one"}


async def _chat(url: str, turns: list[str]) -> str:
    tools: Any = [{"type": "function", "function": FUNCTION | {"strict": True}}]
    messages: list[Any] = [{"role": "system", "content": "You read logs."}]
    async with openai.AsyncOpenAI(
        base_url=url, api_key=KEY, max_retries=0, default_headers=HEADERS
    ) as client:
        for said in turns:
            messages.append({"role": "user", "content": said})
            while True:
                async with client.chat.completions.stream(
                    model="chat",
                    messages=messages,
                    tools=tools,
                    stream_options={"include_usage": True},
                ) as stream:
                    completion = await stream.get_final_completion()
                if not _next(messages, completion.choices[0].message):
                    break
    return str(messages)


async def _messages(url: str, turns: list[str]) -> str:
    tools: Any = [
        {"name": "read_log", "description": clients.ABOUT, "input_schema": clients.SCHEMA}
    ]
    messages: list[Any] = []
    async with anthropic.AsyncAnthropic(
        base_url=url, api_key=KEY, max_retries=0, default_headers=HEADERS
    ) as client:
        for said in turns:
            messages.append({"role": "user", "content": said})
            while True:
                response: Any = await client.messages.create(
                    model="anthropic",
                    max_tokens=500,
                    system="You read logs.",
                    tools=tools,
                    messages=messages,
                )
                messages.append(clients.anthropic_answer(response, "dicts"))
                if not (results := clients.anthropic_results(response)):
                    break
                messages.append({"role": "user", "content": results})
    return str(messages)


async def _responses(url: str, turns: list[str]) -> str:
    tools: Any = [{"type": "function", "strict": False, **FUNCTION}]
    items: list[Any] = []
    async with openai.AsyncOpenAI(
        base_url=url, api_key=KEY, max_retries=0, default_headers=HEADERS
    ) as client:
        for said in turns:
            items.append({"role": "user", "content": said})
            while True:
                response: Any = await client.responses.create(
                    model="chat",
                    input=items,
                    tools=tools,
                    instructions="You read logs.",
                    store=False,
                )
                items += [it.model_dump(exclude_none=True, mode="json") for it in response.output]
                calls = [item for item in response.output if item.type == "function_call"]
                items += [
                    {
                        "type": "function_call_output",
                        "call_id": call.call_id,
                        "output": read_log(json.loads(call.arguments)["n"]),
                    }
                    for call in calls
                ]
                if not calls:
                    break
    return str(items)


CASES = [
    Case("litellm-chat", partial(_sync, "chat")),
    Case("litellm-chat-async", partial(_async, "chat")),
    Case("litellm-anthropic", partial(_sync, "anthropic")),
    Case("litellm-anthropic-stream", partial(_sync, "anthropic", stream=True)),
    Case("litellm-anthropic-async-stream", partial(_async, "anthropic", stream=True)),
    Case("litellm-anthropic-thinking", partial(_async, "thinking"), reasoning=True),
    Case("litellm-proxy-chat-stream", partial(_proxy, _chat)),
    Case("litellm-proxy-messages", partial(_proxy, _messages)),
    Case("litellm-proxy-responses", partial(_proxy, _responses)),
    Case("litellm-chat-stream", partial(_sync, "chat", stream=True)),
    Case("litellm-chat-async-stream", partial(_async, "chat", stream=True)),
]

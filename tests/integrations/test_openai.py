"""OpenAI's client with memory: sessions, usage, calls that it leaves alone, failures."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

import pytest

openai = pytest.importorskip("openai")

from pydantic import BaseModel  # noqa: E402 - the client's own

import memctx  # noqa: E402
from memctx.integrations.openai import remember, session  # noqa: E402
from providers.server import Provider  # noqa: E402

from .wire import Wire  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

MODEL = "loopback"
ASKED = "Which port has the webhook?"
HELLO: list[Any] = [{"role": "user", "content": ASKED}]
TEXT = '{"port": 8443}'
CHAT = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": MODEL,
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}
    ],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020},
}
CHUNK = CHAT | {"object": "chat.completion.chunk", "usage": None}
CHUNKS: list[Any] = [
    CHUNK
    | {
        "choices": [{"index": 0, "delta": {"content": TEXT}, "finish_reason": "stop"}],
        "type": None,
    },
    CHUNK | {"choices": [], "usage": CHAT["usage"]},
]
PART = {"type": "output_text", "text": TEXT, "annotations": []}
RESPONSE = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "model": MODEL,
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "status": "completed",
            "content": [PART],
        }
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 1000,
        "input_tokens_details": {"cached_tokens": 900},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 1020,
    },
}
EVENTS: list[Any] = [
    {"type": "response.created", "sequence_number": 0, "response": RESPONSE | {"usage": None}},
    {"type": "response.completed", "sequence_number": 1, "response": RESPONSE},
]


class Port(BaseModel):
    port: int


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memctx.Memory]:
    with memctx.open(tmp_path / "memory", session_id="s", context_window=200_000) as opened:
        yield opened


def connect(wire: Wire, kind: Any = openai.OpenAI, retries: int = 0) -> Any:
    """Return a client over the wire, without memory."""
    client = wire.async_client if kind is openai.AsyncOpenAI else wire.client
    return kind(api_key="x", max_retries=retries, http_client=client)


def chat(client: Any) -> None:
    client.chat.completions.create(model=MODEL, messages=HELLO)


def chat_parse(client: Any) -> None:
    done = client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Port)
    assert done.choices[0].message.parsed == Port(port=8443)


def chat_raw(client: Any) -> None:
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=HELLO)
    assert raw.parse().choices[0].message.content == TEXT


def chat_stream(client: Any) -> None:
    with client.chat.completions.create(model=MODEL, messages=HELLO, stream=True) as chunks:
        assert len(list(chunks)) == len(CHUNKS)


def chat_raw_stream(client: Any) -> None:
    raw = client.chat.completions.with_raw_response
    assert len(list(raw.create(model=MODEL, messages=HELLO, stream=True).parse())) == len(CHUNKS)


def chat_helper(client: Any) -> None:
    with client.chat.completions.stream(model=MODEL, messages=HELLO) as events:
        assert events.get_final_completion().choices[0].message.content == TEXT


def responses(client: Any) -> None:
    assert client.responses.create(model=MODEL, input=HELLO).output_text == TEXT


def responses_string(client: Any) -> None:
    client.responses.create(model=MODEL, input=ASKED)


def responses_parse(client: Any) -> None:
    done = client.responses.parse(model=MODEL, input=HELLO, text_format=Port)
    assert done.output_parsed == Port(port=8443)


def responses_stream(client: Any) -> None:
    with client.responses.create(model=MODEL, input=HELLO, stream=True) as events:
        assert len(list(events)) == len(EVENTS)


def responses_streaming_response(client: Any) -> None:
    call = client.responses.with_streaming_response.create(model=MODEL, input=HELLO, stream=True)
    with call as response:
        assert len(list(response.parse())) == len(EVENTS)


def responses_helper(client: Any) -> None:
    with client.responses.stream(model=MODEL, input=HELLO) as events:
        assert events.get_final_response().output_text == TEXT


async def achat(client: Any) -> None:
    await client.chat.completions.create(model=MODEL, messages=HELLO)


async def achat_stream(client: Any) -> None:
    chunks = await client.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
    assert len([chunk async for chunk in chunks]) == len(CHUNKS)


async def aresponses_raw_stream(client: Any) -> None:
    raw = await client.responses.with_raw_response.create(model=MODEL, input=HELLO, stream=True)
    assert len([event async for event in raw.parse()]) == len(EVENTS)


async def aresponses_streaming_response(client: Any) -> None:
    call = client.responses.with_streaming_response.create(model=MODEL, input=HELLO, stream=True)
    async with call as response:
        assert len([event async for event in await response.parse()]) == len(EVENTS)


CALLS: dict[Callable[[Any], None], Any] = {
    chat: CHAT,
    chat_parse: CHAT,
    chat_raw: CHAT,
    chat_stream: CHUNKS,
    chat_raw_stream: CHUNKS,
    chat_helper: CHUNKS,
    responses: RESPONSE,
    responses_string: RESPONSE,
    responses_parse: RESPONSE,
    responses_stream: EVENTS,
    responses_streaming_response: EVENTS,
    responses_helper: EVENTS,
}
ASYNC_CALLS: dict[Callable[[Any], Any], Any] = {
    achat: CHAT,
    achat_stream: CHUNKS,
    aresponses_raw_stream: EVENTS,
    aresponses_streaming_response: EVENTS,
}


@pytest.mark.parametrize("call", CALLS)
def test_usage_is_observed_and_the_request_stays(
    call: Callable[[Any], None], memory: memctx.Memory
) -> None:
    plain, wire = Wire([(200, CALLS[call])]), Wire([(200, CALLS[call])])
    call(connect(plain))
    call(remember(connect(wire), memory))
    assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1000, 20)
    assert wire.bodies == plain.bodies


@pytest.mark.parametrize("call", ASYNC_CALLS)
def test_usage_of_asynchronous_calls_is_observed(
    call: Callable[[Any], Any], memory: memctx.Memory
) -> None:
    wire = Wire([(200, ASYNC_CALLS[call])])
    asyncio.run(call(remember(connect(wire, openai.AsyncOpenAI), memory)))
    assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1000, 20)


def test_recalled_text_is_added_to_input_that_is_a_string(memory: memctx.Memory) -> None:
    memory.archive([{"role": "user", "content": "The webhook listens on port 8443."}])
    wire = Wire([(200, RESPONSE)])
    responses_string(remember(connect(wire), memory))
    assert "8443" in str(wire.bodies[0]["input"])
    assert wire.bodies[0]["input"][-1]["role"] == "user"
    assert ASKED in str(wire.bodies[0]["input"][-1]["content"])


def test_tasks_of_one_client_keep_their_sessions(tmp_path: Path) -> None:
    wire = Wire([(200, CHUNKS)])
    client = remember(connect(wire, openai.AsyncOpenAI), tmp_path, context_window=200_000)

    async def say(name: str, agent: str | None) -> None:
        with session(name, agent=agent):
            said: list[Any] = [{"role": "user", "content": f"{name} and {agent} chose quokka."}]
            chunks = await client.chat.completions.create(model=MODEL, messages=said, stream=True)
            assert [chunk async for chunk in chunks]

    users = [(f"user-{n}", agent) for n in range(6) for agent in (None, "planner")]

    async def run() -> None:
        await asyncio.gather(*(say(*user) for user in users))

    asyncio.run(run())
    client.memctx_sessions.close()
    for name, agent in users:
        own = f"{name}/{agent}" if agent else name
        with memctx.open(tmp_path, session_id=own) as memory:
            hit, *_ = memory.search("quokka")
            assert hit.segment.content == f"{name} and {agent} chose quokka."


CHAT_CALL: dict[str, Any] = {"model": MODEL, "messages": HELLO}
CALL: dict[str, Any] = {"model": MODEL, "input": HELLO}
LEFT_ALONE: dict[str, Callable[[Any], object]] = {
    "previous_response_id is set": lambda it: it.responses.create(
        previous_response_id="r0", **CALL
    ),
    "conversation is set": lambda it: it.responses.create(conversation="conv_1", **CALL),
    "conversation is set, in extra_body": lambda it: it.responses.create(
        extra_body={"conversation": "conv_1"}, **CALL
    ),
    "an item is a reference": lambda it: it.responses.create(
        model=MODEL, input=[{"type": "item_reference", "id": "fc_1"}, *HELLO]
    ),
    "server compacts": lambda it: it.responses.compact(**CALL),
    "tokens are counted": lambda it: it.responses.input_tokens.count(**CALL),
    "server keeps": lambda it: it.conversations.create(items=HELLO),
    "input is NoneType": lambda it: it.responses.create(model=MODEL, prompt={"id": "pmpt_1"}),
    "messages is in extra_body": lambda it: it.chat.completions.create(
        model=MODEL, messages=[], extra_body={"messages": HELLO}
    ),
    "MessageFormatError": lambda it: it.chat.completions.create(
        model=MODEL, messages=[{"role": "alien", "text": "?"}]
    ),
}


@pytest.mark.parametrize("reason", LEFT_ALONE)
def test_calls_that_are_not_for_memory_are_left_alone_and_reported(
    reason: str, tmp_path: Path
) -> None:
    turns: list[memctx.Turn] = []
    plain, wire = Wire([(200, RESPONSE)]), Wire([(200, RESPONSE)])
    LEFT_ALONE[reason](connect(plain))
    LEFT_ALONE[reason](remember(connect(wire), tmp_path, session_id="s", on_turn=turns.append))
    assert wire.bodies == plain.bodies
    assert reason.partition(",")[0] in turns[0].report.errors[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_of_assistants_are_left_alone_and_reported(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    client = connect(Wire([(200, {"id": "t1"})]))
    client = remember(client, tmp_path, session_id="s", on_turn=turns.append)
    client.beta.threads.messages.create("t1", role="user", content=ASKED)
    assert "server keeps" in turns[0].report.errors[0]


def test_calls_without_messages_are_not_reported(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    client = connect(Wire([(200, {"data": []})]))
    client = remember(client, tmp_path, session_id="s", on_turn=turns.append)
    client.models.list()
    client.embeddings.create(model=MODEL, input="text", encoding_format="float")
    assert turns == []


def test_without_a_session_calls_are_sent_as_they_are(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    wire = Wire([(200, CHAT)])
    chat(remember(connect(wire), tmp_path, on_turn=turns.append))
    assert "the conversation has no id" in turns[0].report.errors[0]
    assert wire.bodies[0]["messages"] == HELLO


def test_the_client_keeps_its_type_and_copies_keep_their_memory(memory: memctx.Memory) -> None:
    turns: list[memctx.Turn] = []
    plain = connect(Wire([(200, CHAT)]))
    client = remember(plain, memory, on_turn=turns.append)
    assert isinstance(client, openai.OpenAI)
    assert type(client).__name__ == "OpenAI"
    chat(client.with_options(timeout=5))
    assert len(turns) == 1
    chat(plain)
    assert len(turns) == 1


def test_a_client_is_remembered_by_the_last_memory_only(
    memory: memctx.Memory, tmp_path: Path
) -> None:
    first: list[memctx.Turn] = []
    last: list[memctx.Turn] = []
    client = remember(connect(Wire([(200, CHAT)])), memory, on_turn=first.append)
    chat(remember(client, tmp_path, session_id="bob", on_turn=last.append))
    assert (len(first), len(last)) == (0, 1)


def test_azure_clients_are_remembered(memory: memctx.Memory) -> None:
    client = openai.AzureOpenAI(
        api_key="x",
        azure_endpoint="https://example.com",
        api_version="1",
        http_client=Wire([(200, CHAT)]).client,
    )
    chat(remember(client, memory))
    assert memory.counters.input_tokens == 1000


def test_other_clients_are_refused(memory: memctx.Memory) -> None:
    other: Any = object()
    with pytest.raises(TypeError, match="client is object; expected OpenAI or AsyncOpenAI"):
        remember(other, memory)


def test_a_repeated_request_is_prepared_once(memory: memctx.Memory) -> None:
    turns: list[memctx.Turn] = []
    wire = Wire([(500, {"error": {"message": "busy"}}), (200, CHAT)])
    chat(remember(connect(wire, retries=1), memory, on_turn=turns.append))
    assert wire.bodies[0] == wire.bodies[1]
    assert len(turns) == 1


def test_errors_of_the_provider_pass_through(memory: memctx.Memory) -> None:
    long: list[Any] = [{"role": "user", "content": "too long " * 40_000}]
    with Provider() as provider:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
        with client, pytest.raises(openai.BadRequestError, match="context"):
            remember(client, memory).chat.completions.create(model=MODEL, messages=long)
    client = openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="x", max_retries=0)
    with client, pytest.raises(openai.APIConnectionError):
        chat(remember(client, memory))


def test_a_canceled_call_stays_canceled(memory: memctx.Memory) -> None:
    async def run() -> None:
        client = openai.AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="x", max_retries=0)
        async with remember(client, memory) as remembering:
            task = asyncio.create_task(achat(remembering))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with Provider() as provider:
        asyncio.run(run())


def test_messages_of_the_caller_and_pictures_stay(memory: memctx.Memory) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
    function = {"name": "x", "arguments": "{}"}
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": ASKED}, picture]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": [{"type": "text", "text": "A chart."}]},
    ]
    before = copy.deepcopy(messages)
    wire = Wire([(200, CHAT)])
    remember(connect(wire), memory).chat.completions.create(model=MODEL, messages=messages)
    assert messages == before
    assert wire.bodies[0]["messages"] == before

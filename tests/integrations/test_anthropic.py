"""The middleware of Anthropic's client: sessions, usage, requests that it leaves alone, failures."""

from __future__ import annotations

import asyncio
import copy
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

anthropic = pytest.importorskip("anthropic")

from pydantic import BaseModel  # noqa: E402 - the client's own

import memctx  # noqa: E402
from memctx.integrations.anthropic import MemctxMiddleware, session  # noqa: E402
from providers.server import Provider  # noqa: E402

from .wire import Wire  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

OPTIONS: dict[str, Any] = {"model": "loopback", "max_tokens": 500}
HELLO: list[Any] = [{"role": "user", "content": "Which port has the webhook?"}]
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "loopback",
    "content": [{"type": "text", "text": '{"port": 8443}'}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 20},
}
EVENTS: list[Any] = [
    {"type": "message_start", "message": ANSWER | {"content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": '{"port": 8443}'},
    },
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"input_tokens": None, "output_tokens": 30},
    },
    {"type": "message_stop"},
]


class Port(BaseModel):
    port: int


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memctx.Memory]:
    with memctx.open(tmp_path / "memory", session_id="s", context_window=200_000) as opened:
        yield opened


def connect(wire: Wire, *middleware: Any, kind: Any = anthropic.Anthropic, retries: int = 0) -> Any:
    """Return a client over the wire."""
    client = wire.async_client if kind is anthropic.AsyncAnthropic else wire.client
    return kind(api_key="x", max_retries=retries, http_client=client, middleware=middleware)


def create(client: Any) -> None:
    client.messages.create(messages=HELLO, **OPTIONS)


def beta(client: Any) -> None:
    client.beta.messages.create(messages=HELLO, **OPTIONS)


def parse(client: Any) -> None:
    parsed = client.messages.parse(messages=HELLO, output_format=Port, **OPTIONS)
    assert parsed.parsed_output == Port(port=8443)


def raw(client: Any) -> None:
    response = client.messages.with_raw_response.create(messages=HELLO, **OPTIONS)
    assert response.parse().content[0].text


def stream(client: Any) -> None:
    with client.messages.create(messages=HELLO, stream=True, **OPTIONS) as events:
        assert len(list(events)) == len(EVENTS)


def raw_stream(client: Any) -> None:
    response = client.messages.with_raw_response.create(messages=HELLO, stream=True, **OPTIONS)
    assert len(list(response.parse())) == len(EVENTS)


def streaming_response(client: Any) -> None:
    call = client.messages.with_streaming_response.create(messages=HELLO, stream=True, **OPTIONS)
    with call as response:
        assert len(list(response.parse())) == len(EVENTS)


def helper(client: Any) -> None:
    with client.messages.stream(messages=HELLO, **OPTIONS) as events:
        assert "".join(events.text_stream) == '{"port": 8443}'


def beta_helper(client: Any) -> None:
    with client.beta.messages.stream(messages=HELLO, **OPTIONS) as events:
        assert events.get_final_message().content[0].text


async def acreate(client: Any) -> None:
    await client.messages.create(messages=HELLO, **OPTIONS)


async def astream(client: Any) -> None:
    events = await client.messages.create(messages=HELLO, stream=True, **OPTIONS)
    assert len([event async for event in events]) == len(EVENTS)


async def ahelper(client: Any) -> None:
    async with client.messages.stream(messages=HELLO, **OPTIONS) as events:
        await events.get_final_message()


@pytest.mark.parametrize("call", [create, beta, parse, raw])
def test_usage_is_observed_with_its_turn(
    call: Callable[[Any], None], memory: memctx.Memory
) -> None:
    call(connect(Wire([(200, ANSWER)]), MemctxMiddleware(memory)))
    assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1000, 20)


@pytest.mark.parametrize("call", [stream, raw_stream, streaming_response, helper, beta_helper])
def test_usage_is_observed_at_the_end_of_a_stream(
    call: Callable[[Any], None], memory: memctx.Memory
) -> None:
    call(connect(Wire([(200, EVENTS)]), MemctxMiddleware(memory)))
    assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1000, 30)


@pytest.mark.parametrize(
    ("call", "answer"), [(acreate, ANSWER), (astream, EVENTS), (ahelper, EVENTS)]
)
def test_usage_of_asynchronous_calls_is_observed(
    call: Callable[[Any], Any], answer: Any, memory: memctx.Memory
) -> None:
    wire = Wire([(200, answer)])
    asyncio.run(call(connect(wire, MemctxMiddleware(memory), kind=anthropic.AsyncAnthropic)))
    assert memory.counters.input_tokens == 1000


def test_a_stream_that_is_left_early_has_the_usage_of_its_prompt(memory: memctx.Memory) -> None:
    client = connect(Wire([(200, EVENTS)]), MemctxMiddleware(memory))
    with client.messages.stream(messages=HELLO, **OPTIONS) as events:
        next(iter(events))
    del events
    gc.collect()
    assert memory.counters.input_tokens == 1000


def test_a_body_that_is_not_read_is_left_to_the_caller(memory: memctx.Memory) -> None:
    with Provider() as provider:
        middleware = [MemctxMiddleware(memory)]
        client = anthropic.Anthropic(base_url=provider.url, api_key="x", middleware=middleware)
        call = client.messages.with_streaming_response.create(messages=HELLO, **OPTIONS)
        with client, call as response:
            assert not response.is_closed
            assert response.parse().usage.output_tokens == 20
    assert memory.counters.input_tokens is None


def test_each_block_has_a_session_of_its_own(tmp_path: Path) -> None:
    wire = Wire([(200, ANSWER)])
    middleware = MemctxMiddleware(tmp_path, session_id="default", context_window=200_000)
    client = connect(wire, middleware)

    def say(name: str, agent: str | None) -> None:
        with session(name, agent=agent):
            said = f"The codename of the release for {name} and {agent} is quokka."
            client.messages.create(messages=[{"role": "user", "content": said}], **OPTIONS)

    users = [(f"user-{n}", agent) for n in range(6) for agent in (None, "planner")]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda user: say(*user), users))
    middleware.sessions.close()
    for name, agent in users:
        own = f"{name}/{agent}" if agent else name
        with memctx.open(tmp_path, session_id=own) as memory:
            hit, *_ = memory.search("codename of the release")
            assert f"for {name} and {agent} is" in hit.segment.content
    with memctx.open(tmp_path, session_id="default") as memory:
        assert memory.search("codename of the release") == []


def test_tasks_of_one_client_keep_their_sessions(tmp_path: Path) -> None:
    wire = Wire([(200, EVENTS)])
    middleware = MemctxMiddleware(tmp_path, context_window=200_000)
    client = connect(wire, middleware, kind=anthropic.AsyncAnthropic)

    async def say(name: str) -> None:
        with session(name):
            said: list[Any] = [{"role": "user", "content": f"The codename of {name} is quokka."}]
            async with client.messages.stream(messages=said, **OPTIONS) as events:
                await events.get_final_message()

    async def run() -> None:
        await asyncio.gather(*(say(f"user-{n}") for n in range(8)))

    asyncio.run(run())
    middleware.sessions.close()
    for n in range(8):
        with memctx.open(tmp_path, session_id=f"user-{n}") as memory:
            hit, *_ = memory.search("codename quokka")
            assert f"codename of user-{n} is" in hit.segment.content


def test_without_a_session_requests_are_sent_as_they_are(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    wire = Wire([(200, ANSWER)])
    create(connect(wire, MemctxMiddleware(tmp_path, on_turn=turns.append)))
    assert "the conversation has no id" in turns[0].report.errors[0]
    assert wire.bodies[0]["messages"] == HELLO


def test_a_block_for_another_session_than_the_open_memory_is_reported(
    memory: memctx.Memory,
) -> None:
    turns: list[memctx.Turn] = []
    client = connect(Wire([(200, ANSWER)]), MemctxMiddleware(memory, on_turn=turns.append))
    with session("s"):
        create(client)
    with session("other"):
        create(client)
    assert turns[0].report.errors == ()
    assert "the session is 'other'" in turns[1].report.errors[0]


BATCH = [{"custom_id": "1", "params": OPTIONS | {"messages": HELLO}}]
LEFT_ALONE: dict[str, Callable[[Any], object]] = {
    "of a thread": lambda it: it.beta.messages.create(
        messages=HELLO, thread={"type": "create"}, **OPTIONS
    ),
    "of a thread in extra_body": lambda it: it.messages.create(
        messages=HELLO, extra_body={"thread": {"type": "create"}}, **OPTIONS
    ),
    "server compacts": lambda it: it.beta.messages.create(
        messages=HELLO, compaction={"type": "summarize"}, **OPTIONS
    ),
    "tokens are counted": lambda it: it.messages.count_tokens(messages=HELLO, model="loopback"),
    "a batch": lambda it: it.messages.batches.create(requests=BATCH),
    "MessageFormatError": lambda it: it.messages.create(
        messages=[{"role": "alien", "text": "?"}], **OPTIONS
    ),
}


@pytest.mark.parametrize("reason", LEFT_ALONE)
def test_requests_that_are_not_for_memory_are_left_alone_and_reported(
    reason: str, tmp_path: Path
) -> None:
    turns: list[memctx.Turn] = []
    plain, wire = Wire([(200, ANSWER)]), Wire([(200, ANSWER)])
    LEFT_ALONE[reason](connect(plain))
    middleware = MemctxMiddleware(tmp_path, session_id="s", on_turn=turns.append)
    LEFT_ALONE[reason](connect(wire, middleware))
    assert wire.bodies == plain.bodies
    assert reason.removesuffix(" in extra_body") in turns[0].report.errors[0]


def test_requests_without_messages_are_not_reported(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    wire = Wire([(200, {"data": [], "has_more": False})])
    connect(wire, MemctxMiddleware(tmp_path, session_id="s", on_turn=turns.append)).models.list()
    assert turns == []


def test_a_repeated_request_is_the_same(memory: memctx.Memory) -> None:
    wire = Wire([(529, {"type": "error", "error": {"type": "overloaded_error"}}), (200, ANSWER)])
    create(connect(wire, MemctxMiddleware(memory), retries=1))
    assert wire.bodies[0] == wire.bodies[1]
    assert memory.counters.input_tokens == 1000


def test_errors_of_the_provider_pass_through(memory: memctx.Memory) -> None:
    long = [{"role": "user", "content": "too long " * 40_000}]
    with Provider() as provider:
        client = anthropic.Anthropic(
            base_url=provider.url,
            api_key="x",
            max_retries=0,
            middleware=[MemctxMiddleware(memory)],
        )
        with client, pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
            client.messages.create(messages=long, **OPTIONS)
    with pytest.raises(anthropic.APIConnectionError), client:
        client.messages.create(messages=HELLO, **OPTIONS)


def test_a_canceled_call_stays_canceled(memory: memctx.Memory) -> None:
    async def hang(request: object, call_next: object) -> Any:
        del request, call_next
        await asyncio.sleep(60)

    async def run() -> None:
        client = connect(
            Wire([(200, ANSWER)]), MemctxMiddleware(memory), hang, kind=anthropic.AsyncAnthropic
        )
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.messages.create(messages=HELLO, **OPTIONS), 0.5)

    asyncio.run(run())


def test_messages_of_the_caller_and_pictures_stay(memory: memctx.Memory) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    content = [{"type": "text", "text": "A chart."}, {"type": "image", "source": source}]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    messages: list[Any] = [
        *HELLO,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "x", "input": {}}],
        },
        {"role": "user", "content": [result]},
    ]
    before = copy.deepcopy(messages)
    wire = Wire([(200, ANSWER)])
    connect(wire, MemctxMiddleware(memory)).messages.create(messages=messages, **OPTIONS)
    assert messages == before
    assert wire.bodies[0]["messages"] == before


def test_a_client_that_others_derive_keeps_its_memory(memory: memctx.Memory) -> None:
    create(connect(Wire([(200, ANSWER)]), MemctxMiddleware(memory)).with_options(timeout=5))
    assert memory.counters.input_tokens == 1000


CLOUDS: dict[str, dict[str, str]] = {
    "AnthropicVertex": {"region": "us-east5", "project_id": "p", "access_token": "t"},
    "AnthropicBedrock": {"aws_region": "us-east-1", "api_key": "k"},
}


@pytest.mark.parametrize("kind", CLOUDS)
def test_clients_of_clouds_are_prepared_alike(kind: str, memory: memctx.Memory) -> None:
    wire = Wire([(200, ANSWER)])
    make = getattr(anthropic, kind)
    create(make(http_client=wire.client, middleware=[MemctxMiddleware(memory)], **CLOUDS[kind]))
    assert wire.bodies[0]["messages"] == HELLO
    assert memory.counters.input_tokens == 1000

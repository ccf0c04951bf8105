"""Extractors on the real SDKs: requests, clients, usage and failures."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest

from memctx import ConfigError
from memctx.errors import ExtractionError
from memctx.facts.extractors import (
    AnthropicExtractor,
    ClientOptions,
    Extractor,
    Message,
    OpenAIExtractor,
    Price,
    Request,
)
from memctx.facts.extractors.prompt import SCHEMA, build_prompt

from .cases import APIS, GOOD, KEY, REQUEST, extractor_at
from .server import facts, hang, raw, reply, serving, status, without_schema

if TYPE_CHECKING:
    from .server import Handler, Model

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

CLASSES = {"anthropic": AnthropicExtractor, "openai": OpenAIExtractor}


def with_client(api: str, model: Model, *, is_async: bool) -> AnthropicExtractor | OpenAIExtractor:
    """Return an extractor with a custom client, which would retry by itself."""
    if api == "anthropic":
        maker: Any = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
        client = maker(base_url=model.url, api_key=KEY)
        return AnthropicExtractor("large", client=client, options=ClientOptions(max_retries=1))
    maker = openai.AsyncOpenAI if is_async else openai.OpenAI
    client = maker(base_url=f"{model.url}/v1", api_key=KEY)
    return OpenAIExtractor("large", client=client, options=ClientOptions(max_retries=1))


@pytest.mark.parametrize("api", APIS)
def test_requests_of_each_api(api: str) -> None:
    with serving(reply(GOOD)) as model:
        extraction = asyncio.run(extractor_at(api, model.url).extract(REQUEST))
    (call,) = model.calls
    prompt = build_prompt(REQUEST)
    assert call.headers["x-api-key" if "x-api-key" in call.headers else "authorization"].endswith(
        KEY
    )
    assert call.body["model"] == "large"
    assert model.said() == prompt.user
    if api == "anthropic":
        assert call.path == "/v1/messages"
        assert call.body["system"] == prompt.system
        assert call.body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    else:
        assert call.path == "/v1/chat/completions"
        assert call.body["messages"][0] == {"role": "system", "content": prompt.system}
        assert call.body["response_format"]["json_schema"]["schema"] == SCHEMA
        assert "max_completion_tokens" not in call.body
    (candidate,) = extraction.candidates
    assert (candidate.action, candidate.target, candidate.sources) == (
        "supersede",
        "11111111-aaaa",
        ("s1",),
    )


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "blocking"])
@pytest.mark.parametrize("api", APIS)
def test_a_custom_client_is_used_without_its_retries(api: str, is_async: bool) -> None:
    async def run(model: Model) -> None:
        extractor = with_client(api, model, is_async=is_async)
        assert len((await extractor.extract(REQUEST)).candidates) == 1
        with pytest.raises(ExtractionError, match="status 500"):
            await extractor.extract(REQUEST)
        client: Any = extractor._client  # noqa: SLF001 - it is ours to close here
        if is_async:
            await client.close()
        else:
            client.close()

    with serving(reply(GOOD), status(500, "api_error")) as model:
        asyncio.run(run(model))
    assert len(model.calls) == 1 + 2


@pytest.mark.parametrize("api", APIS)
def test_tokens_are_counted_and_priced(api: str) -> None:
    """A thousand tokens in, two hundred out; the unusable response of the small model counts too."""
    prices = {"small": Price(input=1, output=5), "large": Price(input=3, output=15)}
    with serving(reply("?"), reply(GOOD), reply("?")) as model:
        extractor = extractor_at(api, model.url, small_model="small", price=prices)
        usage = asyncio.run(extractor.extract(REQUEST)).usage
        assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 2000, 400)
        assert usage.cost == pytest.approx(0.002 + 0.006)
        with pytest.raises(ExtractionError, match="not the JSON"):
            asyncio.run(extractor.extract(REQUEST))
        assert extractor.usage.calls == 4
    assert [call.body["model"] for call in model.calls] == ["small", "large"] * 2


def test_cached_tokens_have_their_own_prices() -> None:
    price = Price(input=10, output=0, cache_write=12.5, cache_read=1)
    content = b'{"content": [{"type": "text", "text": "{\\"facts\\": []}"}], "usage": {"input_tokens": 100,'
    content += (
        b'"cache_read_input_tokens": 1000, "cache_creation_input_tokens": 10, "output_tokens": 5}}'
    )
    with serving(raw(content)) as model:
        extractor = extractor_at("anthropic", model.url, price=price)
        usage = asyncio.run(extractor.extract(REQUEST)).usage
    assert usage.input_tokens == 1110
    assert usage.cost == pytest.approx((100 * 10 + 1000 * 1 + 10 * 12.5) / 1e6)
    content = b'{"choices": [{"message": {"content": "[]"}}], "usage": {"prompt_tokens": 1110,'
    content += b'"prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 10}}}'
    with serving(raw(content)) as model:
        extractor = extractor_at("openai", model.url, price=price)
        usage = asyncio.run(extractor.extract(REQUEST)).usage
    assert usage.input_tokens == 1110
    assert usage.cost == pytest.approx((100 * 10 + 1000 * 1 + 10 * 12.5) / 1e6)


@pytest.mark.parametrize("api", APIS)
def test_a_server_that_rejects_the_schema_gets_plain_requests_from_then_on(api: str) -> None:
    settings = {"effort": "low"} if api == "anthropic" else {"temperature": 0.1, "max_tokens": 900}
    with serving(without_schema(reply(GOOD))) as model:
        extractor = extractor_at(api, model.url, **settings)
        for _ in range(2):
            assert len(asyncio.run(extractor.extract(REQUEST)).candidates) == 1
    first, second, third = (call.body for call in model.calls)
    optional = {"output_config", "response_format", "temperature", "max_completion_tokens"}
    assert optional & first.keys()
    assert not optional & (second.keys() | third.keys())


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "request_",
    [
        Request(()),
        Request((Message("user", "  \n", "s"),)),
        Request((Message("system", "You are", "s"),)),
        replace(REQUEST, most=0),
    ],
    ids=["no message", "blank", "system only", "nothing wanted"],
)
def test_a_request_without_text_makes_no_call(api: str, request_: Request) -> None:
    with serving(reply(GOOD)) as model:
        extraction = asyncio.run(extractor_at(api, model.url).extract(request_))
    assert (extraction.candidates, extraction.usage.calls, model.calls) == ((), 0, [])


@pytest.mark.parametrize("api", APIS)
def test_concurrent_calls_and_several_loops_share_an_extractor(api: str) -> None:
    async def run(extractor: Extractor) -> int:
        found = await asyncio.gather(*(extractor.extract(REQUEST) for _ in range(10)))
        return sum(len(extraction.candidates) for extraction in found)

    with serving(reply(GOOD)) as model:
        extractor = extractor_at(api, model.url)
        assert [asyncio.run(run(extractor)) for _ in range(2)] == [10, 10]
        assert extractor.usage.calls == 20


@pytest.mark.parametrize("api", APIS)
def test_cancelling_ends_the_call_at_once(api: str) -> None:
    async def run(extractor: Extractor) -> float:
        task = asyncio.create_task(extractor.extract(REQUEST))
        await asyncio.to_thread(called.wait)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    called = threading.Event()

    def hang_up_late(handler: Handler) -> None:
        called.set()
        hang(5.0)(handler)

    with serving(hang_up_late) as model:
        assert asyncio.run(run(extractor_at(api, model.url))) < 2.0
    assert len(model.calls) == 1


@pytest.mark.parametrize("api", APIS)
def test_the_event_loop_is_not_blocked_by_a_slow_model(api: str) -> None:
    async def run(extractor: Extractor) -> int:
        ticks = 0
        task = asyncio.create_task(extractor.extract(REQUEST))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        with pytest.raises(ExtractionError, match="in time"):
            task.result()
        return ticks

    with serving(hang(5.0)) as model:
        assert asyncio.run(run(extractor_at(api, model.url, timeout=0.3, max_retries=0))) > 5


@pytest.mark.parametrize("api", APIS)
def test_a_closed_port_is_a_transient_failure(api: str) -> None:
    with serving(reply(GOOD)) as model:
        pass
    with pytest.raises(ExtractionError, match="the connection to large failed") as raised:
        asyncio.run(extractor_at(api, model.url).extract(REQUEST))
    assert not raised.value.is_permanent


@pytest.mark.parametrize("api", APIS)
def test_a_missing_key_is_a_permanent_failure(
    api: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    with pytest.raises(ExtractionError, match="API key and address") as raised:
        asyncio.run(CLASSES[api]("large").extract(REQUEST))
    assert raised.value.is_permanent


def test_a_compatible_server_needs_no_key() -> None:
    with serving(reply(facts())) as model:
        extractor = OpenAIExtractor("qwen", options=ClientOptions(base_url=f"{model.url}/v1"))
        assert asyncio.run(extractor.extract(REQUEST)).candidates == ()


@pytest.mark.parametrize("api", APIS)
def test_a_missing_sdk_names_the_extra_to_install(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, api, None)
    with pytest.raises(ConfigError, match=rf"pip install 'memctx\[{api}\]'"):
        CLASSES[api]("large")


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": " "}, "model must be the name of a model, not ' '"),
        ({"model": None}, "model must be the name of a model, not None"),
        ({"small_model": ""}, "small_model must be the name of a model, not ''"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, not 0"),
        ({"client": object(), "options": ClientOptions(api_key="x")}, "pass either it or them"),
    ],
)
def test_settings_out_of_range_are_rejected(
    api: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        CLASSES[api](**{"model": "large", **settings})


@pytest.mark.parametrize("api", APIS)
def test_keys_are_not_shown(api: str) -> None:
    extractor = extractor_at(api, "http://127.0.0.1:1")
    assert repr(extractor) == f"{type(extractor).__name__}('large')"
    assert isinstance(extractor, Extractor)


def test_threads_with_their_own_loops_may_share_an_extractor() -> None:
    with serving(reply(GOOD)) as model:
        extractor = extractor_at("anthropic", model.url)
        found: list[int] = []

        def run() -> None:
            found.append(len(asyncio.run(extractor.extract(REQUEST)).candidates))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [1] * 4

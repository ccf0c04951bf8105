"""The callback of LiteLLM: sessions, usage, and calls that are not its own; the proxy with its configuration."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("litellm")

import litellm
import openai
from litellm.proxy._types import UserAPIKeyAuth

import memctx
from memctx.integrations.litellm import MemctxCallback
from providers.server import Provider

from .cases import litellm as cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def arguments(provider: Provider, text: str, **more: Any) -> dict[str, Any]:
    given = {"model": "openai/loopback", "api_base": f"{provider.url}/v1", "api_key": "x"}
    return given | {"messages": said(text)} | more


def is_told(provider: Provider) -> bool:
    return "8443" in str(provider.requests[-1].body)


@pytest.mark.parametrize(
    "ids",
    [
        {"metadata": {"session_id": "alice"}},
        {"litellm_session_id": "alice"},
        {"user": "alice"},
    ],
    ids=str,
)
def test_session_is_that_of_the_request(
    provider: Provider, tmp_path: Path, ids: dict[str, Any]
) -> None:
    callback = MemctxCallback(tmp_path, context_window=16_000)
    callback.completion(**arguments(provider, STATED, **ids))
    callback.completion(**arguments(provider, QUESTION, **ids))
    assert is_told(provider)
    callback.completion(**arguments(provider, QUESTION, user="bob"))
    assert not is_told(provider)
    agent = {"session_id": "alice", "agent_id": "reviewer"}
    callback.completion(**arguments(provider, QUESTION, metadata=agent))
    assert not is_told(provider)
    callback.sessions.close()
    assert provider.refused == []


def test_call_without_a_session_is_left_alone(provider: Provider, tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    callback = MemctxCallback(tmp_path, context_window=16_000, on_turn=turns.append)
    callback.completion(**arguments(provider, QUESTION))
    assert "expected session_id" in turns[0].report.errors[0]
    assert provider.requests[0].body["messages"] == said(QUESTION)


def test_owners_of_keys_do_not_share_sessions(tmp_path: Path) -> None:
    callback = MemctxCallback(tmp_path, context_window=16_000)

    def ask(owner: UserAPIKeyAuth, text: str) -> str:
        data = {"messages": said(text), "metadata": {"session_id": "s"}, "litellm_call_id": text}
        return str(asyncio.run(callback.async_pre_call_hook(owner, None, data, "acompletion")))

    alice, bob = UserAPIKeyAuth(user_id="alice"), UserAPIKeyAuth(api_key="sk-" + "b" * 20)
    ask(alice, STATED)
    assert "8443" in ask(alice, QUESTION)
    assert "8443" not in ask(bob, QUESTION)
    callback.sessions.close()


async def consume(stream: Any) -> None:
    async for _ in stream:
        pass


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("way", ["completion", "acompletion", "callback"])
def test_usage_is_observed_with_its_turn(
    provider: Provider, tmp_path: Path, way: str, *, stream: bool
) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        callback = MemctxCallback(memory)
        given = arguments(provider, QUESTION, stream=stream)
        if stream:
            given["stream_options"] = {"include_usage": True}

        async def call() -> None:
            ask: Callable[..., Any] = litellm.acompletion
            response = await (callback.acompletion if way == "acompletion" else ask)(**given)
            if stream:
                await consume(response)
            await wait()

        async def wait() -> None:
            for _ in range(100):
                if memory.counters.input_tokens:
                    break
                await asyncio.sleep(0.05)

        if way == "completion":
            response: Any = callback.completion(**given)
            if stream:
                list(response)
            asyncio.run(wait())
        else:
            litellm.callbacks = [callback] if way == "callback" else []
            try:
                asyncio.run(call())
            finally:
                litellm.callbacks = []
        assert memory.counters.input_tokens == provider.requests[0].tokens
        assert memory.counters.output_tokens == 20
        time.sleep(0.2)
        assert memory.counters.input_tokens == provider.requests[0].tokens
        assert callback._waiting == {}  # noqa: SLF001 - no call is left


def test_messages_by_position_step_aside(provider: Provider, tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    litellm.callbacks = [MemctxCallback(tmp_path, session_id="s", on_turn=turns.append)]
    given = arguments(provider, QUESTION)
    model, messages = given.pop("model"), given.pop("messages")
    try:
        asyncio.run(litellm.acompletion(model, messages, **given))
    finally:
        litellm.callbacks = []
    assert provider.requests[0].body["messages"] == said(QUESTION)
    assert "expected messages=" in turns[0].report.errors[0]


def test_unknown_message_steps_aside(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    callback = MemctxCallback(tmp_path, session_id="s", on_turn=turns.append)
    messages = [object()]
    data = {"messages": messages, "litellm_call_id": "c"}
    sent = asyncio.run(callback.async_pre_call_hook(None, None, data, "acompletion"))
    callback.sessions.close()
    assert sent is not None
    assert sent["messages"] == messages
    assert "object" in turns[0].report.errors[0]


@pytest.mark.parametrize(
    ("kind", "request_"),
    [
        ("aembedding", {"input": ["text"]}),
        ("aresponses", {"input": "Hello."}),
        ("aresponses", {"input": said("Hello."), "previous_response_id": "r1"}),
        ("pass_through_endpoint", {"messages": said("Hello.")}),
    ],
)
def test_other_calls_are_left_alone(tmp_path: Path, kind: str, request_: dict[str, Any]) -> None:
    turns: list[memctx.Turn] = []
    callback = MemctxCallback(tmp_path, session_id="s", on_turn=turns.append)
    assert asyncio.run(callback.async_pre_call_hook(None, None, request_, kind)) is None
    assert turns == []


def test_refusal_of_the_provider_passes_through(tmp_path: Path) -> None:
    callback = MemctxCallback(tmp_path, session_id="s", context_window=16_000)
    with Provider(window=10) as provider, pytest.raises(litellm.BadRequestError):
        callback.completion(**arguments(provider, QUESTION * 10, num_retries=0))
    with Provider() as provider:
        callback.completion(**arguments(provider, QUESTION))
    callback.sessions.close()
    assert provider.refused == []


def test_pictures_and_parts_survive(provider: Provider, tmp_path: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}]
    callback = MemctxCallback(tmp_path, session_id="s", context_window=16_000)
    callback.completion(**(arguments(provider, "") | {"messages": messages}))
    callback.sessions.close()
    assert provider.requests[0].body["messages"] == messages


@pytest.mark.timeout(240)
def test_proxy_is_switched_on_by_its_configuration_alone(
    provider: Provider, tmp_path: Path
) -> None:
    """One line of the configuration and the environment; each route is prepared once, whatever model serves it."""
    config = {
        "model_list": cases.models(provider.url),
        "litellm_settings": {"callbacks": ["memctx.integrations.litellm.callback"]},
    }
    environment = {
        "MEMCTX_STORAGE_PATH": str(tmp_path / "memory"),
        "MEMCTX_CONTEXT_WINDOW": "16000",
    }
    with cases.proxy(tmp_path / "proxy", config, **environment) as url:
        client = openai.OpenAI(base_url=url, api_key=cases.KEY, max_retries=0)

        def ask(session: str, text: str) -> None:
            client.chat.completions.create(
                model="chat", messages=said(text), extra_body={"metadata": {"session_id": session}}
            )

        def post(path: str, body: dict[str, Any]) -> None:
            headers = {"x-litellm-session-id": "session-1"}
            client.post(path, body=body, options={"headers": headers}, cast_to=object)

        ask("session-1", STATED)
        ask("session-2", QUESTION)
        assert not is_told(provider)
        ask("session-1", QUESTION)
        assert is_told(provider)
        for model in ("chat", "anthropic"):
            post("/v1/messages", {"model": model, "max_tokens": 9, "messages": said(QUESTION)})
            assert str(provider.requests[-1].body).count("8443") == 1
            post("/v1/responses", {"model": model, "input": said(QUESTION), "max_output_tokens": 9})
            assert str(provider.requests[-1].body).count("8443") == 1
        client.close()
    assert provider.refused == []

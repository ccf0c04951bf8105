"""AnthropicSummarizer on the real SDK, against a server on this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anthropic
import pytest

from memctx import ConfigError
from memctx.compaction.summary import AnthropicSummarizer, ClientOptions, SummaryRequest
from memctx.compaction.summary.reporting import collect_usage
from memctx.errors import SummaryError

from .server import (
    BUSY,
    OVERFLOW,
    OVERLOADED,
    WRONG_KEY,
    Raw,
    Refused,
    Reply,
    Server,
    Streamed,
    serving,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

REQUEST = SummaryRequest("[User]: Which port?", instructions="Keep the ports")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the delays between attempts, without waiting for them."""
    waited: list[float] = []
    sleep = asyncio.sleep

    async def quick(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr("memctx.compaction.summary.anthropic.asyncio.sleep", quick)
    return waited


def summarizer(server: Server, **options: Any) -> AnthropicSummarizer:
    connection = ClientOptions(api_key="key", base_url=server.url, **options)
    return AnthropicSummarizer("claude-test", options=connection)


def ask(server: Server, on_text: Callable[[str], None] | None = None, **options: Any) -> str:
    return asyncio.run(summarizer(server, **options).summarize(REQUEST, on_text=on_text))


def failure(*replies: Reply, asked: int = 1, **options: Any) -> SummaryError:
    """Return the error after these replies and the number of requests."""
    with serving(*replies) as server:
        with pytest.raises(SummaryError) as caught:
            ask(server, **options)
        assert len(server.requests) == asked
    return caught.value


def test_a_response_is_streamed_and_counted() -> None:
    pieces: list[str] = []
    with serving(Streamed("The webhook listens on port 8443.")) as server:
        asked = summarizer(server)
        with collect_usage() as meter:
            text = asyncio.run(asked.summarize(REQUEST, on_text=pieces.append))
    assert text == "".join(pieces) == "The webhook listens on port 8443."
    assert len(pieces) == 5
    assert (meter.usage.calls, meter.usage.input_tokens, meter.usage.output_tokens) == (1, 107, 6)
    assert asked.usage == meter.usage
    (request,) = server.requests
    assert request["stream"] is True
    assert request["max_tokens"] == 4_096
    assert "Keep the ports" in request["messages"][0]["content"]


def test_a_custom_client_stays_open() -> None:
    async def both(server: Server) -> bool:
        async with anthropic.AsyncAnthropic(api_key="key", base_url=server.url) as client:
            own = AnthropicSummarizer("claude-test", client)
            await own.summarize(REQUEST)
            await own.summarize(REQUEST)
            return client.is_closed()

    with serving() as server:
        assert asyncio.run(both(server)) is False
        assert len(server.requests) == 2


def test_a_custom_client_does_not_retry_by_itself() -> None:
    async def asked(server: Server) -> None:
        async with anthropic.AsyncAnthropic(api_key="key", base_url=server.url) as client:
            options = ClientOptions(max_retries=1)
            await AnthropicSummarizer("claude-test", client, options=options).summarize(REQUEST)

    with serving(OVERLOADED) as server:
        with pytest.raises(SummaryError):
            asyncio.run(asked(server))
        assert len(server.requests) == 2


def test_one_summarizer_serves_one_event_loop_after_another() -> None:
    with serving() as server:
        asked = summarizer(server)
        assert [asyncio.run(asked.summarize(REQUEST)) for _ in range(2)] == ["All is well."] * 2


@pytest.mark.parametrize(
    "first",
    [
        OVERLOADED,
        BUSY,
        Refused(500, "api_error"),
        Refused(408, "timeout_error"),
        Streamed(breaks_after=1),
        Streamed(breaks_after=1, is_rude=True),
        Streamed(fails_after=1),
        Streamed(""),
        Streamed("  \n"),
        Raw(b"event: message_start\ndata: {broken\n\n"),
        Raw(b'event: message_start\ndata: {"type":"message_start"}\n\n'),
        Raw(b"", content_type="text/html"),
    ],
    ids=repr,
)
def test_transient_failures_are_retried(first: Reply, pauses: list[float]) -> None:
    with serving(first, Streamed("Second.")) as server:
        assert ask(server) == "Second."
        assert len(server.requests) == 2
    assert len(pauses) == 1


def test_an_outage_ends_after_three_attempts_with_bounded_delays(pauses: list[float]) -> None:
    error = failure(OVERLOADED, asked=3)
    assert error.is_retryable
    assert str(error) == "claude-test answered with status 529 (overloaded_error)"
    assert 0.25 <= pauses[0] <= 0.5
    assert 0.5 <= pauses[1] <= 1.0
    assert len(pauses) == 2


def test_a_server_that_asks_for_a_long_wait_gets_five_seconds_at_most(pauses: list[float]) -> None:
    busy = Refused(429, "rate_limit_error", headers=(("retry-after", "3600"),))
    assert failure(busy, asked=2, max_retries=1).retry_after == 3600
    assert pauses == [5.0]


def test_a_closed_port_is_a_transient_failure() -> None:
    with serving() as server:
        pass
    with pytest.raises(SummaryError, match="the connection to claude-test failed") as caught:
        ask(server)
    assert caught.value.is_retryable


def test_an_overflow_is_reported_and_not_retried() -> None:
    error = failure(OVERFLOW)
    assert error.is_overflow
    assert not error.is_retryable
    assert not error.is_permanent


@pytest.mark.parametrize(
    "reply",
    [
        WRONG_KEY,
        Refused(403, "permission_error"),
        Refused(404, "not_found_error"),
        Refused(402, "billing_error"),
    ],
    ids=repr,
)
def test_a_permanent_failure_is_reported_and_not_retried(reply: Reply) -> None:
    assert failure(reply).is_permanent


def test_a_refusal_and_a_bad_request_are_final_but_not_dead() -> None:
    for reply in (Streamed("I cannot", "refusal"), Refused(400, "invalid_request_error")):
        error = failure(reply)
        assert (error.is_retryable, error.is_permanent, error.is_overflow) == (False, False, False)


def test_errors_do_not_repeat_the_text_of_the_server() -> None:
    error = failure(Refused(400, "invalid_request_error", "your secret is hunter2"))
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("pieces", [0, 2])
def test_a_timeout_is_not_retried(pieces: int) -> None:
    error = failure(Streamed("A text of some length.", hangs_after=pieces), timeout=0.2)
    assert error.is_timeout


def test_a_truncated_response_is_used_and_reported() -> None:
    with serving(Streamed("The webhook", "max_tokens")) as server, collect_usage() as meter:
        assert ask(server) == "The webhook"
    assert meter.problems == ["a summary was cut off by claude-test (max_tokens)"]


def test_cancelling_closes_the_connection_at_once() -> None:
    async def cancelled(server: Server) -> None:
        started = asyncio.Event()
        task = asyncio.create_task(
            summarizer(server).summarize(REQUEST, on_text=lambda _: started.set())
        )
        await asyncio.wait_for(started.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with serving(Streamed("A text of some length.", hangs_after=1)) as server:
        asyncio.run(cancelled(server))
        assert server.gone.wait(10)
        assert len(server.requests) == 1


def test_a_listener_that_raises_is_not_called_again() -> None:
    heard: list[str] = []

    def listener(text: str) -> None:
        heard.append(text)
        raise ValueError(text)

    with serving(Streamed("The webhook listens on port 8443.")) as server:
        assert ask(server, listener) == "The webhook listens on port 8443."
    assert len(heard) == 1


def test_a_missing_key_is_a_permanent_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        keyless = AnthropicSummarizer("m", options=ClientOptions(base_url=server.url))
        with pytest.raises(SummaryError, match="API key") as caught:
            asyncio.run(keyless.summarize(REQUEST))
    assert caught.value.is_permanent


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": " "}, "model must be the name of a model, not ' '"),
        ({"client": anthropic.Anthropic(api_key="key")}, "client must be asynchronous"),
        (
            {
                "client": anthropic.AsyncAnthropic(api_key="key"),
                "options": ClientOptions(base_url="http://localhost"),
            },
            "pass either it or them",
        ),
    ],
    ids=["model", "synchronous client", "client and address"],
)
def test_invalid_arguments_are_rejected(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        AnthropicSummarizer(**{"model": "m", **arguments})


def test_the_key_is_not_shown() -> None:
    options = ClientOptions(api_key="sk-secret")
    assert repr(AnthropicSummarizer("m", options=options)) == "AnthropicSummarizer('m')"
    assert "sk-secret" not in repr(options)

"""The summariser that asks a model, with the real SDK, against a server on this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anthropic
import pytest

from memctx import ConfigError, SummaryError
from memctx.summarize import AnthropicSummarizer, SummaryRequest
from memctx.summarize import anthropic as module
from memctx.summarize.meter import metered

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

REQUEST = SummaryRequest("[User]: Which port?", instructions="Keep the ports")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between attempts, without waiting."""
    waited: list[float] = []
    sleep = asyncio.sleep

    async def quick(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr(f"{module.__name__}.asyncio.sleep", quick)
    return waited


def summarizer(server: Server, **options: Any) -> AnthropicSummarizer:
    return AnthropicSummarizer("claude-test", api_key="key", base_url=server.url, **options)


def ask(server: Server, on_text: Callable[[str], None] | None = None, **options: Any) -> str:
    return asyncio.run(summarizer(server, **options).summarize(REQUEST, on_text=on_text))


def failure(*replies: Reply, asked: int = 1, **options: Any) -> SummaryError:
    """The error that these replies lead to, after so many requests."""
    with serving(*replies) as server:
        with pytest.raises(SummaryError) as caught:
            ask(server, **options)
        assert len(server.requests) == asked
    return caught.value


def test_an_answer_is_streamed_and_counted() -> None:
    pieces: list[str] = []
    with serving(Streamed("The webhook listens on port 8443.")) as server:
        asked = summarizer(server)
        with metered() as meter:
            text = asyncio.run(asked.summarize(REQUEST, on_text=pieces.append))
    assert text == "".join(pieces) == "The webhook listens on port 8443."
    assert len(pieces) == 5
    assert (meter.usage.calls, meter.usage.input_tokens, meter.usage.output_tokens) == (1, 107, 6)
    assert asked.usage == meter.usage
    (request,) = server.requests
    assert request["stream"] is True
    assert request["max_tokens"] == 4_096
    assert "Keep the ports" in request["messages"][0]["content"]


def test_a_client_of_ones_own_stays_open() -> None:
    async def both(server: Server) -> bool:
        async with anthropic.AsyncAnthropic(api_key="key", base_url=server.url) as client:
            own = AnthropicSummarizer("claude-test", client)
            await own.summarize(REQUEST)
            await own.summarize(REQUEST)
            return client.is_closed()

    with serving() as server:
        assert asyncio.run(both(server)) is False
        assert len(server.requests) == 2


def test_a_client_of_ones_own_does_not_try_again_by_itself() -> None:
    async def asked(server: Server) -> None:
        async with anthropic.AsyncAnthropic(api_key="key", base_url=server.url) as client:
            await AnthropicSummarizer("claude-test", client, attempts=2).summarize(REQUEST)

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
def test_what_may_pass_is_tried_again(first: Reply, pauses: list[float]) -> None:
    with serving(first, Streamed("Second.")) as server:
        assert ask(server) == "Second."
        assert len(server.requests) == 2
    assert len(pauses) == 1


def test_an_outage_ends_after_three_attempts_with_pauses_within_bounds(pauses: list[float]) -> None:
    error = failure(OVERLOADED, asked=3)
    assert not error.is_final
    assert str(error) == "claude-test answered with status 529 (overloaded_error)"
    assert 0.5 <= pauses[0] <= 0.6
    assert 0.8 <= pauses[1] <= 1.2
    assert len(pauses) == 2


def test_a_server_that_asks_for_patience_gets_five_seconds_at_most(pauses: list[float]) -> None:
    busy = Refused(429, "rate_limit_error", headers=(("retry-after", "3600"),))
    assert failure(busy, asked=2, attempts=2).retry_after == 3600
    assert pauses == [5.0]


def test_nobody_there_is_an_error_that_may_pass() -> None:
    with serving() as server:
        pass
    with pytest.raises(SummaryError, match="the connection to claude-test failed") as caught:
        ask(server)
    assert not caught.value.is_final


def test_an_overflow_is_told_and_not_tried_again() -> None:
    error = failure(OVERFLOW)
    assert error.is_overflow
    assert error.is_final
    assert not error.is_dead


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
def test_a_dead_end_is_told_and_not_tried_again(reply: Reply) -> None:
    assert failure(reply).is_dead


def test_a_refusal_and_a_bad_request_are_final_but_not_dead() -> None:
    for reply in (Streamed("I cannot", "refusal"), Refused(400, "invalid_request_error")):
        error = failure(reply)
        assert (error.is_final, error.is_dead, error.is_overflow) == (True, False, False)


def test_errors_do_not_repeat_what_the_server_says() -> None:
    error = failure(Refused(400, "invalid_request_error", "your secret is hunter2"))
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("pieces", [0, 2])
def test_a_slow_answer_is_given_up_once(pieces: int) -> None:
    error = failure(Streamed("A text of some length.", hangs_after=pieces), timeout=0.2)
    assert error.is_timeout


def test_an_answer_that_was_cut_off_is_used_and_told() -> None:
    with serving(Streamed("The webhook", "max_tokens")) as server, metered() as meter:
        assert ask(server) == "The webhook"
    assert meter.problems == ["a summary was cut off by claude-test (max_tokens)"]


def test_cancelling_hangs_up_at_once() -> None:
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


def test_without_a_key_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server, pytest.raises(SummaryError, match="API key") as caught:
        asyncio.run(AnthropicSummarizer("m", base_url=server.url).summarize(REQUEST))
    assert caught.value.is_dead


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": " "}, "model must be the name of a model, not ' '"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0, not 0"),
        ({"attempts": 0}, "attempts must be 1 or more, not 0"),
        ({"client": anthropic.Anthropic(api_key="key")}, "client must be asynchronous"),
        (
            {"client": anthropic.AsyncAnthropic(api_key="key"), "base_url": "http://localhost"},
            "give either it or them",
        ),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_used(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        AnthropicSummarizer(**{"model": "m", **arguments})


def test_the_key_is_not_shown() -> None:
    assert repr(AnthropicSummarizer("m", api_key="sk-secret")) == "AnthropicSummarizer('m')"

"""Usage and answer in streams: read from the events, observed once, whatever ends the stream."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from memctx.bridge import watch_stream
from memctx.bridge.answers import StreamedAnswer, answer_of, counts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

LAST = {"prompt_tokens": 9, "completion_tokens": 2}
EVENTS = [
    {"usage": {"prompt_tokens": 7}, "choices": [{"index": 0, "delta": {"content": "84"}}]},
    {"choices": [{"index": 1, "delta": {"content": "no"}}]},
    {"choices": [{"index": 0, "delta": {"content": "43"}}]},
    {"usage": LAST, "choices": []},
]
ANSWER = [{"role": "assistant", "content": "8443"}]
PART = [{"role": "assistant", "content": "84"}]


class Observed(list[Any]):
    """Stands for a prepared call."""

    def observe(self, usage: object, answer: list[Any], format: str) -> None:
        assert format == "openai"
        self.append((usage, answer))


async def aiterate(events: list[Any]) -> AsyncIterator[Any]:
    for event in events:
        yield event


def watched(events: Iterator[Any] | AsyncIterator[Any], prepared: Any) -> Any:
    """Return the events of a stream like one of an SDK."""
    stream = SimpleNamespace(_iterator=events)
    watch_stream(stream, prepared, "openai")
    return vars(stream)["_iterator"]


def test_the_last_counts_and_the_answer_are_observed_at_the_end() -> None:
    prepared = Observed()
    assert list(watched(iter(EVENTS), prepared)) == EVENTS
    assert prepared == [(LAST, ANSWER)]


def test_a_stream_without_usage_has_none() -> None:
    prepared = Observed()
    assert list(watched(iter([{}]), prepared)) == [{}]
    assert prepared == [(None, [])]


def test_a_stream_that_is_closed_or_fails_has_what_came_so_far() -> None:
    def fail() -> Iterator[Any]:
        yield EVENTS[0]
        raise ConnectionError

    prepared = Observed()
    events = watched(iter(EVENTS), prepared)
    next(events)
    events.close()
    with pytest.raises(ConnectionError):
        list(watched(fail(), prepared))
    assert prepared == [({"prompt_tokens": 7}, PART)] * 2


def test_asynchronous_streams_are_watched_alike() -> None:
    async def run() -> list[Any]:
        return [event async for event in watched(aiterate(EVENTS), prepared)]

    prepared = Observed()
    assert asyncio.run(run()) == EVENTS
    assert prepared == [(LAST, ANSWER)]


def test_an_event_that_cannot_be_read_passes() -> None:
    prepared = Observed()
    assert list(watched(iter([3, *EVENTS]), prepared)) == [3, *EVENTS]
    assert prepared == [(LAST, ANSWER)]


def test_a_stream_of_another_kind_is_left_alone() -> None:
    prepared: Any = Observed()
    stream = SimpleNamespace(events=iter(EVENTS))
    watch_stream(stream, prepared, "openai")
    assert list(stream.events) == EVENTS
    assert prepared == []


def test_objects_that_are_no_usage_have_no_counts() -> None:
    assert counts(None) == {}
    assert counts(SimpleNamespace(prompt_tokens=1)) == {}


def test_text_blocks_of_an_anthropic_stream_are_kept_apart() -> None:
    answer = StreamedAnswer("anthropic")
    for event in [
        {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Port "}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "8443"}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": "Done"}},
        {"type": "message_delta", "usage": {"output_tokens": 5}},
    ]:
        answer.add(event)
    blocks = [{"type": "text", "text": "Port 8443"}, {"type": "text", "text": "Done"}]
    assert answer.messages == [{"role": "assistant", "content": blocks}]
    assert answer.usage == {"input_tokens": 3, "output_tokens": 5}


def test_the_answer_of_a_responses_stream_is_in_its_last_event() -> None:
    answer = StreamedAnswer("responses")
    items = [{"type": "message", "role": "assistant", "content": []}]
    answer.add({"type": "response.output_text.delta", "delta": "84"})
    answer.add({"response": {"output": items, "usage": {"input_tokens": 3}}})
    assert (answer.messages, answer.usage) == (items, {"input_tokens": 3})


@pytest.mark.parametrize("format", ["openai", "anthropic", "responses"])
def test_responses_without_an_answer_have_none(format: Any) -> None:
    responses: list[Any] = [None, {}, {"choices": [], "content": None, "output": "x"}]
    for response in responses:
        assert answer_of(response, format) == []

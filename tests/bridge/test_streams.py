"""Usage in streams: read from the events, observed once, whatever ends the stream."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from memctx.bridge import counts, watch_stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

EVENTS = [{"prompt_tokens": 7}, {}, {"prompt_tokens": 9, "completion_tokens": 2}]


class Observed(list[Any]):
    """Stands for a prepared call."""

    def observe(self, usage: object) -> None:
        self.append(usage)


def read(event: dict[str, int]) -> dict[str, int]:
    return event


async def aiterate(events: list[Any]) -> AsyncIterator[Any]:
    for event in events:
        yield event


def watched(events: Iterator[Any] | AsyncIterator[Any], prepared: Any) -> Any:
    """Return the events of a stream like one of an SDK."""
    stream = SimpleNamespace(_iterator=events)
    watch_stream(stream, prepared, read)
    return vars(stream)["_iterator"]


def test_the_last_counts_are_observed_at_the_end() -> None:
    prepared = Observed()
    assert list(watched(iter(EVENTS), prepared)) == EVENTS
    assert prepared == [{"prompt_tokens": 9, "completion_tokens": 2}]


def test_a_stream_without_usage_has_none() -> None:
    prepared = Observed()
    assert list(watched(iter([{}]), prepared)) == [{}]
    assert prepared == [None]


def test_a_stream_that_is_closed_or_fails_has_the_counts_so_far() -> None:
    def fail() -> Iterator[dict[str, int]]:
        yield EVENTS[0]
        raise ConnectionError

    prepared = Observed()
    events = watched(iter(EVENTS), prepared)
    next(events)
    events.close()
    with pytest.raises(ConnectionError):
        list(watched(fail(), prepared))
    assert prepared == [EVENTS[0]] * 2


def test_asynchronous_streams_are_watched_alike() -> None:
    async def run() -> list[Any]:
        return [event async for event in watched(aiterate(EVENTS), prepared)]

    prepared = Observed()
    assert asyncio.run(run()) == EVENTS
    assert prepared == [{"prompt_tokens": 9, "completion_tokens": 2}]


def test_an_event_that_cannot_be_read_passes() -> None:
    prepared = Observed()
    assert list(watched(iter([3, *EVENTS]), prepared)) == [3, *EVENTS]
    assert prepared == [{"prompt_tokens": 9, "completion_tokens": 2}]


def test_a_stream_of_another_kind_is_left_alone() -> None:
    prepared: Any = Observed()
    stream = SimpleNamespace(events=iter(EVENTS))
    watch_stream(stream, prepared, read)
    assert list(stream.events) == EVENTS
    assert prepared == []


def test_objects_that_are_no_usage_have_no_counts() -> None:
    assert counts(None) == {}
    assert counts(SimpleNamespace(prompt_tokens=1)) == {}

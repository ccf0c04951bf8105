"""Waiting for what was archived: from threads, from event loops, and from those that are gone."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import pytest

from .places import LONG, Model, Place, flushed, text, together, until

if TYPE_CHECKING:
    from memctx.extraction import Extraction, Flushed
    from memctx.extractors import Extraction as Found
    from memctx.extractors import Request


def test_it_can_be_awaited(place: Place) -> None:
    extraction = place.open(Model(seconds=0.02))

    async def host() -> list[Flushed]:
        place.say(1)
        flush = extraction.flush()
        return [
            await flush,
            await flush,
            *await asyncio.gather(extraction.flush(), extraction.flush()),
        ]

    assert all(done.is_complete for done in asyncio.run(host()))
    assert place.contents() == [text(1)]


def test_threads_may_wait_beside_each_other(place: Place) -> None:
    extraction = place.open(Model(seconds=0.01))
    results: list[Flushed] = []

    def host(number: int) -> None:
        place.say(number)
        results.append(flushed(extraction))
        assert text(number) in place.contents()

    together([lambda number=number: host(number) for number in range(8)])  # type: ignore[misc]
    assert all(done.is_complete for done in results)
    assert len(results) == 8
    assert sorted(place.contents()) == sorted(map(text, range(8)))


def test_what_is_said_later_is_not_waited_for(place: Place) -> None:
    """Or a busy session would never end a flush."""
    extraction = place.open(model := Model(seconds=0.05), fewest_messages=1)
    place.say(1)
    flush = extraction.flush()
    until(lambda: model.requests)
    place.say(*range(2, 200))
    model.seconds = LONG
    extraction.wake()
    assert flush.result(5).is_complete


def test_patience_may_be_limited(place: Place) -> None:
    extraction = place.open(Model(seconds=LONG))
    place.say(1)
    done = extraction.flush(timeout=0.1).result(5)
    assert (done.is_complete, done.reason) == (False, "not done in 0.1 s")
    assert (done.progress.state, done.progress.pending_segments) == ("working", 1)
    with pytest.raises(TimeoutError):
        extraction.flush().result(0.05)


def test_one_who_gives_up_does_not_stop_the_others(place: Place) -> None:
    extraction = place.open(Model(seconds=0.2))
    place.say(1)

    async def host() -> Flushed:
        flush = extraction.flush()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_wait(flush), 0.02)
        return await flush

    assert asyncio.run(host()).is_complete


async def _wait(flush: Any) -> Any:
    return await flush


def test_the_loop_of_who_waited_may_be_gone(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    extraction = place.open(Model(seconds=0.1))
    place.say(1)
    loop = asyncio.new_event_loop()
    task = loop.create_task(_wait(flush := extraction.flush()))
    loop.run_until_complete(asyncio.sleep(0.01))
    task._log_destroy_pending = False  # type: ignore[attr-defined] # noqa: SLF001 - it is meant to be left behind
    loop.close()
    assert flush.result(LONG).is_complete
    assert place.contents() == [text(1)]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_closing_cancels_the_call_and_keeps_the_batch(place: Place) -> None:
    extraction = place.open(model := Model(seconds=LONG), fewest_messages=1)
    place.say(1)
    flush = extraction.flush()
    until(lambda: model.requests)
    start = time.perf_counter()
    extraction.close()
    assert time.perf_counter() - start < 1
    assert model.cancelled == 1
    done = flush.result(1)
    assert (done.is_complete, done.reason) == (False, "extraction is closed")
    assert extraction.progress().state == "closed"
    assert not extraction.flush().result(1).is_complete
    extraction.wake()
    extraction.retry()
    extraction.close()
    again = place.open(model := Model())
    assert flushed(again).is_complete
    assert model.texts == [text(1)]


def test_closing_does_not_wait_for_who_does_not_stop(place: Place) -> None:
    class Deaf(Model):
        async def extract(self, request: Request) -> Found:
            self.requests.append(request)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                try:
                    await asyncio.sleep(0.05)
                except asyncio.CancelledError:
                    continue
            return await super().extract(request)

    extraction = place.open(model := Deaf(), fewest_messages=1)
    place.say(1)
    extraction.wake()
    until(lambda: model.requests)
    start = time.perf_counter()
    extraction.close()
    assert time.perf_counter() - start < 1
    until(lambda: len(model.requests) == 2)
    time.sleep(0.1)
    assert not place.contents(), "what is closed writes nothing any more"


def test_an_extractor_cannot_wait_for_itself(place: Place) -> None:
    class Curious(Model):
        extraction: Extraction

        async def extract(self, request: Request) -> Found:
            if len(self.requests) == 0:
                self.requests.append(request)
                self.extraction.flush().result()
            return await super().extract(request)

    model = Curious()
    model.extraction = extraction = place.open(model)
    place.say(1)
    done = flushed(extraction)
    assert (done.is_complete, done.progress.tally.failures) == (True, 1)


def test_an_extractor_may_close_its_session(place: Place) -> None:
    class Closing(Model):
        extraction: Extraction

        async def extract(self, request: Request) -> Found:
            self.extraction.close()
            return await super().extract(request)

    model = Closing(seconds=LONG)
    model.extraction = extraction = place.open(model)
    place.say(1)
    assert not flushed(extraction).is_complete

"""`BackgroundExtraction.wait_for_facts`: waits from threads and event loops, timeouts, and closing."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import ConfigError

from .sessions import LONG, Model, Session, text, together, until, wait

if TYPE_CHECKING:
    from memctx.facts.extractors import ExtractionResult, Request
    from memctx.facts.worker import BackgroundExtraction, FactsReady

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second


def test_a_facts_future_can_be_awaited_repeatedly(session: Session) -> None:
    extraction = session.open(Model(seconds=0.02))

    async def host() -> list[FactsReady]:
        session.say(1)
        future = extraction.wait_for_facts()
        return [
            await future,
            await future,
            *await asyncio.gather(extraction.wait_for_facts(), extraction.wait_for_facts()),
        ]

    assert all(done.is_complete for done in asyncio.run(host()))
    assert session.contents() == [text(1)]


@pytest.mark.parametrize("timeout", [-1, -0.5, float("nan"), float("inf"), 2**2000])
def test_a_timeout_out_of_range_is_refused(session: Session, timeout: float) -> None:
    extraction = session.open(Model())
    session.say(1)
    with pytest.raises(ConfigError, match="timeout must be 0 or more seconds"):
        extraction.wait_for_facts(timeout)
    with pytest.raises(ConfigError, match="timeout must be 0 or more seconds"):
        extraction.wait_for_facts().result(timeout)


@pytest.mark.parametrize("timeout", ["x", b"1", [1], True, object()])
def test_a_timeout_of_another_type_is_refused(session: Session, timeout: Any) -> None:
    """At once: in the background nothing would ever settle the future."""
    extraction = session.open(Model())
    session.say(1)
    with pytest.raises(TypeError, match="timeout must be a number of seconds"):
        extraction.wait_for_facts(timeout)
    with (
        memctx.open(session.folder, session_id="other") as memory,
        pytest.raises(TypeError, match="timeout must be a number of seconds"),
    ):
        memory.wait_for_facts(timeout)


def test_threads_wait_for_facts_concurrently(session: Session) -> None:
    extraction = session.open(Model(seconds=0.01))
    results: list[FactsReady] = []

    def host(number: int) -> None:
        session.say(number)
        results.append(wait(extraction))
        assert text(number) in session.contents()

    together([lambda number=number: host(number) for number in range(8)])  # type: ignore[misc]
    assert all(done.is_complete for done in results)
    assert len(results) == 8
    assert sorted(session.contents()) == sorted(map(text, range(8)))


def test_messages_archived_later_are_not_waited_for(session: Session) -> None:
    """Otherwise a wait in a busy session would never end."""
    extraction = session.open(model := Model(seconds=0.05), min_messages=1)
    session.say(1)
    future = extraction.wait_for_facts()
    until(lambda: model.requests)
    session.say(*range(2, 200))
    model.seconds = LONG
    extraction.notify()
    assert future.result(5).is_complete


def test_a_wait_ends_at_its_timeout(session: Session) -> None:
    extraction = session.open(Model(seconds=LONG))
    session.say(1)
    done = extraction.wait_for_facts(timeout=0.1).result(5)
    assert (done.is_complete, done.reason) == (False, "not done in 0.1 s")
    assert (done.progress.state, done.progress.pending_segments) == ("working", 1)
    with pytest.raises(TimeoutError):
        extraction.wait_for_facts().result(0.05)


def test_a_cancelled_wait_does_not_cancel_the_others(session: Session) -> None:
    extraction = session.open(Model(seconds=0.2))
    session.say(1)

    async def host() -> FactsReady:
        future = extraction.wait_for_facts()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_wait(future), 0.02)
        return await future

    assert asyncio.run(host()).is_complete


async def _wait(future: Any) -> Any:
    return await future


def test_a_closed_event_loop_does_not_disturb_the_worker(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    extraction = session.open(Model(seconds=0.1))
    session.say(1)
    loop = asyncio.new_event_loop()
    task = loop.create_task(_wait(future := extraction.wait_for_facts()))
    loop.run_until_complete(asyncio.sleep(0.01))
    task._log_destroy_pending = False  # type: ignore[attr-defined] # noqa: SLF001 - it is meant to be left behind
    loop.close()
    assert future.result(LONG).is_complete
    assert session.contents() == [text(1)]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_closing_cancels_the_call_and_keeps_the_batch(session: Session) -> None:
    extraction = session.open(model := Model(seconds=LONG), min_messages=1)
    session.say(1)
    future = extraction.wait_for_facts()
    until(lambda: model.requests)
    start = time.perf_counter()
    extraction.close()
    assert time.perf_counter() - start < 1
    assert model.cancelled == 1
    done = future.result(1)
    assert (done.is_complete, done.reason) == (False, "extraction is closed")
    assert extraction.progress().state == "closed"
    assert not extraction.wait_for_facts().result(1).is_complete
    extraction.notify()
    extraction.retry()
    extraction.close()
    again = session.open(model := Model())
    assert wait(again).is_complete
    assert model.texts == [text(1)]


def test_closing_does_not_wait_for_an_extractor_that_ignores_cancellation(session: Session) -> None:
    class Deaf(Model):
        async def extract(self, request: Request) -> ExtractionResult:
            self.requests.append(request)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                try:
                    await asyncio.sleep(0.05)
                except asyncio.CancelledError:
                    continue
            return await super().extract(request)

    extraction = session.open(model := Deaf(), min_messages=1)
    session.say(1)
    extraction.notify()
    until(lambda: model.requests)
    start = time.perf_counter()
    extraction.close()
    assert time.perf_counter() - start < 1
    until(lambda: len(model.requests) == 2)
    time.sleep(0.1)
    assert not session.contents(), "a closed extraction stores nothing"


def test_an_extractor_cannot_wait_for_its_own_extraction(session: Session) -> None:
    class Curious(Model):
        extraction: BackgroundExtraction

        async def extract(self, request: Request) -> ExtractionResult:
            if len(self.requests) == 0:
                self.requests.append(request)
                self.extraction.wait_for_facts().result()
            return await super().extract(request)

    model = Curious()
    model.extraction = extraction = session.open(model)
    session.say(1)
    done = wait(extraction)
    assert (done.is_complete, done.progress.counts.failures) == (True, 1)


def test_an_extractor_may_close_its_session(session: Session) -> None:
    class Closing(Model):
        extraction: BackgroundExtraction

        async def extract(self, request: Request) -> ExtractionResult:
            self.extraction.close()
            return await super().extract(request)

    model = Closing(seconds=LONG)
    model.extraction = extraction = session.open(model)
    session.say(1)
    assert not wait(extraction).is_complete

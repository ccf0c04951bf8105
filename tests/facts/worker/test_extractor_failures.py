"""Extractor failures: batches are retried or become dead letters, and none is lost."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from memctx import StoreError
from memctx.errors import ExtractionError
from memctx.facts.extractors import ExtractionResult
from memctx.facts.planning import update
from memctx.facts.worker.batches import BREAKER

from .sessions import LONG, Model, Session, candidates_of, text, until, wait

if TYPE_CHECKING:
    from memctx.facts.extractors import Request

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

BUSY = ExtractionError("the model is busy")
REFUSED = ExtractionError("the model refused", is_retryable=False)
DEAD = ExtractionError("the key is not taken", is_permanent=True)
MALFORMED = ExtractionError("the answer is not JSON", is_malformed=True)


class Allergic(Model):
    """Model that fails whenever a certain word is in the conversation."""

    def __init__(self, word: str, error: Exception) -> None:
        super().__init__()
        self.word = word
        self.error = error

    async def extract(self, request: Request) -> ExtractionResult:
        self.failures = [self.error] if any(self.word in m.text for m in request.messages) else []
        return await super().extract(request)


def test_a_transient_failure_is_retried(session: Session) -> None:
    extraction = session.open(model := Model(BUSY, BUSY))
    session.say(1)
    done = wait(extraction)
    assert done.is_complete
    assert len(model.requests) == 3
    assert (done.progress.counts.failures, done.progress.counts.added) == (2, 1)
    assert done.progress.last_error is None
    assert session.contents() == [text(1)]


def test_an_open_breaker_settles_waits_at_once(session: Session) -> None:
    """A wait returns with what is left, and no call is made during the cool-down."""
    extraction = session.open(
        model := Model(*[BUSY] * 100),
        breaker=replace(BREAKER, delay=0.01, cool_down=3600.0, max_cool_down=3600.0),
    )
    session.say(*range(7))
    done = wait(extraction)
    assert not done.is_complete
    assert done.reason == "ExtractionError: the model is busy"
    assert (done.progress.state, done.progress.pending_segments) == ("open", 7)
    assert done.progress.next_try is not None
    assert done.progress.next_try > time.time() + 1000
    for number in range(100, 150):
        session.say(number)
        extraction.notify()
    start = time.perf_counter()
    assert not wait(extraction).is_complete
    assert time.perf_counter() - start < 1
    assert len(model.requests) == 3
    assert extraction.progress().pending_segments == 57
    model.failures.clear()
    extraction.retry()
    assert wait(extraction).is_complete
    assert session.contents()[0] == text(0)
    assert len(session.contents()) == 57


def test_a_permanent_error_opens_the_breaker_at_once(session: Session) -> None:
    extraction = session.open(model := Model(DEAD), breaker=replace(BREAKER, max_cool_down=3600.0))
    session.say(1)
    assert not wait(extraction).is_complete
    assert extraction.progress().state == "open"
    assert len(model.requests) == 1


def test_an_open_breaker_lets_a_probe_through(session: Session) -> None:
    extraction = session.open(model := Model(*[BUSY] * 4), min_messages=1)
    session.say(1)
    extraction.notify()
    until(lambda: extraction.progress().counts.added == 1)
    assert len(model.requests) == 5
    assert extraction.progress().state == "idle"


def test_retry_after_of_a_model_is_respected(session: Session) -> None:
    extraction = session.open(model := Model(ExtractionError("busy", retry_after=0.12)))
    session.say(1)
    start = time.monotonic()
    assert wait(extraction).is_complete
    assert 0.12 <= time.monotonic() - start < 5
    assert len(model.requests) == 2


def test_a_refused_batch_becomes_a_dead_letter_and_others_proceed(session: Session) -> None:
    extraction = session.open(model := Allergic("port 8001", REFUSED), batch_chars=100)
    session.say(*range(4))
    done = wait(extraction)
    assert done.is_complete
    assert session.contents() == [text(0), text(2), text(3)]
    assert (done.progress.dead_letters, done.progress.counts.failures) == (1, 1)
    assert done.progress.state == "idle"
    assert len(model.requests) == 4
    extraction.retry()
    assert wait(extraction).progress.dead_letters == 1
    assert len(model.requests) == 5
    model.word = "nothing"
    extraction.retry()
    assert wait(extraction).progress.dead_letters == 0
    assert sorted(session.contents()) == sorted(map(text, range(4)))


def test_dead_letters_outlast_the_process(session: Session) -> None:
    extraction = session.open(Allergic("port 8001", REFUSED), batch_chars=100)
    session.say(*range(3))
    wait(extraction)
    extraction.close()
    extraction = session.open(model := Model(), batch_chars=100)
    assert extraction.progress().dead_letters == 1
    assert wait(extraction).is_complete
    assert not model.requests
    extraction.retry()
    assert wait(extraction).progress.dead_letters == 0
    assert model.texts == [text(1)]


def test_a_batch_with_three_malformed_answers_becomes_a_dead_letter(session: Session) -> None:
    extraction = session.open(model := Allergic("port 8001", MALFORMED), batch_chars=100)
    session.say(*range(3))
    done = wait(extraction)
    assert done.is_complete
    assert (done.progress.dead_letters, done.progress.counts.failures) == (1, 3)
    assert session.contents() == [text(0), text(2)]
    assert len(model.requests) == 5


@pytest.mark.parametrize("result", [object(), [], "facts", ExtractionResult])
def test_a_result_of_the_wrong_type_is_malformed(session: Session, result: object) -> None:
    extraction = session.open(Model(*[result] * 3))
    session.say(1)
    done = wait(extraction)
    assert (done.is_complete, done.progress.dead_letters) == (True, 1)


def test_a_failing_batch_is_distinguished_from_a_failing_model(session: Session) -> None:
    """It fails as if the model were busy, but the next batch succeeds."""
    extraction = session.open(Allergic("port 8001", BUSY), batch_chars=100, min_messages=1)
    session.say(*range(4))
    extraction.notify()
    until(lambda: extraction.progress().dead_letters == 1)
    assert wait(extraction).is_complete
    assert session.contents() == [text(0), text(2), text(3)]


def test_a_batch_is_retried_with_the_same_messages(session: Session) -> None:
    """Messages archived meanwhile do not join it."""
    extraction = session.open(
        model := Model(BUSY, BUSY), min_messages=1, breaker=replace(BREAKER, delay=0.1)
    )
    session.say(1)
    extraction.notify()
    until(lambda: model.requests)
    session.say(2)
    extraction.notify()
    assert wait(extraction).is_complete
    asked = [[message.text for message in request.messages] for request in model.requests]
    assert asked == [[text(1)], [text(1)], [text(1)], [text(2)]]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("quotes the conversation"),
        ConnectionError("no server"),
        TimeoutError(),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        RecursionError(),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_any_exception_of_an_extractor_is_retried(session: Session, error: BaseException) -> None:
    extraction = session.open(Model(error))
    session.say(1)
    done = wait(extraction)
    assert (done.is_complete, done.progress.counts.failures) == (True, 1)
    assert session.contents() == [text(1)]


def test_a_call_ends_at_its_timeout(session: Session) -> None:
    extraction = session.open(model := Model(seconds=LONG), call_timeout=0.05)
    session.say(1)
    done = wait(extraction)
    assert not done.is_complete
    assert model.cancelled == 3
    assert done.progress.pending_segments == 1


def test_an_answer_that_cannot_be_stored_is_not_asked_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memctx.facts.worker import batches  # noqa: PLC0415 - patched

    real, failures = update, [StoreError("disk full"), OSError(28, "No space left")]

    def failing(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(*arguments)

    monkeypatch.setattr(batches, "update", failing)
    extraction = session.open(model := Model())
    session.say(1)
    assert wait(extraction).is_complete
    assert len(model.requests) == 1
    assert session.contents() == [text(1)]


def test_a_cursor_that_cannot_be_saved_is_saved_later(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memctx.facts.worker import queue  # noqa: PLC0415 - patched

    extraction = session.open(model := Model(), min_messages=1)
    real, failures = queue.save_cursor, [OSError(28, "No space left on device")]

    def failing(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        real(*arguments)

    monkeypatch.setattr(queue, "save_cursor", failing)
    session.say(1)
    extraction.notify()
    until(lambda: not failures and extraction.progress().state == "idle")
    extraction.close()
    extraction = session.open(again := Model())
    assert wait(extraction).is_complete
    assert (len(model.requests), len(again.requests)) == (1, 0)


def test_too_many_dead_letters_stop_the_worker(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memctx.facts.worker import queue  # noqa: PLC0415 - patched

    monkeypatch.setattr(queue, "MAX_DEAD_LETTERS", 3)
    extraction = session.open(model := Model(*[REFUSED] * 100), batch_chars=100)
    session.say(*range(6))
    done = wait(extraction)
    assert (done.is_complete, done.progress.state) == (False, "stopped")
    assert (done.progress.dead_letters, done.progress.pending_segments) == (3, 3)
    assert "batches have failed" in (done.reason or "")
    model.failures.clear()
    extraction.retry()
    assert wait(extraction).is_complete
    assert sorted(session.contents()) == sorted(map(text, range(6)))


def test_errors_in_logs_quote_no_conversation(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    class Quoting(Model):
        async def extract(self, request: Request) -> ExtractionResult:
            self.requests.append(request)
            raise ValueError(request.messages[0].text)

    caplog.set_level(logging.DEBUG)
    extraction = session.open(Quoting())
    session.add("The zanzibar port of the payment gateway is eight thousand")
    assert not wait(extraction).is_complete
    until(lambda: caplog.records)
    assert "zanzibar" not in caplog.text
    assert "zanzibar" not in repr(extraction.progress())
    assert b"zanzibar" not in session.cursor_file().read_bytes()


def test_a_slow_model_does_not_delay_other_sessions(session: Session) -> None:
    slow = session.open(Model(seconds=LONG), min_messages=1)
    session.say(1)
    slow.notify()
    other = Session(session.folder, "another session")
    extraction = other.open(Model())
    other.say(2)
    start = time.perf_counter()
    assert wait(extraction).is_complete
    assert time.perf_counter() - start < 2
    other.close()


def test_facts_of_an_answer_with_problems_are_stored(session: Session) -> None:
    class Partial(Model):
        async def extract(self, request: Request) -> ExtractionResult:
            return ExtractionResult(candidates_of(request), problems=("fact 2 has no type",))

    extraction = session.open(Partial())
    session.say(1)
    assert wait(extraction).is_complete
    assert session.contents() == [text(1)]

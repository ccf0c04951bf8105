"""Models fail in every way; batches wait or are set aside, and none is lost."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import pytest

from memctx import ExtractionError, StoreError
from memctx.extraction import Patience
from memctx.extractors import Extraction as Found
from memctx.knowledge.update import update

from .places import LONG, Model, Place, drafts_of, flushed, text, until

if TYPE_CHECKING:
    from memctx.extractors import Request

BUSY = ExtractionError("the model is busy")
REFUSED = ExtractionError("the model refused", is_final=True)
DEAD = ExtractionError("the key is not taken", is_dead=True)
MALFORMED = ExtractionError("the answer is not JSON", is_malformed=True)


class Allergic(Model):
    """Fails whenever a certain word is in the conversation, and not otherwise."""

    def __init__(self, word: str, error: Exception) -> None:
        super().__init__()
        self.word = word
        self.error = error

    async def extract(self, request: Request) -> Found:
        self.failures = [self.error] if any(self.word in m.text for m in request.messages) else []
        return await super().extract(request)


def test_a_failure_that_passes_costs_a_moment(place: Place) -> None:
    extraction = place.open(model := Model(BUSY, BUSY))
    place.say(1)
    done = flushed(extraction)
    assert done.is_complete
    assert len(model.requests) == 3
    assert (done.progress.tally.failures, done.progress.tally.added) == (2, 1)
    assert done.progress.last_error is None
    assert place.contents() == [text(1)]


def test_a_dead_model_keeps_nobody_waiting(place: Place) -> None:
    """The breaker opens, a flush returns with what is left, and nothing is asked until the rest is over."""
    extraction = place.open(
        model := Model(*[BUSY] * 100), patience=Patience(0.01, 3, 3600.0, 3600.0)
    )
    place.say(*range(7))
    done = flushed(extraction)
    assert not done.is_complete
    assert done.reason == "ExtractionError: the model is busy"
    assert (done.progress.state, done.progress.pending_segments) == ("open", 7)
    assert done.progress.next_try is not None
    assert done.progress.next_try > time.time() + 1000
    for number in range(100, 150):
        place.say(number)
        extraction.wake()
    start = time.perf_counter()
    assert not flushed(extraction).is_complete
    assert time.perf_counter() - start < 1
    assert len(model.requests) == 3
    assert extraction.progress().pending_segments == 57
    model.failures.clear()
    extraction.retry()
    assert flushed(extraction).is_complete
    assert place.contents()[0] == text(0)
    assert len(place.contents()) == 57


def test_who_says_that_it_is_dead_is_believed_at_once(place: Place) -> None:
    extraction = place.open(model := Model(DEAD), patience=Patience(longest=3600.0))
    place.say(1)
    assert not flushed(extraction).is_complete
    assert extraction.progress().state == "open"
    assert len(model.requests) == 1


def test_an_open_breaker_lets_a_probe_through(place: Place) -> None:
    extraction = place.open(model := Model(*[BUSY] * 4), fewest_messages=1)
    place.say(1)
    extraction.wake()
    until(lambda: extraction.progress().tally.added == 1)
    assert len(model.requests) == 5
    assert extraction.progress().state == "idle"


def test_a_model_is_left_alone_for_as_long_as_it_asks(place: Place) -> None:
    extraction = place.open(model := Model(ExtractionError("busy", retry_after=0.12)))
    place.say(1)
    start = time.monotonic()
    assert flushed(extraction).is_complete
    assert 0.12 <= time.monotonic() - start < 5
    assert len(model.requests) == 2


def test_a_refusal_is_set_aside_and_the_others_go_on(place: Place) -> None:
    extraction = place.open(model := Allergic("port 8001", REFUSED), batch_chars=100)
    place.say(*range(4))
    done = flushed(extraction)
    assert done.is_complete
    assert place.contents() == [text(0), text(2), text(3)]
    assert (done.progress.set_aside, done.progress.tally.failures) == (1, 1)
    assert done.progress.state == "idle"
    assert len(model.requests) == 4
    extraction.retry()
    assert flushed(extraction).progress.set_aside == 1
    assert len(model.requests) == 5
    model.word = "nothing"
    extraction.retry()
    assert flushed(extraction).progress.set_aside == 0
    assert sorted(place.contents()) == sorted(map(text, range(4)))


def test_set_aside_batches_outlast_the_process(place: Place) -> None:
    extraction = place.open(Allergic("port 8001", REFUSED), batch_chars=100)
    place.say(*range(3))
    flushed(extraction)
    extraction.close()
    extraction = place.open(model := Model(), batch_chars=100)
    assert extraction.progress().set_aside == 1
    assert flushed(extraction).is_complete
    assert not model.requests
    extraction.retry()
    assert flushed(extraction).progress.set_aside == 0
    assert model.texts == [text(1)]


def test_what_cannot_be_read_three_times_is_set_aside(place: Place) -> None:
    extraction = place.open(model := Allergic("port 8001", MALFORMED), batch_chars=100)
    place.say(*range(3))
    done = flushed(extraction)
    assert done.is_complete
    assert (done.progress.set_aside, done.progress.tally.failures) == (1, 3)
    assert place.contents() == [text(0), text(2)]
    assert len(model.requests) == 5


@pytest.mark.parametrize("rubbish", [object(), [], "facts", Found])
def test_rubbish_is_no_answer(place: Place, rubbish: object) -> None:
    extraction = place.open(Model(*[rubbish] * 3))
    place.say(1)
    done = flushed(extraction)
    assert (done.is_complete, done.progress.set_aside) == (True, 1)


def test_one_bad_batch_is_told_from_a_dead_model(place: Place) -> None:
    """It fails as if the model were busy; that the next one goes well shows that it is not."""
    extraction = place.open(Allergic("port 8001", BUSY), batch_chars=100, fewest_messages=1)
    place.say(*range(4))
    extraction.wake()
    until(lambda: extraction.progress().set_aside == 1)
    assert flushed(extraction).is_complete
    assert place.contents() == [text(0), text(2), text(3)]


def test_a_batch_is_tried_again_as_it_was(place: Place) -> None:
    """What is said meanwhile does not join it."""
    extraction = place.open(model := Model(BUSY, BUSY), fewest_messages=1, patience=Patience(0.1))
    place.say(1)
    extraction.wake()
    until(lambda: model.requests)
    place.say(2)
    extraction.wake()
    assert flushed(extraction).is_complete
    asked = [[message.text for message in request.messages] for request in model.requests]
    assert asked == [[text(1)], [text(1)], [text(1)], [text(2)]]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("quotes the secret"),
        ConnectionError("nobody is there"),
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
def test_whatever_is_raised_the_work_goes_on(place: Place, error: BaseException) -> None:
    extraction = place.open(Model(error))
    place.say(1)
    done = flushed(extraction)
    assert (done.is_complete, done.progress.tally.failures) == (True, 1)
    assert place.contents() == [text(1)]


def test_a_model_that_never_answers_is_given_up(place: Place) -> None:
    extraction = place.open(model := Model(seconds=LONG), longest_call=0.05)
    place.say(1)
    done = flushed(extraction)
    assert not done.is_complete
    assert model.cancelled == 3
    assert done.progress.pending_segments == 1


def test_an_answer_is_not_paid_twice_if_it_cannot_be_stored(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memctx.extraction import reader  # noqa: PLC0415 - patched

    real, failures = update, [StoreError("disk full"), OSError(28, "No space left")]

    def failing(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(*arguments)

    monkeypatch.setattr(reader, "update", failing)
    extraction = place.open(model := Model())
    place.say(1)
    assert flushed(extraction).is_complete
    assert len(model.requests) == 1
    assert place.contents() == [text(1)]


def test_a_cursor_that_cannot_be_saved_is_saved_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memctx.extraction import cursor  # noqa: PLC0415 - patched

    extraction = place.open(model := Model(), fewest_messages=1)
    real, failures = cursor.save, [OSError(28, "No space left on device")]

    def failing(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        real(*arguments)

    monkeypatch.setattr(cursor, "save", failing)
    place.say(1)
    extraction.wake()
    until(lambda: not failures and extraction.progress().state == "idle")
    extraction.close()
    extraction = place.open(again := Model())
    assert flushed(extraction).is_complete
    assert (len(model.requests), len(again.requests)) == (1, 0)


def test_too_many_set_aside_stop_the_work(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from memctx.extraction import cursor  # noqa: PLC0415 - patched

    monkeypatch.setattr(cursor, "MOST_ASIDE", 3)
    extraction = place.open(model := Model(*[REFUSED] * 100), batch_chars=100)
    place.say(*range(6))
    done = flushed(extraction)
    assert (done.is_complete, done.progress.state) == (False, "stopped")
    assert (done.progress.set_aside, done.progress.pending_segments) == (3, 3)
    assert "set aside" in (done.reason or "")
    model.failures.clear()
    extraction.retry()
    assert flushed(extraction).is_complete
    assert sorted(place.contents()) == sorted(map(text, range(6)))


def test_nothing_that_was_said_is_logged(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    class Quoting(Model):
        async def extract(self, request: Request) -> Found:
            self.requests.append(request)
            raise ValueError(request.messages[0].text)

    caplog.set_level(logging.DEBUG)
    extraction = place.open(Quoting())
    place.tell("The zanzibar port of the payment gateway is eight thousand")
    assert not flushed(extraction).is_complete
    until(lambda: caplog.records)
    assert "zanzibar" not in caplog.text
    assert "zanzibar" not in repr(extraction.progress())
    assert b"zanzibar" not in place.cursor_file().read_bytes()


def test_a_slow_model_delays_nobody_else(place: Place) -> None:
    slow = place.open(Model(seconds=LONG), fewest_messages=1)
    place.say(1)
    slow.wake()
    other = Place(place.folder, "another session")
    extraction = other.open(Model())
    other.say(2)
    start = time.perf_counter()
    assert flushed(extraction).is_complete
    assert time.perf_counter() - start < 2
    other.close()


def test_problems_of_an_answer_do_not_stop_its_facts(place: Place) -> None:
    class Partial(Model):
        async def extract(self, request: Request) -> Found:
            return Found(drafts_of(request), problems=("fact 2 has no type",))

    extraction = place.open(Partial())
    place.say(1)
    assert flushed(extraction).is_complete
    assert place.contents() == [text(1)]

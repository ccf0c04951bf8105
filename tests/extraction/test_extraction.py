"""What is archived becomes facts, in batches, in the background."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import ConfigError
from memctx.extraction import Extraction

from .places import LONG, SESSION, Model, Place, flushed, name, text, until

if TYPE_CHECKING:
    from pathlib import Path


def test_five_messages_are_a_batch(place: Place) -> None:
    model = Model()
    extraction = place.open(model)
    place.say(1, 2, 3, 4)
    extraction.wake()
    until(lambda: extraction.progress().pending_segments == 4)
    assert not model.requests
    place.say(5)
    extraction.wake()
    until(lambda: extraction.progress().tally.batches == 1)
    assert [len(request.messages) for request in model.requests] == [5]
    assert place.contents() == [text(number) for number in range(1, 6)]
    progress = extraction.progress()
    assert (progress.state, progress.pending_segments, progress.pending_characters) == (
        "idle",
        0,
        0,
    )
    assert (progress.tally.added, progress.tally.usage.calls) == (5, 1)
    assert progress.tally.usage.cost == 0.5


def test_much_text_is_a_batch_too(place: Place) -> None:
    extraction = place.open(model := Model(), batch_chars=1000, fewest_messages=1000)
    place.say(*range(10))
    extraction.wake()
    until(lambda: extraction.progress().pending_segments == 10)
    assert not model.requests
    place.say(*range(10, 40))
    extraction.wake()
    until(lambda: extraction.progress().tally.batches == 2)
    assert all(sum(len(m.text) for m in request.messages) <= 1000 for request in model.requests)
    left = extraction.progress().pending_segments
    assert model.texts == [text(number) for number in range(40 - left)]


def test_a_flush_takes_what_there_is(place: Place) -> None:
    extraction = place.open(model := Model())
    place.say(1)
    done = flushed(extraction)
    assert (done.is_complete, done.reason) == (True, None)
    assert model.texts == [text(1)]
    assert flushed(extraction).is_complete
    assert len(model.requests) == 1


def test_a_few_words_wait_for_more(place: Place) -> None:
    """They are not worth a call, and are not lost either."""
    extraction = place.open(model := Model())
    place.tell("Port 8443", "Redis 7.2", "Linux 6.1", "MySQL 8.4", "Nginx 1.2")
    assert flushed(extraction).is_complete
    assert not model.requests
    assert extraction.progress().pending_segments == 5
    place.say(1)
    assert flushed(extraction).is_complete
    assert model.texts[0] == "Port 8443"


def test_history_is_not_paid_for_unless_asked(place: Place, tmp_path: Path) -> None:
    place.say(1)
    extraction = place.open(model := Model())
    place.say(2)
    assert flushed(extraction).is_complete
    assert model.texts == [text(2)]
    other = Place(tmp_path / "other")
    other.say(1)
    extraction = other.open(model := Model(), start="beginning")
    other.say(2)
    assert flushed(extraction).is_complete
    assert model.texts == [text(1), text(2)]
    other.close()


def test_what_was_archived_after_the_first_opening_is_not_missed(place: Place) -> None:
    """The first opening is remembered on disk before anything can be archived."""
    place.open(Model()).close()
    place.say(1)
    extraction = place.open(model := Model())
    assert flushed(extraction).is_complete
    assert model.texts == [text(1)]


def test_the_next_process_goes_on_by_itself(place: Place) -> None:
    place.open(Model(seconds=LONG)).close()
    place.say(*range(6))
    extraction = place.open(Model())
    until(lambda: extraction.progress().tally.added == 6)


def test_only_what_was_said_is_read(place: Place) -> None:
    extraction = place.open(model := Model())
    place.tell("A tool printed this, and it is long enough to be one", role="tool")
    place.tell(
        "A summary of all that was said before", role="assistant", metadata='{"kind":"summary"}'
    )
    place.tell("A word of the host about itself", metadata='{"kind":"custom"}')
    place.say(1)
    place.say(2, role="assistant")
    Place(place.folder, "another session").say(3)
    assert flushed(extraction).is_complete
    assert [(m.role, m.text) for m in model.requests[0].messages] == [
        ("user", text(1)),
        ("assistant", text(2)),
    ]
    assert len(model.requests) == 1


def test_recalled_text_is_never_read_again(place: Place) -> None:
    """End to end: what `prepare` recalled stands in the messages that are archived, and is not extracted from."""
    memory = memctx.open(place.folder, session_id=SESSION, context_window=200_000)
    memory.archive(
        [{"role": "user", "content": "The payment webhook listens on port 8443 of the gateway"}]
    )
    extraction = place.open(model := Model())
    question = {
        "role": "user",
        "content": "Which port does the payment webhook of the gateway have?",
    }
    turn = memory.prepare([question])
    assert "8443" in json.dumps(turn.messages)
    memory.archive(
        [
            *turn.messages,
            {"role": "assistant", "content": "It is in the settings of the gateway, I think."},
        ]
    )
    assert flushed(extraction).is_complete
    assert model.texts
    assert not any("8443" in each or "recalled" in each for each in model.texts)
    memory.close()


def test_the_extractor_sees_what_is_known(place: Place) -> None:
    extraction = place.open(model := Model())
    place.say(1)
    flushed(extraction)
    place.say(1, 2, role="assistant")
    flushed(extraction)
    assert not model.requests[0].known
    assert [known.content for known in model.requests[1].known] == [text(1)]
    assert extraction.progress().tally.unchanged == 1


def test_one_long_message_is_read_in_parts(place: Place) -> None:
    extraction = place.open(model := Model(), batch_chars=200)
    long = " ".join(text(number) for number in range(30))
    place.tell(long)
    place.say(99)
    done = flushed(extraction)
    assert done.is_complete
    assert "".join(model.texts) == long + text(99)
    assert all(sum(len(m.text) for m in request.messages) <= 200 for request in model.requests)
    assert done.progress.tally.batches <= 2


def test_waking_and_archiving_do_not_wait(place: Place) -> None:
    """Whatever the model does, and however often it is said."""
    extraction = place.open(Model(seconds=LONG), fewest_messages=1)
    place.say(1)
    extraction.wake()
    until(lambda: extraction.progress().state == "working")
    start = time.perf_counter()
    for _ in range(10_000):
        extraction.wake()
    assert time.perf_counter() - start < 0.5
    place.say(2)
    assert place.archive.search(name(2))


def test_a_hundred_sessions_share_a_thread(tmp_path: Path) -> None:
    places = [Place(tmp_path / "store", f"session {number}") for number in range(100)]
    model = Model(seconds=0.2)
    extractions = [each.open(model, fewest_messages=1) for each in places]
    before = threading.active_count()
    for number, each in enumerate(places):
        each.say(number)
    start = time.perf_counter()
    flushes = [extraction.flush() for extraction in extractions]
    assert all(flush.result(LONG).is_complete for flush in flushes)
    assert time.perf_counter() - start < 10  # one after another would take twice as long
    assert threading.active_count() <= before + 8
    assert sorted(model.texts) == sorted(map(text, range(100)))
    for each in places:
        each.close()


def test_settings_that_cannot_be_used_are_refused(place: Place) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"batch_chars": 0}, "batch_chars"),
        ({"fewest_messages": -1}, "fewest_messages"),
        ({"longest_call": 0}, "longest_call"),
        ({"start": "middle"}, "middle"),
    ]
    for settings, word in wrong:
        with pytest.raises(ConfigError, match=word):
            Extraction(place.folder, SESSION, place.facts, Model(), **settings)

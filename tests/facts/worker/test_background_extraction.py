"""`BackgroundExtraction`: archived messages become facts, in batches, in the background."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import ConfigError

from .sessions import LONG, SESSION, Model, Session, name, text, until, wait

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second


def test_five_messages_are_a_batch(session: Session) -> None:
    model = Model()
    extraction = session.open(model)
    session.say(1, 2, 3, 4)
    extraction.notify()
    until(lambda: extraction.progress().pending_segments == 4)
    assert not model.requests
    session.say(5)
    extraction.notify()
    until(lambda: extraction.progress().counts.batches == 1)
    assert [len(request.messages) for request in model.requests] == [5]
    assert session.contents() == [text(number) for number in range(1, 6)]
    progress = extraction.progress()
    assert (progress.state, progress.pending_segments, progress.pending_characters) == (
        "idle",
        0,
        0,
    )
    assert (progress.counts.added, progress.counts.usage.calls) == (5, 1)
    assert progress.counts.usage.cost == 0.5


def test_batch_chars_of_text_are_a_batch(session: Session) -> None:
    extraction = session.open(model := Model(), batch_chars=1000, min_messages=1000)
    session.say(*range(10))
    extraction.notify()
    until(lambda: extraction.progress().pending_segments == 10)
    assert not model.requests
    session.say(*range(10, 40))
    extraction.notify()
    until(lambda: extraction.progress().counts.batches == 2)
    assert all(sum(len(m.text) for m in request.messages) <= 1000 for request in model.requests)
    left = extraction.progress().pending_segments
    assert model.texts == [text(number) for number in range(40 - left)]


def test_waiting_for_facts_extracts_from_a_partial_batch(session: Session) -> None:
    extraction = session.open(model := Model())
    session.say(1)
    done = wait(extraction)
    assert (done.is_complete, done.reason) == (True, None)
    assert model.texts == [text(1)]
    assert wait(extraction).is_complete
    assert len(model.requests) == 1


def test_a_short_message_waits_for_more_text(session: Session) -> None:
    """They are not worth a call, and are not lost either."""
    extraction = session.open(model := Model())
    session.add("Port 8443", "Redis 7.2", "Linux 6.1", "MySQL 8.4", "Nginx 1.2")
    assert wait(extraction).is_complete
    assert not model.requests
    assert extraction.progress().pending_segments == 5
    session.say(1)
    assert wait(extraction).is_complete
    assert model.texts[0] == "Port 8443"


def test_history_is_skipped_unless_start_is_the_beginning(session: Session, tmp_path: Path) -> None:
    session.say(1)
    extraction = session.open(model := Model())
    session.say(2)
    assert wait(extraction).is_complete
    assert model.texts == [text(2)]
    other = Session(tmp_path / "other")
    other.say(1)
    extraction = other.open(model := Model(), start="beginning")
    other.say(2)
    assert wait(extraction).is_complete
    assert model.texts == [text(1), text(2)]
    other.close()


def test_messages_archived_after_the_first_opening_are_extracted_from(session: Session) -> None:
    """The first opening is remembered on disk before anything can be archived."""
    session.open(Model()).close()
    session.say(1)
    extraction = session.open(model := Model())
    assert wait(extraction).is_complete
    assert model.texts == [text(1)]


def test_the_next_process_continues_the_backlog(session: Session) -> None:
    session.open(Model(seconds=LONG)).close()
    session.say(*range(6))
    extraction = session.open(Model())
    until(lambda: extraction.progress().counts.added == 6)


def test_only_user_and_assistant_messages_are_read(session: Session) -> None:
    extraction = session.open(model := Model())
    session.add("A tool printed this, and it is long enough to be one", role="tool")
    session.add(
        "A summary of all that was said before", role="assistant", metadata='{"kind":"summary"}'
    )
    session.add("A word of the host about itself", metadata='{"kind":"custom"}')
    session.say(1)
    session.say(2, role="assistant")
    Session(session.folder, "another session").say(3)
    assert wait(extraction).is_complete
    assert [(m.role, m.text) for m in model.requests[0].messages] == [
        ("user", text(1)),
        ("assistant", text(2)),
    ]
    assert len(model.requests) == 1


def test_recalled_blocks_are_never_extracted_from(session: Session) -> None:
    """End to end: what `prepare` recalled stands in the messages that are archived, and is not extracted from."""
    memory = memctx.open(session.folder, session_id=SESSION, context_window=200_000)
    memory.archive(
        [{"role": "user", "content": "The payment webhook listens on port 8443 of the gateway"}]
    )
    extraction = session.open(model := Model())
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
    assert wait(extraction).is_complete
    assert model.texts
    assert not any("8443" in each or "recalled" in each for each in model.texts)
    memory.close()


def test_the_extractor_is_shown_known_facts(session: Session) -> None:
    extraction = session.open(model := Model())
    session.say(1)
    wait(extraction)
    session.say(1, 2, role="assistant")
    wait(extraction)
    assert not model.requests[0].known
    assert [known.content for known in model.requests[1].known] == [text(1)]
    assert extraction.progress().counts.unchanged == 1


def test_a_long_message_is_extracted_from_in_parts(session: Session) -> None:
    extraction = session.open(model := Model(), batch_chars=200)
    long = " ".join(text(number) for number in range(30))
    session.add(long)
    session.say(99)
    done = wait(extraction)
    assert done.is_complete
    assert "".join(model.texts) == long + text(99)
    assert all(sum(len(m.text) for m in request.messages) <= 200 for request in model.requests)
    assert done.progress.counts.batches <= 2


def test_notify_and_archive_do_not_wait_for_the_extractor(session: Session) -> None:
    """Whatever the model does, and however often it is said."""
    extraction = session.open(Model(seconds=LONG), min_messages=1)
    session.say(1)
    extraction.notify()
    until(lambda: extraction.progress().state == "working")
    start = time.perf_counter()
    for _ in range(10_000):
        extraction.notify()
    assert time.perf_counter() - start < 0.5
    session.say(2)
    assert session.archive.search(name(2))


def test_a_hundred_sessions_share_a_thread(tmp_path: Path) -> None:
    places = [Session(tmp_path / "store", f"session {number}") for number in range(100)]
    model = Model(seconds=0.2)
    extractions = [each.open(model, min_messages=1) for each in places]
    before = threading.active_count()
    for number, each in enumerate(places):
        each.say(number)
    start = time.perf_counter()
    flushes = [extraction.wait_for_facts() for extraction in extractions]
    assert all(future.result(LONG).is_complete for future in flushes)
    assert time.perf_counter() - start < 10  # one after another would take twice as long
    assert threading.active_count() <= before + 8
    assert sorted(model.texts) == sorted(map(text, range(100)))
    for each in places:
        each.close()


def test_invalid_extraction_settings_are_refused(session: Session) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"batch_chars": 0}, "batch_chars"),
        ({"min_messages": -1}, "min_messages"),
        ({"call_timeout": 0}, "call_timeout"),
        ({"start": "middle"}, "middle"),
    ]
    for settings, word in wrong:
        with pytest.raises(ConfigError, match=word):
            session.open(Model(), **settings)

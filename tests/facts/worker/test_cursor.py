"""`Cursor`: stored on disk, validated, and relocated in a log that was replaced."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.errors import ExtractionError
from memctx.facts.extractors import Usage
from memctx.facts.worker import queue
from memctx.facts.worker.log import Log
from memctx.facts.worker.progress import Counts
from memctx.facts.worker.queue import Cursor, FailedBatch

from .sessions import SESSION, Model, Session, text, together, until, wait

if TYPE_CHECKING:
    from pathlib import Path

numbers = st.integers(0, 2**53)
words = st.text(max_size=8)
failed_batches = st.builds(FailedBatch, numbers, numbers, numbers, words, numbers, numbers, words)
usages = st.builds(Usage, numbers, numbers, numbers, st.none() | st.floats(0, 1e9))
counts = st.builds(Counts, *[numbers] * 7, usages)
cursors = st.builds(
    Cursor,
    numbers,
    numbers,
    st.none() | words,
    st.none() | failed_batches,
    st.lists(failed_batches, max_size=2).map(tuple),
    counts,
)


@given(cursors)
def test_a_cursor_round_trips_through_json(cursor: Cursor) -> None:
    assert Cursor.from_json(json.loads(json.dumps(cursor.to_json()))) == cursor


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(list(Cursor().to_json())), inner, max_size=7)
        ),
        max_leaves=12,
    )
)
@pytest.mark.slow
def test_a_cursor_from_any_other_json_is_a_value_error(found: object) -> None:
    if isinstance(found, dict):
        with suppress(ValueError):
            Cursor.from_json(found)


def test_a_cursor_file_is_readable_by_its_owner_only(session: Session) -> None:
    session.open(Model())
    file = session.cursor_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == [file.name], "nothing is left beside it"


@pytest.mark.parametrize(
    "session_id", ["../../etc/passwd", "a/b", ".", "x" * 3000, "会话 1", "\x00"]
)
def test_every_session_id_has_its_own_cursor_file(tmp_path: Path, session_id: str) -> None:
    session = Session(tmp_path / "store")
    extraction = Session.open(_named(session, session_id), Model())
    assert extraction.progress().state != "stopped"
    assert session.cursor_file().parent == tmp_path / "store" / "extraction"
    extraction.close()
    session.close()


def _named(session: Session, session_id: str) -> Session:
    session.session_id = session_id
    return session


def test_the_first_process_creates_the_cursor(tmp_path: Path) -> None:
    """A second process that opens the session must not skip what the first archived in between."""
    path = queue.cursor_path(tmp_path, SESSION)
    tmp_path.mkdir(exist_ok=True)
    assert queue.create_cursor(path, SESSION, Cursor(10))
    assert not queue.create_cursor(path, SESSION, Cursor(20))
    assert queue.load_cursor(path, SESSION) == Cursor(10)
    other, made = queue.cursor_path(tmp_path, "other"), []
    together(
        [
            lambda number=number: made.append(queue.create_cursor(other, "other", Cursor(number)))  # type: ignore[misc]
            for number in range(8)
        ]
    )
    assert made.count(True) == 1


def test_a_damaged_cursor_costs_calls_but_no_fact(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    extraction = session.open(Model())
    session.say(1)
    wait(extraction)
    extraction.close()
    session.say(2)
    for damage in (b"", b"{", b"[]", b'{"version":1}', b"\xff", b"[" * 100_000):
        session.cursor_file().write_bytes(damage)
        extraction = session.open(model := Model())
        assert wait(extraction).is_complete
        assert model.texts == [text(1), text(2)]
        assert "not usable" in caplog.text
        extraction.close()
    assert session.contents() == [text(1), text(2)]


def test_a_cursor_of_another_session_or_version_is_left_alone(session: Session) -> None:
    session.open(Model()).close()
    for key, value in (("session", "another"), ("version", 2)):
        document = json.loads(session.cursor_file().read_text())
        session.cursor_file().write_text(json.dumps({**document, key: value}))
        before = session.cursor_file().read_bytes()
        extraction = session.open(model := Model(), min_messages=1)
        session.say(1)
        extraction.notify()
        extraction.retry()
        done = wait(extraction)
        assert (done.is_complete, done.progress.state) == (False, "stopped")
        assert done.reason
        assert not model.requests
        assert session.cursor_file().read_bytes() == before
        extraction.close()
        session.cursor_file().write_text(json.dumps(document))


def rewrite_log(session: Session, keep: int) -> None:
    """Rewrite the log as a manual clean-up does: the last lines stay, byte for byte, in a new file."""
    log = session.folder / "segments.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    (session.folder / "new").write_bytes(b"".join(lines[-keep:]))
    (session.folder / "new").replace(log)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_cursor_is_relocated_in_a_rewritten_log(session: Session, *, is_open: bool) -> None:
    extraction = session.open(model := Model())
    session.say(*range(10))
    wait(extraction)
    session.say(10, 11)
    if not is_open:
        extraction.close()
    rewrite_log(session, keep=5)
    if not is_open:
        extraction = session.open(model := Model())
    assert wait(extraction).is_complete
    assert model.texts[-2:] == [text(10), text(11)]
    assert len(model.texts) == (12 if is_open else 2)
    session.say(12)
    assert wait(extraction).is_complete
    assert model.texts[-1] == text(12)


def test_history_stays_skipped_after_the_log_is_rewritten(session: Session) -> None:
    session.say(*range(8))
    extraction = session.open(model := Model())
    session.say(8)
    extraction.notify()
    until(lambda: extraction.progress().pending_segments == 1)
    extraction.close()
    rewrite_log(session, keep=4)
    extraction = session.open(model)
    assert wait(extraction).is_complete
    assert model.texts == [text(8)]


def test_a_new_log_is_read_from_its_beginning(session: Session) -> None:
    extraction = session.open(model := Model())
    session.say(*range(5))
    wait(extraction)
    rewrite_log(session, keep=0)
    (session.folder / "segments.jsonl").unlink()
    assert wait(extraction).is_complete
    Session(session.folder).say(77)
    assert wait(extraction).is_complete
    assert model.texts[-1] == text(77)


def test_a_dead_letter_is_found_in_a_rewritten_log(session: Session) -> None:
    refused = ExtractionError("no", is_retryable=False)
    extraction = session.open(model := Model(None, refused), batch_chars=100)
    session.say(*range(4))
    assert wait(extraction).progress.dead_letters == 1
    rewrite_log(session, keep=3)
    extraction.retry()
    assert wait(extraction).progress.dead_letters == 0
    assert model.texts[-1] == text(1)


def test_a_dead_letter_missing_from_the_log_is_dropped(session: Session) -> None:
    refused = ExtractionError("no", is_retryable=False)
    extraction = session.open(model := Model(refused), batch_chars=100)
    session.say(*range(4))
    assert wait(extraction).progress.dead_letters == 1
    rewrite_log(session, keep=2)
    extraction.retry()
    assert wait(extraction).progress.dead_letters == 0
    assert len(model.requests) == 4


def test_an_unfinished_log_line_is_not_read(session: Session) -> None:
    log = session.folder / "segments.jsonl"
    session.say(0)
    line = log.read_bytes()
    with log.open("ab") as file:
        file.write(line[:30])
    extraction = session.open(model := Model())
    assert Log(session.folder, SESSION).end() == len(line)
    assert wait(extraction).is_complete
    session.say(1)
    assert wait(extraction).is_complete
    assert model.texts == [text(1)]


def test_the_end_of_the_log_is_found_after_a_long_line(tmp_path: Path) -> None:
    log = Log(tmp_path, SESSION)
    assert (log.end(), log.mark(0), log.mark(1)) == (0, 0, None)
    (tmp_path / "segments.jsonl").write_bytes(b"x" * 300_000)
    assert log.end() == 0
    (tmp_path / "segments.jsonl").write_bytes(b"a\n" + b"x" * 300_000)
    assert (log.end(), log.mark(300_003)) == (2, None)
    assert log.mark(2) is not None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store_does_not_stop_extraction(session: Session) -> None:
    session.folder.chmod(0o500)
    try:
        extraction = session.open(Model())
        assert wait(extraction).is_complete
    finally:
        session.folder.chmod(0o700)


def test_the_cursor_skips_messages_of_other_sessions(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every process would read the whole log to find nothing."""
    from memctx.facts.worker import batches  # noqa: PLC0415 - patched

    monkeypatch.setattr(batches, "WORTH_SAVING", 1000)
    extraction = session.open(Model())
    other = Session(session.folder, "another session")
    other.say(*range(20))
    assert wait(extraction).is_complete
    saved = queue.load_cursor(session.cursor_file(), SESSION)
    assert saved is not None
    assert saved.offset == Log(session.folder, SESSION).end()
    other.close()

"""The place in the archive: kept on disk, checked, and found again in a log that was replaced."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ExtractionError
from memctx.extraction import cursor as cursors
from memctx.extraction.cursor import Cursor, Trouble
from memctx.extraction.log import Log
from memctx.extraction.progress import Tally
from memctx.extractors import Usage

from .places import SESSION, Model, Place, flushed, text, together, until

if TYPE_CHECKING:
    from pathlib import Path

numbers = st.integers(0, 2**53)
words = st.text(max_size=8)
troubles = st.builds(Trouble, numbers, numbers, numbers, words, numbers, numbers, words)
usages = st.builds(Usage, numbers, numbers, numbers, st.none() | st.floats(0, 1e9))
tallies = st.builds(Tally, *[numbers] * 7, usages)
places = st.builds(
    Cursor,
    numbers,
    numbers,
    st.none() | words,
    st.none() | troubles,
    st.lists(troubles, max_size=2).map(tuple),
    tallies,
)


@given(places)
def test_it_reads_back(cursor: Cursor) -> None:
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
def test_anything_else_is_a_value_error(found: object) -> None:
    if isinstance(found, dict):
        with suppress(ValueError):
            Cursor.from_json(found)


def test_the_file_is_its_owners_alone(place: Place) -> None:
    place.open(Model())
    file = place.cursor_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == [file.name], "nothing is left beside it"


@pytest.mark.parametrize(
    "session_id", ["../../etc/passwd", "a/b", ".", "x" * 3000, "会话 1", "\x00"]
)
def test_any_session_has_a_file_of_its_own(tmp_path: Path, session_id: str) -> None:
    place = Place(tmp_path / "store")
    extraction = Place.open(_named(place, session_id), Model())
    assert extraction.progress().state != "stopped"
    assert place.cursor_file().parent == tmp_path / "store" / "extraction"
    extraction.close()
    place.close()


def _named(place: Place, session_id: str) -> Place:
    place.session_id = session_id
    return place


def test_the_first_to_open_sets_the_place(tmp_path: Path) -> None:
    """A second process that opens beside it must not skip what the first archived in between."""
    path = cursors.path_of(tmp_path, SESSION)
    tmp_path.mkdir(exist_ok=True)
    assert cursors.create(path, SESSION, Cursor(10))
    assert not cursors.create(path, SESSION, Cursor(20))
    assert cursors.load(path, SESSION) == Cursor(10)
    other, made = cursors.path_of(tmp_path, "other"), []
    together(
        [
            lambda number=number: made.append(cursors.create(other, "other", Cursor(number)))  # type: ignore[misc]
            for number in range(8)
        ]
    )
    assert made.count(True) == 1


def test_a_damaged_file_costs_calls_but_no_fact(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    extraction = place.open(Model())
    place.say(1)
    flushed(extraction)
    extraction.close()
    place.say(2)
    for damage in (b"", b"{", b"[]", b'{"version":1}', b"\xff", b"[" * 100_000):
        place.cursor_file().write_bytes(damage)
        extraction = place.open(model := Model())
        assert flushed(extraction).is_complete
        assert model.texts == [text(1), text(2)]
        assert "not usable" in caplog.text
        extraction.close()
    assert place.contents() == [text(1), text(2)]


def test_what_is_not_ours_is_left_alone(place: Place) -> None:
    place.open(Model()).close()
    for key, value in (("session", "another"), ("version", 2)):
        document = json.loads(place.cursor_file().read_text())
        place.cursor_file().write_text(json.dumps({**document, key: value}))
        before = place.cursor_file().read_bytes()
        extraction = place.open(model := Model(), fewest_messages=1)
        place.say(1)
        extraction.wake()
        extraction.retry()
        done = flushed(extraction)
        assert (done.is_complete, done.progress.state) == (False, "stopped")
        assert done.reason
        assert not model.requests
        assert place.cursor_file().read_bytes() == before
        extraction.close()
        place.cursor_file().write_text(json.dumps(document))


def rewritten(place: Place, keep: int) -> None:
    """As a person's clean-up does it: the last lines stay, byte for byte, in a new file."""
    log = place.folder / "segments.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    (place.folder / "new").write_bytes(b"".join(lines[-keep:]))
    (place.folder / "new").replace(log)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_log_that_was_rewritten_is_read_from_where_it_was(place: Place, is_open: bool) -> None:  # noqa: FBT001
    extraction = place.open(model := Model())
    place.say(*range(10))
    flushed(extraction)
    place.say(10, 11)
    if not is_open:
        extraction.close()
    rewritten(place, keep=5)
    if not is_open:
        extraction = place.open(model := Model())
    assert flushed(extraction).is_complete
    assert model.texts[-2:] == [text(10), text(11)]
    assert len(model.texts) == (12 if is_open else 2)
    place.say(12)
    assert flushed(extraction).is_complete
    assert model.texts[-1] == text(12)


def test_history_stays_unpaid_if_the_log_is_rewritten(place: Place) -> None:
    place.say(*range(8))
    extraction = place.open(model := Model())
    place.say(8)
    extraction.wake()
    until(lambda: extraction.progress().pending_segments == 1)
    extraction.close()
    rewritten(place, keep=4)
    extraction = place.open(model)
    assert flushed(extraction).is_complete
    assert model.texts == [text(8)]


def test_a_log_that_begins_anew_is_read_anew(place: Place) -> None:
    extraction = place.open(model := Model())
    place.say(*range(5))
    flushed(extraction)
    rewritten(place, keep=0)
    (place.folder / "segments.jsonl").unlink()
    assert flushed(extraction).is_complete
    Place(place.folder).say(77)
    assert flushed(extraction).is_complete
    assert model.texts[-1] == text(77)


def test_a_batch_that_was_set_aside_is_found_in_a_new_log(place: Place) -> None:
    refused = ExtractionError("no", is_final=True)
    extraction = place.open(model := Model(None, refused), batch_chars=100)
    place.say(*range(4))
    assert flushed(extraction).progress.set_aside == 1
    rewritten(place, keep=3)
    extraction.retry()
    assert flushed(extraction).progress.set_aside == 0
    assert model.texts[-1] == text(1)


def test_a_batch_that_is_gone_is_no_longer_set_aside(place: Place) -> None:
    refused = ExtractionError("no", is_final=True)
    extraction = place.open(model := Model(refused), batch_chars=100)
    place.say(*range(4))
    assert flushed(extraction).progress.set_aside == 1
    rewritten(place, keep=2)
    extraction.retry()
    assert flushed(extraction).progress.set_aside == 0
    assert len(model.requests) == 4


def test_an_unfinished_line_waits_for_its_end(place: Place) -> None:
    log = place.folder / "segments.jsonl"
    place.say(0)
    line = log.read_bytes()
    with log.open("ab") as file:
        file.write(line[:30])
    extraction = place.open(model := Model())
    assert Log(place.folder, SESSION).end() == len(line)
    assert flushed(extraction).is_complete
    place.say(1)
    assert flushed(extraction).is_complete
    assert model.texts == [text(1)]


def test_the_end_of_a_log_is_found_behind_a_long_line(tmp_path: Path) -> None:
    log = Log(tmp_path, SESSION)
    assert (log.end(), log.mark(0), log.mark(1)) == (0, 0, None)
    (tmp_path / "segments.jsonl").write_bytes(b"x" * 300_000)
    assert log.end() == 0
    (tmp_path / "segments.jsonl").write_bytes(b"a\n" + b"x" * 300_000)
    assert (log.end(), log.mark(300_003)) == (2, None)
    assert log.mark(2) is not None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_store_that_cannot_be_written_stops_nothing(place: Place) -> None:
    place.folder.chmod(0o500)
    try:
        extraction = place.open(Model())
        assert flushed(extraction).is_complete
    finally:
        place.folder.chmod(0o700)


def test_what_lies_before_other_sessions_is_passed_over(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or every process would read the whole log to find nothing."""
    from memctx.extraction import worker  # noqa: PLC0415 - patched

    monkeypatch.setattr(worker, "WORTH_SAVING", 1000)
    extraction = place.open(Model())
    other = Place(place.folder, "another session")
    other.say(*range(20))
    assert flushed(extraction).is_complete
    saved = cursors.load(place.cursor_file(), SESSION)
    assert saved is not None
    assert saved.offset == Log(place.folder, SESSION).end()
    other.close()

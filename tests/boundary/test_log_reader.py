"""Reading the archive on from a place."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from memctx import ConfigError, SearchFilter
from memctx.lowlevel import LogReader, Store, StoreOptions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = Store(tmp_path, StoreOptions(session_id="s1", durability="os"))
    store.add([("user", f"remark number {number}", None, None) for number in range(5)])
    store.add([("assistant", "an answer to all of them", None, None)])
    store.close()
    return tmp_path


@pytest.fixture
def reader(folder: Path) -> LogReader:
    return LogReader(folder)


def test_pages_follow_each_other(reader: LogReader, folder: Path) -> None:
    found, offset = [], 0
    while True:
        page, offset = reader.read_from(offset, SearchFilter(session_id="s1"), limit=2)
        if not page:
            break
        found += [segment.content for segment in page]
    assert found == [segment.content for segment in reader.scan()]
    assert offset == (folder / "segments.jsonl").stat().st_size
    assert reader.read_from(0, SearchFilter(roles=["assistant"]))[0][0].role == "assistant"
    assert reader.read_from(0, SearchFilter(session_id="s2")) == ([], offset)


def test_an_invalid_log_position_is_refused(reader: LogReader) -> None:
    with pytest.raises(ConfigError, match="offset must be 0 or more, not -1"):
        reader.read_from(-1)
    with pytest.raises(ConfigError, match="limit must be 0 or more, not -1"):
        reader.read_from(0, limit=-1)
    with pytest.raises(TypeError, match="put it in a list"):
        reader.read_from(0, SearchFilter(roles="user"))
    assert reader.read_from(2**60) == ([], 2**60)


def test_offsets_are_found_by_id_and_ids_by_offset(reader: LogReader, folder: Path) -> None:
    log = (folder / "segments.jsonl").read_bytes()
    ends = [at + 1 for at, byte in enumerate(log) if byte == ord("\n")]
    ids = [segment.id for segment in reader.scan()]
    assert [reader.offset_after(each) for each in ids] == ends
    assert [reader.last_before(end) for end in ends] == ids
    assert [reader.last_before(end - 1) for end in ends] == [None, *ids[:-1]]
    assert reader.last_before(len(log), SearchFilter(roles=["user"])) == ids[4]
    assert reader.offset_after(ids[5], SearchFilter(roles=["user"])) is None
    assert reader.offset_after(ids[5], SearchFilter(session_id="s2")) is None


def test_a_mark_tells_whether_the_log_is_the_same(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as copy:
        _check_marks(shutil.copytree(folder, Path(copy) / "store"))


def _check_marks(folder: Path) -> None:
    """Rewrite the log of a store that no other thread has, and compare its marks."""
    reader, log = LogReader(folder), folder / "segments.jsonl"
    data = log.read_bytes()
    end = reader.end()
    mark = reader.mark(end)
    assert (end, reader.mark(0), reader.mark(end + 1)) == (len(data), 0, None)
    log.write_bytes(data + b"unfinished")
    assert (reader.end(), reader.mark(end)) == (end, mark)
    log.write_bytes(b"x" + data[1:])
    assert reader.mark(end) != mark
    log.unlink()
    assert (reader.end(), reader.mark(0), reader.mark(end)) == (0, 0, None)

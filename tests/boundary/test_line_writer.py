"""`LineWriter` and `LogReader.read_lines`: lines of one store become lines of another, byte for byte."""

from __future__ import annotations

import json
import multiprocessing
import stat
import sys
from typing import TYPE_CHECKING, Literal

import pytest

from memctx import ConfigError
from memctx.errors import StoreError, StoreLockedError, UnsupportedVersionError
from memctx.lowlevel import FactStore, LineWriter, LogReader, Store, StoreOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPTIONS = StoreOptions(session_id="s1", durability="os")
LOGS: tuple[Literal["segments", "facts"], ...] = ("segments", "facts")
FILES = {"segments": "segments.jsonl", "facts": "knowledge.jsonl"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    store = Store(folder, OPTIONS)
    store.add([("user", f"remark number {number} 飞书\u2028é", None, None) for number in range(7)])
    store.close()
    facts = FactStore(folder, OPTIONS)
    first = facts.add("config", "The webhook listens on port 3000")
    facts.update(first.id, "The webhook listens on port 8443")
    facts.add("decision", "We use Redis")
    facts.close()
    return folder


def pages(
    reader: LogReader, log: Literal["segments", "facts"], limit: int
) -> Iterator[tuple[int, str]]:
    offset = 0
    while True:
        lines, offset = reader.read_lines(offset, log=log, limit=limit)
        if not lines:
            return
        assert len(lines) <= limit
        assert lines[-1][0] == offset
        yield from lines


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("limit", [1, 2, 100])
def test_lines_are_copied_byte_for_byte(
    source: Path, tmp_path: Path, log: Literal["segments", "facts"], limit: int
) -> None:
    reader = LogReader(source)
    lines = list(pages(reader, log, limit))
    data = (source / FILES[log]).read_bytes()
    assert "".join(f"{text}\n" for _, text in lines).encode() == data
    assert lines[-1][0] == reader.end(log=log) == len(data)
    copy = tmp_path / f"copy {log} {limit}"
    writer = LineWriter(copy)
    half = len(lines) // 2
    assert writer.append([text for _, text in lines[:half]], log=log) == lines[half - 1][0]
    assert writer.append([text for _, text in lines[half:]], log=log) == len(data)
    assert writer.append([], log=log) == len(data)
    file = copy / FILES[log]
    assert file.read_bytes() == data
    assert LogReader(copy).mark(len(data), log=log) == reader.mark(len(data), log=log) is not None
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_empty_append_creates_no_log(tmp_path: Path) -> None:
    assert LineWriter(tmp_path / "new").append([], log="facts") == 0
    assert LogReader(tmp_path / "new").read_lines(0) == ([], 0)
    assert LogReader(tmp_path / "new").read_lines(7, log="facts") == ([], 7)


def test_damaged_lines_are_passed_over_and_an_incomplete_one_waits(
    source: Path, tmp_path: Path
) -> None:
    lines = [text for _, text in LogReader(source).read_lines(0)[0]]
    folder = tmp_path / "damaged"
    folder.mkdir(mode=0o700)
    flipped = lines[1].replace("remark", "remask")
    plain = '{"id":"a","sessionId":"s1","timestamp":1,"role":"user","content":"of another writer"}'
    whole = [lines[0], flipped, "", "no JSON", lines[2], plain, "\r", lines[3] + "\r"]
    data = "".join(f"{line}\n" for line in whole).encode() + b'{"id":"\xff"}\n'
    (folder / "segments.jsonl").write_bytes(data + lines[4].encode())
    reader = LogReader(folder)
    found, offset = reader.read_lines(0)
    assert [text for _, text in found] == [lines[0], lines[2], plain, lines[3]]
    assert offset == len(data) == reader.end()
    assert all(data[:end].endswith(b"\n") for end, _ in found)
    assert reader.read_lines(offset) == ([], offset)
    assert reader.read_lines(1)[0] == found[1:], "the line that the offset is in is not returned"
    assert reader.read_lines(0, limit=0) == ([], 0)
    # The writer closes the incomplete line, which then counts.
    LineWriter(folder).append([lines[5]])
    assert [text for _, text in reader.read_lines(offset)[0]] == lines[4:6]


def test_a_page_ends_after_four_mebibytes(tmp_path: Path) -> None:
    store = Store(tmp_path / "large", OPTIONS)
    store.add([("tool", f"{number} " + "x" * 1_000_000, None, None) for number in range(12)])
    store.close()
    reader = LogReader(tmp_path / "large")
    page, offset = reader.read_lines(0)
    assert len(page) == 5
    assert page[-1][0] == offset
    assert len(list(pages(reader, "segments", 256))) == 12


def test_open_stores_follow_appended_lines(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    store, facts = Store(copy, OPTIONS), FactStore(copy, OPTIONS)
    other = Store(copy, StoreOptions(session_id="s2", durability="os"))
    assert not store.search("remark")
    writer, reader = LineWriter(copy), LogReader(source)
    writer.append([text for _, text in reader.read_lines(0)[0]])
    writer.append([text for _, text in reader.read_lines(0, log="facts")[0]], log="facts")
    assert len(store.search("remark")) == 7
    assert not other.search("remark")
    assert {fact.content for fact in facts.facts()} == {
        "The webhook listens on port 8443",
        "We use Redis",
    }
    assert facts.search("which port?")
    # What came from elsewhere counts as stored.
    assert (
        store.add([("user", "remark number 3 飞书\u2028é", None, None)])[0].outcome == "duplicate"
    )


def test_a_repeated_segment_line_changes_nothing(source: Path) -> None:
    store = Store(source, OPTIONS)
    before = {hit.segment.id: hit.score for hit in store.search("remark number")}
    lines = [text for _, text in LogReader(source).read_lines(0)[0]]
    LineWriter(source).append([lines[2], lines[2], lines[5]])
    assert {hit.segment.id: hit.score for hit in store.search("remark number")} == before
    assert len(store) == 7
    assert len(list(LogReader(source).scan())) == 7
    assert len(Store(source, OPTIONS)) == 7


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("", "not JSON"),
        ("{}", "a key is missing"),
        ("[1]", "a key is missing|not JSON"),
        ('{"id":"sk-secret"', "not JSON"),
        ('{"id":"sk-secret"}', "a key is missing"),
        ("two\nlines", "line end"),
    ],
)
@pytest.mark.parametrize("log", LOGS)
def test_an_invalid_line_is_named_and_nothing_is_written(
    source: Path, tmp_path: Path, log: Literal["segments", "facts"], line: str, fault: str
) -> None:
    good = [text for _, text in LogReader(source).read_lines(0, log=log)[0]]
    writer = LineWriter(tmp_path / "copy")
    with pytest.raises(StoreError, match=rf"lines\[1\].*({fault}).*nothing was written") as caught:
        writer.append([good[0], line, good[1]], log=log)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "copy" / FILES[log]).exists()


@pytest.mark.parametrize("log", LOGS)
def test_a_line_with_a_wrong_checksum_is_refused(
    source: Path, tmp_path: Path, log: Literal["segments", "facts"]
) -> None:
    (_, good), *_ = LogReader(source).read_lines(0, log=log)[0]
    writer = LineWriter(tmp_path / "copy")
    told = json.loads(good)["content"]
    with pytest.raises(StoreError, match=r"lines\[0\].*the checksum does not hold"):
        writer.append([good.replace(told, told.upper())], log=log)
    with pytest.raises(StoreError, match=r"lines\[0\].*line end"):
        writer.append([f"{good}\r"], log=log)
    # A segment is no fact, nor the other way round.
    other: Literal["segments", "facts"] = "facts" if log == "segments" else "segments"
    with pytest.raises(StoreError, match=r"lines\[0\].*a key is missing"):
        writer.append([good], log=other)


def test_invalid_arguments_of_a_writer_are_refused(source: Path) -> None:
    writer, reader = LineWriter(source), LogReader(source)
    with pytest.raises(ConfigError, match='log must be "segments" or "facts", not "knowledge"'):
        writer.append([], log="knowledge")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match='log must be "segments" or "facts", not ""'):
        reader.read_lines(0, log="")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="log must be"):
        reader.end(log="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="log must be"):
        reader.mark(0, log="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="offset must be 0 or more, not -1"):
        reader.read_lines(-1)
    with pytest.raises(ConfigError, match="limit must be 0 or more, not -1"):
        reader.read_lines(0, limit=-1)
    with pytest.raises(TypeError, match="put it in a list"):
        writer.append("{}")
    with pytest.raises(ConfigError, match="surrogate"):
        writer.append(["\ud83d"])
    with pytest.raises(ConfigError, match="lock_timeout must be 0 or more seconds, not -1"):
        LineWriter(source, lock_timeout=-1)


def test_a_directory_of_a_newer_version_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "LOCK").write_text('{"format":2,"min_reader":1,"min_writer":2}\n')
    tmp_path.chmod(0o700)
    with pytest.raises(UnsupportedVersionError):
        LineWriter(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="locks with fcntl")
def test_a_writer_waits_for_the_lock_no_longer_than_told(source: Path, tmp_path: Path) -> None:
    import fcntl  # noqa: PLC0415 - not there on Windows

    line = LogReader(source).read_lines(0)[0][0][1]
    writer = LineWriter(tmp_path / "copy", lock_timeout=0.05)
    writer.append([line])
    with (tmp_path / "copy" / "LOCK").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreLockedError):
            writer.append([line])
    assert (tmp_path / "copy" / "segments.jsonl").read_text() == f"{line}\n"


def _copy(source: str, target: str, first: int, step: int) -> None:
    lines = [text for _, text in LogReader(source).read_lines(0)[0]]
    writer = LineWriter(target)
    for line in lines[first::step]:
        writer.append([line])


@pytest.mark.thread_unsafe(reason="starts processes")
def test_writers_in_several_processes_lose_no_line(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_copy, args=(str(source), str(target), first, 2))
        for first in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    wanted = {text for _, text in LogReader(source).read_lines(0)[0]}
    assert {text for _, text in LogReader(target).read_lines(0)[0]} == wanted

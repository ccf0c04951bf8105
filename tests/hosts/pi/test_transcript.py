"""Appending to a session file and reading it again."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memctx import files
from memctx.errors import (
    ConfigError,
    MessageFormatError,
    StoreError,
    UnsupportedVersionError,
)
from memctx.hosts.pi import Transcript, entry, read_entries, transcript
from memctx.hosts.pi.reader import EntryReader

from .strategies import steps, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

USER = {"role": "user", "content": "hi", "timestamp": 1770000001000}

GOLDEN = """\
{"type":"session","version":3,"id":"6f1c0c52-0000-4000-8000-000000000001","timestamp":"2026-02-02T02:40:00.000Z","cwd":"/proj"}
{"type":"message","id":"0a1b2c3d","parentId":null,"timestamp":"2026-02-02T02:40:01.000Z","message":{"role":"user","content":"hi","timestamp":1770000001000}}
{"type":"compaction","id":"1b2c3d4e","parentId":"0a1b2c3d","timestamp":"2026-02-02T02:50:00.000Z","summary":"…","firstKeptEntryId":"0a1b2c3d","tokensBefore":51234,"details":{"readFiles":["a.py"],"modifiedFiles":[]}}
"""


def path_in(folder: str) -> Path:
    return Path(folder) / "session.jsonl"


def seen(transcript: Transcript) -> list[tuple[Any, ...]]:
    return [(each.type, each.id, each.parent_id, each.fields, each.line) for each in transcript]


def test_lines_are_written_in_the_format_of_pi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, at given times and with given ids."""
    ids, times = iter(["0a1b2c3d", "1b2c3d4e"]), iter([1770000000.0, 1770000001.0, 1770000600.0])
    monkeypatch.setattr(transcript, "new_id", lambda *_: next(ids))
    monkeypatch.setattr("time.time", lambda: next(times))
    path = tmp_path / "session.jsonl"
    written = Transcript.open(path, session_id="6f1c0c52-0000-4000-8000-000000000001", cwd="/proj")
    first = written.append_message(USER)
    details = {"readFiles": ["a.py"], "modifiedFiles": []}
    written.append_compaction("…", first, 51234, details=details)
    assert path.read_text("utf-8") == GOLDEN


def test_lines_written_by_pi_are_read(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(GOLDEN, "utf-8")
    found = Transcript.open(path)
    assert found.session_id == "6f1c0c52-0000-4000-8000-000000000001"
    assert found.found_version == 3
    assert [(each.type, each.id, each.parent_id) for each in found] == [
        ("message", "0a1b2c3d", None),
        ("compaction", "1b2c3d4e", "0a1b2c3d"),
    ]
    assert found.context().messages == [
        {
            "role": "compactionSummary",
            "summary": "…",
            "tokensBefore": 51234,
            "timestamp": 1770000600000,
        },
        USER,
    ]
    assert found.leaf == "1b2c3d4e"
    assert path.read_text("utf-8") == GOLDEN, "reading changes nothing"


@given(steps)
def test_appended_entries_are_read_again(steps: list[tuple[str, Any]]) -> None:
    """The same entries, the same tree, the same context, in this process and in the next."""
    with tempfile.TemporaryDirectory() as folder:
        written = Transcript.open(path_in(folder), sync=False)
        for step in steps:
            take(written, step)
        read = Transcript.open(path_in(folder))
        assert seen(read) == seen(written)
        assert read.skipped == written.skipped == 0
        if len(written):
            assert read.header == written.header
            assert list(read_entries(path_in(folder))) == list(written)
            assert len({each.id for each in written}) == len(written)
            assert read.context(written.leaf) == written.context() or written.leaf is None
        for line in path_in(folder).read_bytes().split(b"\n")[:-1] if len(written) else []:
            json.loads(line.decode("utf-8"))


@given(steps, st.data())
def test_a_cut_loses_at_most_the_torn_line(
    steps: list[tuple[str, Any]], data: st.DataObject
) -> None:
    """Wherever a file ends: whole lines are there, what is appended next is found, and nothing is destroyed."""
    with tempfile.TemporaryDirectory() as folder:
        path = path_in(folder)
        written = Transcript.open(path, sync=False)
        written.append_message(USER)
        for step in steps:
            take(written, step)
        whole = path.read_bytes()
        size = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:size])
        rows = whole[:size].split(b"\n")
        # The last row counts if only its end is missing.
        is_whole_row = bool(rows[-1]) and whole[size : size + 1] == b"\n"
        expected = seen(written)[: max(len(rows) - 2 + is_whole_row, 0)]
        read = Transcript.open(path, sync=False)
        assert seen(read) == expected
        assert read.skipped == (bool(rows[-1]) and not is_whole_row)
        added = read.append_message({"role": "user", "content": "after the crash"})
        assert path.read_bytes().startswith(whole[:size])
        again = Transcript.open(path)
        assert seen(again)[: len(expected)] == expected
        assert [each.id for each in again][len(expected) :] == [added]
        assert seen(again) == seen(read)
        assert again.lineage()[-1].parent_id == (expected[-1][1] if expected else None)
        assert again.skipped == read.skipped


@given(steps, st.data())
def test_a_damaged_line_costs_only_itself(
    steps: list[tuple[str, Any]], data: st.DataObject
) -> None:
    """Entries behind it stay on the path: the one before stands in for the one that is lost."""
    with tempfile.TemporaryDirectory() as folder:
        path = path_in(folder)
        written = Transcript.open(path, sync=False)
        for step in [("message", USER), *steps, ("message", USER)]:
            take(written, step)
        rows = path.read_bytes().split(b"\n")[:-1]
        hit = data.draw(st.integers(0, len(rows) - 1))
        rows[hit] = data.draw(
            st.sampled_from([b"\xff\xfe", b"{", b'"text"', b"[" * 100_000, b"1e"])
        )
        path.write_bytes(b"\n".join([*rows, b""]))
        read = Transcript.open(path)
        assert read.skipped == 1
        left = [each for each in written if each.line != hit + 1]
        assert [(each.id, each.fields) for each in read] == [
            (each.id, each.fields) for each in left
        ]
        if not any(kind == "branch" for kind, _ in steps):
            assert [each.id for each in read.lineage()] == [each.id for each in left]


def test_the_kept_part_is_found_though_its_first_line_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    written = Transcript.open(path, sync=False)
    ids = written.append_messages([{"role": "user", "content": str(n)} for n in range(6)])
    written.append_compaction("summary", ids[2], 10)
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"damaged"
    path.write_bytes(b"\n".join(lines))
    contents = [message.get("content") for message in Transcript.open(path).context().messages]
    assert contents == [None, "3", "4", "5"]


def test_nothing_is_written_before_the_first_entry(tmp_path: Path) -> None:
    path = tmp_path / "new" / "session.jsonl"
    opened = Transcript.open(path)
    session_id = opened.session_id
    assert opened.context().messages == []
    assert not path.parent.exists()
    opened.append_message(USER)
    assert Transcript.open(path).session_id == opened.session_id == session_id
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_torn_header_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"sess')
    opened = Transcript.open(path, session_id="s1")
    assert opened.skipped == 1
    opened.append_message(USER)
    assert path.read_bytes().startswith(b'{"type":"sess\n{"type":"session","version":3,"id":"s1"')
    assert [each.message for each in Transcript.open(path)] == [USER]


def test_two_writers_follow_each_other(tmp_path: Path) -> None:
    """Neither loses what the other said."""
    path = tmp_path / "session.jsonl"
    one, two = Transcript.open(path, sync=False), Transcript.open(path, sync=False)
    for number in range(5):
        one.append_message({"role": "user", "content": f"one {number}"})
        two.append_message({"role": "user", "content": f"two {number}"})
    contents = [message["content"] for message in two.context().messages]
    assert contents == [f"{who} {number}" for number in range(5) for who in ("one", "two")]
    assert one.refresh() == 1
    assert seen(one) == seen(two)
    assert path.read_text().count('"type":"session"') == 1


def test_a_transcript_on_a_branch_stays_there(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    one, two = Transcript.open(path, sync=False), Transcript.open(path, sync=False)
    first = one.append_message({"role": "user", "content": "first"})
    left = one.append_message({"role": "user", "content": "left"})
    one.branch(first)
    two.append_message({"role": "user", "content": "of another"})
    one.append_message({"role": "user", "content": "right"})
    assert [message["content"] for message in one.context().messages] == ["first", "right"]
    assert [message["content"] for message in one.context(left).messages] == ["first", "left"]


def test_a_branch_is_left_with_a_summary(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl", sync=False)
    first = opened.append_message({"role": "user", "content": "first"})
    left = opened.append_message({"role": "user", "content": "left"})
    opened.branch_with_summary(first, "Went left.", details={"readFiles": []})
    messages = opened.context().messages
    assert [message["role"] for message in messages] == ["user", "branchSummary"]
    assert messages[1]["fromId"] == left


def test_ids_of_eight_digits_until_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(entry.new_id([])) == 8
    monkeypatch.setattr(entry, "token_hex", lambda _: "0a1b2c3d")
    assert len(entry.new_id({"0a1b2c3d"})) == 36


def test_an_id_that_comes_twice_makes_no_circle(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    rows = [("a", None, "1"), ("b", "a", "2"), ("a", "b", "3"), ("c", "c", "4")]
    for name, parent, content in rows:
        message = {"role": "user", "content": content}
        row = {"type": "message", "id": name, "parentId": parent, "message": message}
        files.append(path, f"{json.dumps(row)}\n".encode())
    contents = [message["content"] for message in Transcript.open(path).context().messages]
    assert contents == ["1", "2", "3", "4"]


def test_unknown_entry_types_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    opened = Transcript.open(path, sync=False)
    opened.append_message(USER)
    opened.append("context_edit", {"edits": [{"op": "drop"}]})
    opened.append_message(USER)
    read = Transcript.open(path)
    assert [each.type for each in read] == ["message", "context_edit", "message"]
    assert read.context().messages == [USER, USER]


def test_labels_names_models_and_levels_are_appended(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl", sync=False)
    first = opened.append_message(USER)
    assert (opened.name, opened.label_of(first)) == (None, None)
    opened.append_label(first, "start")
    opened.append_session_info("Ports")
    opened.append_model_change("anthropic", "claude-x")
    opened.append_thinking_level_change("high")
    opened.append_custom("state", {"count": 42})
    read = Transcript.open(opened.path)
    assert (read.name, read.label_of(first)) == ("Ports", "start")
    context = read.context()
    assert (context.model, context.thinking_level) == (("anthropic", "claude-x"), "high")
    assert context.messages == [USER]
    read.append_label(first, None)
    assert read.label_of(first) is None
    read.append_message({"role": "assistant", "content": [], "provider": "openai", "model": "m"})
    assert read.context().model == ("openai", "m")


def test_sdk_models_are_written_unchanged(tmp_path: Path) -> None:
    class TextBlock(BaseModel):
        type: str
        text: str
        citations: list[str] | None = None

    block = TextBlock(type="text", text="8443")
    opened = Transcript.open(tmp_path / "session.jsonl", sync=False)
    opened.append_message({"role": "assistant", "content": [block]})
    content = Transcript.open(opened.path).context().messages[0]["content"]
    assert content == [{"type": "text", "text": "8443"}]


@pytest.mark.parametrize("message", ["text", 7, None, ["a"]])
def test_values_that_are_no_message_are_refused(tmp_path: Path, message: object) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl")
    with pytest.raises(MessageFormatError, match="expected a message that is a JSON object, got"):
        opened.append_message(message)
    assert not opened.path.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
def test_values_without_json_are_refused(tmp_path: Path, value: object) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl")
    with pytest.raises(MessageFormatError, match="expected a JSON value"):
        opened.append_messages([USER, {"role": "user", "content": value}])
    assert not opened.path.exists()


def test_unknown_ids_are_refused(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl", sync=False)
    opened.append_message(USER)
    for wrong in (
        lambda: opened.branch("nowhere"),
        lambda: opened.lineage("nowhere"),
        lambda: opened.append_label("nowhere", "x"),
        lambda: opened.append_compaction("s", "nowhere", 1),
    ):
        with pytest.raises(ConfigError, match="'nowhere'; expected the id of an entry"):
            wrong()
    assert len(Transcript.open(opened.path)) == 1


def test_a_newer_version_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(GOLDEN.replace('"version":3', '"version":4'), "utf-8")
    before = path.read_bytes()
    opened = Transcript.open(path)
    assert len(opened.context().messages) == 2
    with pytest.raises(UnsupportedVersionError, match="version 4; expected at most 3"):
        opened.append_message(USER)
    assert path.read_bytes() == before


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    path, other = tmp_path / "session.jsonl", tmp_path / "other.jsonl"
    opened = Transcript.open(path, sync=False)
    opened.append_message({"role": "user", "content": "old"})
    new = Transcript.open(other, sync=False)
    new.append_message({"role": "user", "content": "new"})
    other.replace(path)
    opened.append_message({"role": "user", "content": "later"})
    contents = [message["content"] for message in Transcript.open(path).context().messages]
    assert contents == ["new", "later"]


def test_a_deleted_file_is_begun_again(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl", sync=False)
    opened.append_message({"role": "user", "content": "old"})
    opened.path.unlink()
    opened.append_message({"role": "user", "content": "new"})
    assert opened.path.read_text().startswith('{"type":"session"')
    assert [message["content"] for message in opened.context().messages] == ["new"]


def test_a_link_to_a_transcript_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text('{"role":"user","content":"plain","timestamp":"2026-01-26T10:00:00Z"}\n')
    link.symlink_to(real)
    Transcript.open(link).append_message(USER)
    assert link.is_symlink()
    assert len(Transcript.open(real)) == 2


def test_a_failed_write_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full halfway: the file is as before, the append raises, and later appends work."""
    opened = Transcript.open(tmp_path / "session.jsonl")
    opened.append_message(USER)
    before = opened.path.read_bytes()
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        monkeypatch.setattr("os.write", fail)
        return write(descriptor, bytes(data)[:20])

    def fail(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(StoreError, match=r"nothing was written: .*No space left"):
        opened.append_message({"role": "user", "content": "too much"})
    monkeypatch.setattr("os.write", write)
    assert opened.path.read_bytes() == before
    assert len(opened) == 1
    opened.append_message({"role": "user", "content": "again"})
    assert [each.fields["message"]["content"] for each in Transcript.open(opened.path)] == [
        "hi",
        "again",
    ]


def test_a_failed_sync_is_no_acknowledgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl")
    first = opened.append_message(USER)

    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(files, "_sync_data", fail)
        with pytest.raises(StoreError, match="nothing was written"):
            opened.append_message({"role": "user", "content": "lost"})
    assert opened.leaf == first
    opened.append_message({"role": "user", "content": "again"})
    assert [each.fields["message"]["content"] for each in Transcript.open(opened.path)] == [
        "hi",
        "again",
    ]


def test_a_missing_file_cannot_be_streamed(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        list(read_entries(tmp_path / "nowhere.jsonl"))
    with pytest.raises(StoreError, match="cannot be read"):
        Transcript.open(tmp_path)


def test_a_failed_read_keeps_the_entries_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries read before stay, and the next entry follows the newest."""
    path = tmp_path / "session.jsonl"
    other = Transcript.open(path, sync=False)
    opened = Transcript.open(path, sync=False)
    ids = other.append_messages([{"role": "user", "content": str(number)} for number in range(4)])
    reading = EntryReader._read  # noqa: SLF001 - where the disk fails

    def failing(lines: Iterable[bytes]) -> Iterator[bytes]:
        for number, line in enumerate(lines):
            if number == 3:
                raise OSError(5, "Input/output error")
            yield line

    with monkeypatch.context() as patch:
        patch.setattr(EntryReader, "_read", lambda self, lines: reading(self, failing(lines)))
        with pytest.raises(StoreError, match="cannot be read"):
            opened.refresh()
    assert [each.id for each in opened.lineage()] == ids[:2]
    added = opened.append_message(USER)
    assert [each.id for each in opened.lineage()] == [*ids, added]
    assert [each.id for each in Transcript.open(path).lineage()] == [*ids, added]


def test_threads_share_a_transcript(tmp_path: Path) -> None:
    opened = Transcript.open(tmp_path / "session.jsonl", sync=False)

    def write(number: int) -> str:
        return opened.append_message({"role": "user", "content": str(number)})

    with ThreadPoolExecutor(6) as pool:
        ids = set(pool.map(write, range(60)))
    read = Transcript.open(opened.path)
    assert {each.id for each in read.lineage()} == ids
    assert len(ids) == 60
    assert seen(read) == seen(opened)


@given(st.data())
def test_repeated_lines_count_once(data: st.DataObject) -> None:
    """Repeated lines, after a damaged disk or a bad copy, remove nothing from the path."""
    with tempfile.TemporaryDirectory() as folder:
        path = path_in(folder)
        written = Transcript.open(path, sync=False)
        ids = written.append_messages([{"role": "user", "content": str(n)} for n in range(12)])
        lines = path.read_bytes().split(b"\n")[:-1]
        start, end = sorted(data.draw(st.tuples(st.integers(1, 12), st.integers(1, 13))))
        block = lines[start:end]
        at = data.draw(st.integers(end, 13))
        path.write_bytes(b"\n".join([*lines[:at], *block, *lines[at + len(block) :], b""]))
        lost = set(ids[at - 1 : at - 1 + len(block)])
        read = Transcript.open(path)
        assert [each.id for each in read.lineage()] == [each for each in ids if each not in lost]
        assert read.skipped == len(block)

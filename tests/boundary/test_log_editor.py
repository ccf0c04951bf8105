"""`LogEditor`: lines are taken out of a log under the store's lock, and only those."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctx._core import Importer, LogEditor
from memctx.errors import StoreLockedError, UnsupportedVersionError
from memctx.lowlevel import LogReader

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="logs are not replaced on Windows")


def stored(path: Path) -> list[tuple[str, float]]:
    return [(each.session_id, each.timestamp) for each in LogReader(path).scan()]


@settings(max_examples=30)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=20),
    sessions=st.sets(st.sampled_from("abcd")),
    before=st.none() | st.integers(0, 10),
    is_torn=st.booleans(),
)
def test_removal_takes_matching_segments_only(
    rows: list[tuple[str, int]],
    sessions: set[str],
    before: int | None,
    is_torn: bool,  # noqa: FBT001
) -> None:
    def goes(session: str, at: float) -> bool:
        if not sessions and before is None:
            return False
        return (not sessions or session in sessions) and (before is None or at < before)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        said = [
            (session, "user", f"Remark number {number} is settled", float(at), None)
            for number, (session, at) in enumerate(rows)
        ]
        Importer(path).add(said)
        log = path / "segments.jsonl"
        if is_torn:  # a last line without its end is a line, too
            log.write_bytes(log.read_bytes()[:-1])
        lines = log.read_bytes().splitlines(keepends=True)
        kept = [line for line, row in zip(lines, rows, strict=True) if not goes(*row)]
        editor = LogEditor(path)
        planned = editor.find(sessions=sessions, before=before)
        assert log.read_bytes() == b"".join(lines)
        removed = editor.remove(sessions=sessions, before=before)
        assert (planned.segments, planned.bytes) == (removed.segments, removed.bytes)
        assert removed.segments == len(rows) - len(kept)
        assert removed.bytes == sum(map(len, lines)) - sum(map(len, kept))
        assert log.read_bytes() == b"".join(kept)


def test_problems_name_the_line_and_repair_moves_it(tmp_path: Path) -> None:
    records = [("s", "user", f"Remark number {at} is settled", None, None) for at in range(3)]
    Importer(tmp_path).add(records)
    log = tmp_path / "segments.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"settled", b"sXttled")
    log.write_bytes(b"".join(lines) + b"\n\r\n")
    editor = LogEditor(tmp_path)
    verified = editor.verify()
    fault = "the checksum does not hold"
    assert verified.problems == [("segments.jsonl", 2, len(lines[0]), fault)]
    assert (verified.segments, verified.facts, verified.vectors) == (2, 0, 0)
    editor.repair()
    assert editor.verify().problems == []
    assert (tmp_path / "segments.jsonl.damaged").read_bytes() == lines[1]
    assert log.read_bytes() == lines[0] + lines[2] + b"\n\r\n"
    assert log.stat().st_mode & 0o777 == 0o600


def test_an_editor_waits_for_a_writer_with_a_limit(tmp_path: Path) -> None:
    Importer(tmp_path).add([("s", "user", "The queue is NATS since Monday", None, None)])
    editor = LogEditor(tmp_path, lock_timeout=0.05)
    editor.wait_for_writers()
    with (tmp_path / "LOCK").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for call in (editor.wait_for_writers, editor.repair, lambda: editor.remove(sessions=["s"])):
            with pytest.raises(StoreLockedError, match="another process has held the lock"):
                call()
    assert len(stored(tmp_path)) == 1


def test_a_store_of_a_newer_version_is_read_and_not_rewritten(tmp_path: Path) -> None:
    Importer(tmp_path).add([("s", "user", "The queue is NATS since Monday", None, None)])
    (tmp_path / "LOCK").write_text('{"format":2,"min_reader":1,"min_writer":2}\n')
    editor = LogEditor(tmp_path)
    assert editor.verify().segments == 1
    with pytest.raises(UnsupportedVersionError, match="version 2 of the format"):
        editor.remove(sessions=["s"])
    assert len(stored(tmp_path)) == 1

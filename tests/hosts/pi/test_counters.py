"""Counters of a session, safe against crashes and other processes."""

from __future__ import annotations

import json
import logging
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.errors import StoreError
from memctx.hosts.pi import CounterFile, Counters


def test_a_compaction_resets_input_and_output_tokens() -> None:
    """As the hosts do: the parts are no longer known."""
    used = Counters().after_call(100, 20).after_call(130, 30)
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (230, 50, 160)
    compacted = used.after_compaction(tokens_after=40)
    assert (compacted.compaction_count, compacted.total_tokens) == (1, 40)
    assert (compacted.input_tokens, compacted.output_tokens) == (None, None)
    assert used.after_compaction().total_tokens == 160
    assert used.after_compaction(0).total_tokens == 160


def test_notes_record_their_compaction_count() -> None:
    counters = Counters(compaction_count=3).after_notes(at=1770000000000)
    assert (counters.notes_written_count, counters.notes_written_at) == (3, 1770000000000)


def test_compactions_uncounted_after_a_crash_are_counted() -> None:
    assert Counters(compaction_count=2).at_least(3).compaction_count == 3
    assert Counters(compaction_count=4).at_least(3).compaction_count == 4


@given(
    st.builds(
        Counters,
        **{
            name: st.integers(0, 2**53)
            if name == "compaction_count"
            else st.none() | st.integers(0, 2**53)
            for name in Counters.__dataclass_fields__
        },
    )
)
def test_saved_counters_are_loaded(counters: Counters) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = CounterFile(Path(folder) / "a.counters.json", session_id="s1")
        assert file.update(lambda _: counters) == counters
        assert CounterFile(file.path, session_id="s1").load() == counters


def test_the_file_uses_host_field_names_and_keeps_unknown_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.counters.json"
    path.write_text('{"sessionId":"s1","compactionCount":2,"model":"m"}')
    CounterFile(path, session_id="s1").update(lambda counters: counters.after_compaction(7))
    assert json.loads(path.read_text()) == {
        "sessionId": "s1",
        "compactionCount": 3,
        "model": "m",
        "totalTokens": 7,
    }


def test_counters_of_another_session_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.counters.json"
    path.write_text('{"sessionId":"S1","compactionCount":2}')
    assert CounterFile(path, session_id="s1").load() == Counters()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"compactionCount":"2"}', b"null"])
def test_a_damaged_file_resets_the_counters(
    data: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.counters.json"
    path.write_bytes(data)
    file = CounterFile(path, session_id="s1")
    with caplog.at_level(logging.WARNING):
        assert file.load() == Counters()
    assert file.update(Counters.after_compaction).compaction_count == 1
    assert file.load().compaction_count == 1


def test_no_count_of_many_writers_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.counters.json"

    def count(_: int) -> None:
        CounterFile(path, session_id="s1").update(Counters.after_compaction)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(40)))
    assert CounterFile(path, session_id="s1").load().compaction_count == 40
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_failed_replacement_keeps_the_old_counters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = CounterFile(tmp_path / "a.counters.json", session_id="s1")
    file.update(Counters.after_compaction)

    def fail(_descriptor: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(StoreError, match="not replaced"):
        file.update(Counters.after_compaction)
    assert file.load().compaction_count == 1
    assert [each.name for each in tmp_path.iterdir()] == ["a.counters.json"]

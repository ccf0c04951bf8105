"""What is counted of a session, and that no crash and no other process spoils it."""

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
from memctx.session import CounterFile, Counters


def test_a_compaction_leaves_only_the_total() -> None:
    """As the hosts do: the parts are no longer known."""
    used = Counters().used(100, 20).used(130, 30)
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (230, 50, 160)
    compacted = used.compacted(tokens_after=40)
    assert (compacted.compaction_count, compacted.total_tokens) == (1, 40)
    assert (compacted.input_tokens, compacted.output_tokens) == (None, None)
    assert used.compacted().total_tokens == 160
    assert used.compacted(0).total_tokens == 160


def test_a_flush_remembers_its_cycle() -> None:
    flushed = Counters(compaction_count=3).flushed(at=1770000000000)
    assert (flushed.memory_flush_compaction_count, flushed.memory_flush_at) == (3, 1770000000000)


def test_compactions_that_a_crash_kept_from_being_counted() -> None:
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
def test_what_was_saved_is_loaded(counters: Counters) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = CounterFile(Path(folder) / "a.counters.json", session_id="s1")
        assert file.update(lambda _: counters) == counters
        assert CounterFile(file.path, session_id="s1").load() == counters


def test_the_names_are_those_of_the_hosts_and_theirs_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.counters.json"
    path.write_text('{"sessionId":"s1","compactionCount":2,"model":"m"}')
    CounterFile(path, session_id="s1").update(lambda counters: counters.compacted(7))
    assert json.loads(path.read_text()) == {
        "sessionId": "s1",
        "compactionCount": 3,
        "model": "m",
        "totalTokens": 7,
    }


def test_another_session_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.counters.json"
    path.write_text('{"sessionId":"S1","compactionCount":2}')
    assert CounterFile(path, session_id="s1").load() == Counters()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"compactionCount":"2"}', b"null"])
def test_damage_starts_anew(data: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.counters.json"
    path.write_bytes(data)
    file = CounterFile(path, session_id="s1")
    with caplog.at_level(logging.WARNING):
        assert file.load() == Counters()
    assert file.update(Counters.compacted).compaction_count == 1
    assert file.load().compaction_count == 1


def test_no_count_of_many_writers_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.counters.json"

    def count(_: int) -> None:
        CounterFile(path, session_id="s1").update(Counters.compacted)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(40)))
    assert CounterFile(path, session_id="s1").load().compaction_count == 40
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_replacement_that_fails_leaves_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = CounterFile(tmp_path / "a.counters.json", session_id="s1")
    file.update(Counters.compacted)

    def fail(_descriptor: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(StoreError, match="not replaced"):
        file.update(Counters.compacted)
    assert file.load().compaction_count == 1
    assert [each.name for each in tmp_path.iterdir()] == ["a.counters.json"]

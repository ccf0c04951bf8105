"""`Importer`: messages of many sessions, each appended once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctx import ConfigError
from memctx._core import Importer, StoreOptions
from memctx.errors import StoreError
from memctx.lowlevel import LogReader, Store

RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["s1", "s2", "会话"]),
        st.sampled_from(["user", "tool"]),
        st.sampled_from([f"remark number {at}, long enough to count" for at in range(6)]),
    )
)


def contents(path: Path) -> list[tuple[str, str, str]]:
    return [(each.session_id, each.role, each.content) for each in LogReader(path).scan()]


@settings(max_examples=20)
@given(batches=st.lists(RECORDS, max_size=4), writes=st.sets(st.integers(0, 3)))
def test_every_record_is_appended_once_by_several_writers(
    batches: list[list[tuple[str, str, str]]], writes: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        importer = Importer(path)
        seen = set[tuple[str, str, str]]()
        for at, batch in enumerate(batches):
            if at in writes:  # another writer comes between
                other = Store(path, StoreOptions(session_id="s1", durability="os"))
                other.add([(role, content, None, None) for _, role, content in batch])
                other.close()
                seen |= {("s1", role, content) for _, role, content in batch}
            outcomes = importer.add((*record, None, None) for record in batch)
            for record, outcome in zip(batch, outcomes, strict=True):
                assert outcome == ("duplicate" if record in seen else "added")
                seen.add(record)
            log = path / "segments.jsonl"
            assert importer.end == (log.stat().st_size if log.exists() else 0)
        assert len(contents(path)) == len(seen)
        assert set(contents(path)) == seen


def test_secrets_are_masked_and_noise_is_dropped(tmp_path: Path) -> None:
    importer = Importer(tmp_path / "store", patterns={"ticket": r"T-\d+"})
    said = ("s1", "user", "The ticket T-4711 is about the webhook", 1.0, '{"kind":"history"}')
    assert importer.add([said, ("s1", "assistant", "NO_REPLY", None, None)]) == ["added", "noise"]
    (segment,) = LogReader(tmp_path / "store").scan()
    assert "4711" not in segment.content
    assert (segment.timestamp, segment.metadata["kind"]) == (1.0, "history")


def test_an_unfinished_last_line_counts_before_anything_is_added(tmp_path: Path) -> None:
    record = ("s1", "user", "The webhook listens on port 8443", None, None)
    other = ("s1", "user", "The queue is NATS since Monday", None, None)
    assert Importer(tmp_path).add([record]) == ["added"]
    log = tmp_path / "segments.jsonl"
    log.write_bytes(log.read_bytes()[:-1])
    assert Importer(tmp_path).add([record, other]) == ["duplicate", "added"]
    assert len(contents(tmp_path)) == 2


def test_a_log_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    record = ("s1", "user", "The webhook listens on port 8443", None, None)
    importer = Importer(tmp_path)
    assert importer.add([record, record]) == ["added", "duplicate"]
    (tmp_path / "segments.jsonl").unlink()
    assert importer.add([record]) == ["added"]
    assert importer.add([record]) == ["duplicate"]


def test_arguments_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lock_timeout must be 0 or more seconds"):
        Importer(tmp_path, lock_timeout=-1.0)
    with pytest.raises(ConfigError, match="session_id must be valid Unicode"):
        Importer(tmp_path).add([("\ud800", "user", "The webhook listens", None, None)])
    tmp_path.chmod(0o777)
    with pytest.raises(StoreError, match="chmod 700"):
        Importer(tmp_path)

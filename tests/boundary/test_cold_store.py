"""Reading the archive on from a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memctx import ColdStore, ConfigError, WarmStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = WarmStore(tmp_path, session_id="s1", durability="os")
    store.add([("user", f"remark number {number}", None, None) for number in range(5)])
    store.add([("assistant", "an answer to all of them", None, None)])
    store.close()
    return tmp_path


@pytest.fixture
def cold(folder: Path) -> ColdStore:
    return ColdStore(folder)


def test_pages_follow_each_other(cold: ColdStore, folder: Path) -> None:
    found, offset = [], 0
    while True:
        page, offset = cold.read_from(offset, session_id="s1", limit=2)
        if not page:
            break
        found += [segment.content for segment in page]
    assert found == [segment.content for segment in cold.scan()]
    assert offset == (folder / "segments.jsonl").stat().st_size
    assert cold.read_from(0, roles=["assistant"])[0][0].role == "assistant"
    assert cold.read_from(0, session_id="s2") == ([], offset)


def test_what_is_no_place_is_refused(cold: ColdStore) -> None:
    with pytest.raises(ConfigError, match="offset must be 0 or more, not -1"):
        cold.read_from(-1)
    with pytest.raises(ConfigError, match="limit must be 0 or more, not -1"):
        cold.read_from(0, limit=-1)
    with pytest.raises(TypeError, match="put it in a list"):
        cold.read_from(0, roles="user")
    assert cold.read_from(2**60) == ([], 2**60)

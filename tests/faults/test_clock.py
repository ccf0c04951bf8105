"""Wrong clocks: time affects scores, never what is kept or in which order."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from .stores import opened

if TYPE_CHECKING:
    from pathlib import Path

YEAR = 365 * 86_400_000.0
JUMPS = (0.0, 10 * YEAR, -10 * YEAR, 0.0, 10 * YEAR)


def test_a_clock_that_jumps_ten_years_evicts_nothing_new(tmp_path: Path) -> None:
    """File order counts; ages are never negative; old records leave memory and stay on disk."""
    now = time.time() * 1000
    said = [f"deploy remark {number}" for number in range(len(JUMPS))]
    store = opened(tmp_path)
    store.add([("user", text, now + jump, None) for text, jump in zip(said, JUMPS, strict=True)])
    hits = store.search("deploy remark", limit=10, explain=True)
    assert len(hits) == len(said)
    assert all(math.isfinite(hit.score) and 0 <= hit.score <= 1 for hit in hits)
    first = next(segment for segment in store.segments())
    around = [segment.content for segment in store.neighbors(first.id, 9)]
    assert around == said[1:]
    store.close()
    reopened = opened(tmp_path, disk_index=False)  # what left memory may be found on disk
    assert [segment.content for segment in reopened.segments()] == said
    assert {hit.segment.content for hit in reopened.search("deploy remark")} == {*said} - {said[2]}


def test_a_clock_that_is_behind_evicts_nothing(tmp_path: Path) -> None:
    """All records are from the future."""
    future = time.time() * 1000 + 10 * YEAR
    store = opened(tmp_path, eviction_days=1)
    store.add(
        [("user", f"deploy remark {day}", future + day * 86_400_000, None) for day in range(9)]
    )
    store.close()
    assert len(opened(tmp_path, eviction_days=1)) == 9


def test_a_clock_that_is_ahead_evicts_nothing(tmp_path: Path) -> None:
    """All records are ten years old: age counts from the newest."""
    past = time.time() * 1000 - 10 * YEAR
    store = opened(tmp_path, eviction_days=1)
    store.add(
        [("user", f"deploy remark {hour}", past + hour * 3_600_000, None) for hour in range(9)]
    )
    store.close()
    reopened = opened(tmp_path, eviction_days=1)
    assert len(reopened) == 9
    assert all(math.isfinite(hit.score) for hit in reopened.search("deploy remark"))


def test_times_at_the_edge_of_numbers_are_stored_as_they_are(tmp_path: Path) -> None:
    moments = [0.0, -1.0, 0.5, 8.64e15, -8.64e15, 2.0**53, 1e300, -1e300]
    store = opened(tmp_path, eviction_days=0)
    store.add([("user", f"remark at {moment}", moment, None) for moment in moments])
    assert [segment.timestamp for segment in store.segments()] == moments
    assert all(math.isfinite(hit.score) for hit in store.search("remark", limit=20))
    assert len(opened(tmp_path, eviction_days=0)) == len(moments)

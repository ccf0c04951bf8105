"""memctx with its disk index, from raw text: it tokenizes, embeds, masks secrets and writes the log itself.

A store writes to one session, so it is reopened for each; that time is reported separately, since no peer needs it.
"""

from __future__ import annotations

import os
from itertools import groupby
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import memctx
from cold.engine import TOP, Footprint, size_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cold.material import Batch
    from cold.question import Question

NAME = "memctx"
PACKAGES = ("memctx",)
IS_GIVEN_TOKENS = False

_WARM = int(os.environ.get("MEMCTX_BENCH_WARM", "20000"))
"""Number of segments held in memory, too: with all of the smallest size, that one shows nothing of the disk."""
_SETTINGS: dict[str, Any] = {"cross_session": True, "durability": "os", "max_segments": _WARM}
_IDS = "ids"
"""Beside the store: the id of every message, one for each line."""


def _opened(folder: Path, session: str, *, disk_index: bool) -> memctx.lowlevel.Store:
    return memctx.lowlevel.Store(
        folder / "memory",
        memctx.lowlevel.StoreOptions(session_id=session, disk_index=disk_index, **_SETTINGS),
    )


class Builder:
    """Adds to the log and to memory; at the end everything evicted is indexed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._store: memctx.lowlevel.Store | None = None
        self._ids = (folder / _IDS).open("w", encoding="ascii")
        self.aside = (0.0, 0.0)
        """Seconds, by the clock and of the processor, that opening and closing took."""
        self.remark = ""

    def add(
        self, batch: Batch, tokens: list[list[str]], vectors: NDArray[np.float32] | None
    ) -> None:
        del tokens, vectors
        times = map(float, batch.times)
        rows = zip(batch.sessions, batch.roles, batch.texts, times, strict=True)
        for session, group in groupby(rows, key=lambda row: row[0]):
            store = self._of(session)
            added = store.add([(role, text, at, None) for _, role, text, at in group])
            self._ids.writelines(f"{each.id}\n" for each in added if each.outcome == "added")
            len(store)  # waits for the thread that indexes

    def finish(self) -> None:
        self._ids.close()
        self._close()
        store = _opened(self._folder, "race", disk_index=True)
        status = store.catch_up()
        assert status is not None
        assert status.indexed_bytes == status.log_bytes, status.fault
        self.remark = f"{status.segments:,} segments, {status.passages:,} passages"
        store.close()

    def _of(self, session: str) -> memctx.lowlevel.Store:
        if self._store is None or self._store.session_id != session:
            wall, cpu = perf_counter(), process_time()
            self._close()
            self._store = _opened(self._folder, session, disk_index=False)
            len(self._store)
            was_wall, was_cpu = self.aside
            self.aside = (was_wall + perf_counter() - wall, was_cpu + process_time() - cpu)
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


class Searcher:
    """Search over memory and disk."""

    def __init__(self, folder: Path) -> None:
        self._store = _opened(folder, "race", disk_index=True)

    def search(self, question: Question) -> list[tuple[str, str]]:
        hits = self._store.search(question.text, limit=TOP, everything=True)
        return [(hit.segment.id, hit.segment.content) for hit in hits]

    def nearest(self, question: Question) -> list[str]:
        return [hit.id for hit in self._store.nearest(question.vector, TOP)]


def footprint(folder: Path, _: int) -> Footprint:
    memory = folder / "memory"
    vectors = (memory / "vectors.bin").stat().st_size
    index = size_of(memory / "index")
    return Footprint(size_of(memory) - vectors - index, vectors, index)


def numbers(folder: Path, ids: list[list[str]]) -> list[list[int]]:
    wanted = {each for row in ids for each in row}
    with (folder / _IDS).open(encoding="ascii") as lines:
        found = {name: at for at, line in enumerate(lines) if (name := line.rstrip()) in wanted}
    return [[found.get(each, -1) for each in row] for row in ids]

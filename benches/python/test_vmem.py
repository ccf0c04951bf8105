"""Reading vectors from disk against reading bare bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from benchmark import Entry
from corpus import SEED

from memctx.lowlevel import vmem

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark import Benchmark
    from corpus import Corpus
    from numpy.typing import NDArray

DIM = 384
HEADER = 16
ENTRY = np.dtype([("length", "<u2"), ("id", "S36"), ("vector", "<f4", DIM)])


def read_with_numpy(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Read with numpy, possible because every id here has 36 bytes."""
    entries = np.fromfile(path, dtype=ENTRY, offset=HEADER)
    return [name.decode() for name in entries["id"]], np.ascontiguousarray(entries["vector"])


def test_read(benchmark: Benchmark, corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    rng = np.random.default_rng(SEED)
    matrix = rng.standard_normal((len(corpus.ids), DIM), dtype=np.float32)
    vmem.write(path, corpus.ids, matrix)
    ids, found = read_with_numpy(path)
    assert ids == corpus.ids == vmem.read(path)[0]
    assert np.array_equal(found, vmem.read(path)[1])
    benchmark(
        f"reading {len(ids)} x {DIM} vectors",
        Entry(lambda: vmem.read(path)),
        {
            "reading the bytes": Entry(path.read_bytes, limit=2.0),
            "numpy.fromfile, fixed ids": Entry(lambda: read_with_numpy(path)),
        },
    )

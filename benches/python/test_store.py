"""The store against hand-built combinations of engines, and against plain file access."""

from __future__ import annotations

import gc
import json
import math
import os
import shutil
from functools import partial
from statistics import mean, median
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING, Any

import corpus as corpora
import pytest
import report
import stores
from benchmark import Figure, Row
from peers import hybrid

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchmark import Benchmark
    from corpus import Corpus
    from numpy.typing import NDArray

ROUNDS = 7
STARTS = 5
DIM = 384
BATCH = 16
PAUSE = 0.002  # seconds
VECTOR_BYTES = 4 * DIM
LARGEST = int(os.environ.get("MEMCTX_BENCH_GROWTH", corpora.SIZE))
SIZES = [size for size in (2_000, 20_000, 200_000) if size <= max(LARGEST, corpora.SIZE)]


@pytest.fixture(scope="module")
def filled(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a read-only store of the whole corpus with its snapshot."""
    path = tmp_path_factory.mktemp("store") / "memory"
    stores.fill(path, corpus.texts)
    return path


@pytest.fixture
def own(filled: Path, tmp_path: Path) -> Path:
    """Return a copy of the store to change."""
    return shutil.copytree(filled, tmp_path / "memory")


@pytest.fixture(scope="module")
def rivals(benchmark: Benchmark, corpus: Corpus) -> dict[str, list[tuple[Any, Any, hybrid.Index]]]:
    """Return each pair of a text and a vector engine, with its prepared queries."""
    embedder = memctx.lowlevel.HashEmbedder(DIM)
    matrix: NDArray[Any] = embedder.embed_many(corpus.texts)
    vectors = list(embedder.embed_many(corpus.short))
    tokens = corpora.tokenize_all(corpus.texts)
    inputs = {"bm25s_peer": tokens, "tantivy_peer": [" ".join(document) for document in tokens]}
    words = [memctx.tokenize(text) for text in corpus.short]
    texts = {
        module.NAME: module.Index(given)
        for name, given in inputs.items()
        if (module := benchmark.peer(name))
    }
    flats = {
        module.NAME: module.Index(matrix)
        for name in ("numpy_flat", "faiss_flat")
        if (module := benchmark.peer(name))
    }
    return {
        f"{text_name} + {flat_name}": [
            (text.query(query), vector, hybrid.Index(text, flat, matrix))
            for query, vector in zip(words, vectors, strict=True)
        ]
        for text_name, text in texts.items()
        for flat_name, flat in flats.items()
    }


def exactly(value: float) -> Figure:
    """Return a figure of one value."""
    return Figure(value, value, value)


def each_timed(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Return the processor seconds of every call."""
    times = []
    gc.disable()
    for call in calls:
        start = process_time()
        call()
        times.append(process_time() - start)
    gc.enable()
    return sorted(times)


def test_search(
    benchmark: Benchmark,
    corpus: Corpus,
    filled: Path,
    rivals: dict[str, list[tuple[Any, Any, hybrid.Index]]],
) -> None:
    """By words and vectors; each round is all queries of one side, then of the next. Answers are compared first.

    Ours differ by what is left out because it resembles a better one: that is near the peers' best, too.
    """
    store = stores.open_store(filled)
    number_of = {text: number for number, text in enumerate(corpus.texts)}
    ours = [
        {number_of.get(hit.segment.content, -1) for hit in store.search(query, limit=10)}
        for query in corpus.short
    ]
    sides: dict[str, list[Callable[[], object]]] = {}
    sides["ours"] = [partial(store.search, query, limit=10) for query in corpus.short]
    for name, prepared in rivals.items():
        theirs = [index.search(query, vector, 20).tolist() for query, vector, index in prepared]
        shared, near = (
            mean(len(a.intersection(b[:k])) / 10 for a, b in zip(ours, theirs, strict=True))
            for k in (10, 20)
        )
        words = f"{shared:.1%} of our top 10 are in the top 10 of {name}, {near:.1%} in its top 20"
        benchmark.ledger.notes.append(f"hybrid search: {words}")
        assert shared > 0.8, words
        assert near > 0.97, words
        sides[name] = [partial(index.search, query, vector) for query, vector, index in prepared]
    middle: dict[str, list[float]] = {name: [] for name in sides}
    tail: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS + 1):
        for name, calls in sides.items():
            times = each_timed(calls)
            middle[name].append(median(times))
            tail[name].append(times[len(times) * 99 // 100])
    p50 = {name: Figure.of(times[1:]) for name, times in middle.items()}
    p99 = {name: Figure.of(times[1:]) for name, times in tail.items()}
    mine, worst = p50.pop("ours"), p99.pop("ours")
    benchmark.ledger.notes += [
        f"hybrid search, p99 of {name}: {report.spread(figure)}" for name, figure in p99.items()
    ]
    path = "hybrid top-10, short query"
    benchmark.enter(
        *(Row(f"{path}, p50", mine, name, theirs, 0.35) for name, theirs in p50.items()),
        Row(f"{path}, p99", worst, "its own p50", mine, 3.0),
    )


def starts(task: Callable[[], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Run the task repeatedly, after one start to warm up the page cache."""
    task()
    while True:
        yield task()


def test_start(benchmark: Benchmark, corpus: Corpus, filled: Path, tmp_path: Path) -> None:
    """Opening and one answer, in a fresh process each time, against reading the same bytes in one."""
    bare, barest = (shutil.copytree(filled, tmp_path / name) for name in ("bare", "barest"))
    log, vectors = filled / "segments.jsonl", filled / "vectors.bin"
    snapshots = sorted((filled / "index").glob("*.snapshot"))
    assert snapshots

    def opened(path: Path, *without: str) -> dict[str, Any]:
        for name in without:
            shutil.rmtree(path / name, ignore_errors=True)
            (path / name).unlink(missing_ok=True)
        found = stores.start(open=path, queries=corpus.short[:1], settings=stores.SETTINGS)
        assert (found["hits"], found["segments"]) == (10, len(corpus.texts))
        return found

    all_files = "reading all its files"
    contestants = {
        "ours": lambda: opened(filled),
        all_files: lambda: stores.start(read=[str(file) for file in (log, vectors, *snapshots)]),
        "reading log and vectors": lambda: stores.start(read=[str(log), str(vectors)]),
        "reading log and snapshot": lambda: stores.start(read=[str(log), *map(str, snapshots)]),
        "itself without a snapshot": lambda: opened(bare, "index"),
        "itself without snapshot and vectors": lambda: opened(
            barest, "index", "vectors.bin", "vectors.json"
        ),
    }
    turns = {name: starts(task) for name, task in contestants.items()}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in turns}
    for _ in range(STARTS):
        for name, turn in turns.items():
            found[name].append(next(turn))
    limits = {all_files: 3.0, "itself without a snapshot": 0.1}
    figures = {name: Figure.of([it["cpu"] for it in times]) for name, times in found.items()}
    walls = {name: median(it["wall"] for it in times) for name, times in found.items()}
    sizes = {file.name: file.stat().st_size / 1e6 for file in (log, vectors, *snapshots)}
    benchmark.ledger.notes += [
        "files in MB: " + ", ".join(f"{name} {size:.1f}" for name, size in sizes.items()),
        "wall ms: " + ", ".join(f"{name} {wall * 1e3:.1f}" for name, wall in walls.items()),
    ]
    mine = figures.pop("ours")
    benchmark.enter(
        *(
            Row("open and first search", mine, name, theirs, limits.get(name))
            for name, theirs in figures.items()
        )
    )


def test_add(benchmark: Benchmark, corpus: Corpus, own: Path, tmp_path: Path) -> None:
    """One record of a kilobyte, until it is indexed: the time of the process without that of a bare write of it."""
    store = stores.open_store(own)
    assert len(store) == len(corpus.texts)
    log, copy = own / "segments.jsonl", tmp_path / "copy"
    whole, write = [], []
    with log.open("rb") as lines, copy.open("ab", buffering=0) as bare:
        lines.seek(0, os.SEEK_END)
        for text in stores.kilobytes(text for _, text in corpus.later):
            batch = [stores.record(text)]
            start = process_time()
            store.add(batch)
            len(store)  # waits for the thread that indexes
            whole.append(process_time() - start)
            line = lines.read()
            start = process_time()
            bare.write(line)
            write.append(process_time() - start)
    assert len(store) == len(corpus.texts) + len(whole)
    for name, times in (("whole", whole), ("bare write", write)):
        benchmark.ledger.notes.append(f"add of 1 kB, {name}: {report.spread(Figure.of(times))}")
    in_memory = [a - b for a, b in zip(whole, write, strict=True)]
    benchmark.against_time("add of 1 kB, without the write", in_memory, 100e-6)


def test_durable_batch(
    benchmark: Benchmark, corpus: Corpus, filled: Path, own: Path, tmp_path: Path
) -> None:
    """Wall time that the disk adds to a batch, against one bare `fdatasync` after the same bytes.

    What an add does in memory has a limit of its own in `test_add`, so it is taken out here by a second store that is
    given the same batch and leaves syncing to the system; they take turns at being first. The whole is entered, too,
    without a limit. A disk that others keep busy slows everything down and hides what we add, so the quickest are held
    to the limit as well. Nothing is indexed while anything is timed; a pause before each makes syncs comparable.
    """
    quick = shutil.copytree(filled, tmp_path / "quick")
    logs = {"os": quick / "segments.jsonl", "fsync": own / "segments.jsonl"}
    opened = {kind: stores.open_store(log.parent, kind) for kind, log in logs.items()}
    assert {len(store) for store in opened.values()} == {len(corpus.texts)}
    texts = stores.kilobytes(text for _, text in corpus.later)
    ours: dict[str, list[float]] = {kind: [] for kind in opened}
    write, sync = [], []
    os.sync()  # the copies of the store are out of the way
    with logs["fsync"].open("rb") as lines, (tmp_path / "copy").open("ab", buffering=0) as file:
        lines.seek(0, os.SEEK_END)
        for at in range(0, len(texts) - BATCH + 1, BATCH):
            order = list(opened.items())
            for kind, store in order if at // BATCH % 2 else reversed(order):
                batch = [stores.record(text) for text in texts[at : at + BATCH]]
                sleep(PAUSE)
                start = perf_counter()
                store.add(batch)
                ours[kind].append(perf_counter() - start)
                len(store)  # waits for the thread that indexes
            added = lines.read()
            sleep(PAUSE)
            start = perf_counter()
            file.write(added)
            written = perf_counter()
            os.fdatasync(file.fileno())
            sync.append(perf_counter() - written)
            write.append(written - start)
    path = f"durable add of {BATCH} x 1 kB"
    extra = [durable - plain for durable, plain in zip(ours["fsync"], ours["os"], strict=True)]
    least = exactly(min(ours["fsync"]) - min(ours["os"]))
    bare = [a + b for a, b in zip(write, sync, strict=True)]
    benchmark.ledger.notes.append(
        f"{path} without the disk: {report.spread(Figure.of(ours['os']))}"
    )
    disk, quickest = Figure.of(sync), exactly(min(sync))
    whole, by_hand = Figure.of(ours["fsync"]), Figure.of(bare)
    benchmark.enter(
        Row(f"{path}, what the disk adds, wall", Figure.of(extra), "fdatasync", disk, 1.3),
        Row(f"{path}, what the disk adds, quickest", least, "fdatasync", quickest, 1.3),
        Row(f"{path}, whole, wall", whole, "write and fdatasync", by_hand, None),
    )


def test_memory(benchmark: Benchmark, corpus: Corpus, filled: Path) -> None:
    """Measure the memory that opening and one search add to a process, for each segment."""
    count = len(corpus.texts)
    found = [
        stores.start(open=filled, queries=corpus.short[:1], settings=stores.SETTINGS)["resident"]
        for _ in range(3)
    ]
    least = mean(len(text.encode()) for text in corpus.texts) + VECTOR_BYTES
    ours = Figure.of([resident / count for resident in found])
    peer = "its text and vector"
    benchmark.enter(Row("resident memory of a segment", ours, peer, exactly(least), 3.0, unit="B"))


def test_growth(benchmark: Benchmark, corpus: Corpus, tmp_path: Path) -> None:
    """The same figures of stores that grow tenfold; an exponent of 1 is growth in proportion."""
    source = tmp_path / "corpus.jsonl"
    corpora.generate(source, SIZES[-1] + corpora.LATER)
    columns = {"open": "cpu", "search p50": "search", "search p99": "search_p99", "add": "add"}
    rows = []
    for size in SIZES:
        path = tmp_path / "memory"
        stores.fill(path, texts_of(source, size))
        task = {"open": path, "queries": corpus.short, "settings": stores.SETTINGS, "rounds": 3}
        more = stores.kilobytes(text for _, text in corpus.later)[:300]
        found = [stores.start(**task), stores.start(**task), stores.start(**task, records=more)]
        assert found[0]["segments"] == size
        best = {name: min(it[key] for it in found if key in it) for name, key in columns.items()}
        rows.append(best | {"resident": found[0]["resident"] / size})
        shutil.rmtree(path)
    span = math.log(SIZES[-1] / SIZES[0]) if len(SIZES) > 1 else math.nan
    lines = ["| segments | " + " | ".join(map(str, SIZES)) + " | exponent |"]
    lines.append("| --- " * (len(SIZES) + 2) + "|")
    for name in (*columns, "resident"):
        values = [row[name] for row in rows]
        unit = "B" if name == "resident" else "s"
        cells = [report.spread(exactly(value), unit) for value in values]
        exponent = math.log(values[-1] / values[0]) / span
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {exponent:.2f} |")
    benchmark.ledger.notes.append("\n".join(lines))


def texts_of(source: Path, count: int) -> Iterator[str]:
    """Return the texts of the first segments of a generated corpus."""
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["kind"] == "segment" and count > 0:
                count -= 1
                yield entry["text"]

"""Several threads at once, and what they leave of the interpreter to each other."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pytest

from memctx import tokenize
from memctx.lowlevel import Bm25Index, FlatIndex, HashEmbedder, Hit, fusion, ingest, vmem

from . import reference

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

T = TypeVar("T")

THREADS = 4
ROUNDS = 300


def together(work: Callable[[int], T]) -> list[T]:
    """Call `work` with the number of each thread, all at the same moment; what one of them raises is raised."""
    start = threading.Barrier(THREADS)

    def run(thread: int) -> T:
        start.wait()
        return work(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def text(number: int) -> str:
    return f"common word{number % 7} payHook_{number % 3} 飞书{number % 5}"


def vector(number: int) -> list[float]:
    return [1.0, number % 7 - 3.0, number % 3, (number % 5) ** 2]


def assert_ranking(hits: list[Hit], most: int) -> None:
    """Assert at most so many hits, none of them twice, best first."""
    assert len({hit.id for hit in hits}) == len(hits) <= most
    assert all(a.score >= b.score for a, b in itertools.pairwise(hits))


def survivors() -> list[tuple[str, int, str]]:
    """Return the rows that the threads leave: id, number of the contents, group."""
    rounds = range(0, ROUNDS, 2)
    return [
        (f"{thread}-{number}", number + 1, str(thread))
        for thread in range(THREADS)
        for number in rounds
    ]


def test_a_text_index_takes_many_writers_and_readers() -> None:
    """After threads have added, replaced, removed and searched at once, it is as if one had done it all."""
    index, oracle = Bm25Index(), reference.Bm25()

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            key = f"{thread}-{number}"
            index.add(key, text(number), group="first")
            index.add_many([(key, text(number + 1))], group=str(thread))
            assert_ranking(index.search("common 飞书", 5), 5)
            assert index.remove(key) if number % 2 else key in index

    together(work)
    for key, number, group in survivors():
        oracle.add(key, text(number), group)
    assert len(index) == len(oracle.documents)
    for query, limit in (("common", None), ("word3 飞书", None), ("payHook_1", "2")):
        found = {hit.id: hit.score for hit in index.search(query, 1000, group=limit)}
        assert found == pytest.approx(dict(oracle.search(query, limit)), abs=1e-9)


def test_a_vector_index_takes_many_writers_and_readers() -> None:
    """After threads have added, replaced, removed and searched at once, it is as if one had done it all."""
    index = FlatIndex(4)

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            key = f"{thread}-{number}"
            index.add(key, vector(number), group="first")
            index.add_many([key], [vector(number + 1)], group=str(thread))
            assert_ranking(index.search(vector(3), 5), 5)
            assert index.remove(key) if number % 2 else key in index

    together(work)
    keys, numbers, _ = zip(*survivors(), strict=True)
    matrix = np.array([vector(number) for number in numbers], dtype=np.float32)
    for query in matrix[:3]:
        expected = dict(zip(keys, reference.cosines(matrix, query).tolist(), strict=True))
        found = {hit.id: hit.score for hit in index.search(query, 1000)}
        assert found == pytest.approx(expected, abs=1e-12)


def test_an_embedder_serves_many_threads() -> None:
    """Threads that embed the same and different texts at once all get the right vectors."""
    embedder = HashEmbedder(61)

    def work(thread: int) -> bool:
        shared, own = [text(number) for number in range(35)], [f"{thread} of many 書{thread}"]
        expected = np.array([reference.embed(each, 61) for each in shared + own])
        one_by_one = np.array([embedder.embed(each) for each in shared + own])
        many = embedder.embed_many(shared + own)
        return np.array_equal(many, expected) and np.array_equal(one_by_one, expected)

    assert all(together(work))


def test_the_tokenizer_serves_many_threads() -> None:
    """Threads that tokenize at once all get the right tokens, also where strings are kept for reuse."""

    def work(thread: int) -> bool:
        texts = [text(number + thread) for number in range(100)]
        return all(tokenize(each) == reference.tokenize(each) for each in texts)

    assert all(together(work))


def test_topics_grow_while_others_read() -> None:
    """However many threads add topics, none is lost and a topic is known by the next call."""
    topics = ingest.Topics()

    def work(thread: int) -> None:
        for number in range(20):
            name = f"{thread}-{number}"
            topics.add(name, [f"word{name}x"])
            assert topics.of(f"the code of Word{name}X") == ["programming", name]

    together(work)
    assert len(topics.names()) == 12 + THREADS * 20


def test_a_document_is_never_missing_while_it_is_replaced() -> None:
    """A concurrent search finds the old document or the new one."""
    index = Bm25Index()
    index.add("a", "common old")

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            if thread == 0:
                index.add("a", f"common {'new' if number % 2 else 'old'}")
            else:
                assert [hit.id for hit in index.search("common")] == ["a"]
                assert len(index) == 1

    together(work)


def test_a_batch_of_vectors_is_seen_whole_or_not_at_all() -> None:
    """A concurrent search finds all vectors of a batch as they were before or all as they are after."""
    index, keys = FlatIndex(2), [str(number) for number in range(10)]
    east, north = np.tile([1.0, 0.0], (10, 1)), np.tile([0.0, 1.0], (10, 1))
    index.add_many(keys, east)

    def work(thread: int) -> None:
        for number in range(ROUNDS):
            if thread == 0:
                index.add_many(keys, north if number % 2 else east)
            else:
                found = [hit.score for hit in index.search([1, 0], 10)]
                assert found in ([0.0] * 10, [1.0] * 10)

    together(work)


@pytest.mark.skipif(os.name != "posix", reason="an open file cannot be replaced elsewhere")
def test_a_file_is_read_whole_while_it_is_rewritten(tmp_path: Path) -> None:
    """A concurrent reader gets the old file or the new one."""
    path = tmp_path / "vectors.bin"

    def write(rows: int) -> None:
        vmem.write(path, [str(rows)] * rows, np.full((rows, 3), rows), checksum=True)

    def work(thread: int) -> None:
        for number in range(ROUNDS // 10):
            if thread == 0:
                write(1 + number % 9)
            else:
                ids, matrix = vmem.read(path, strict=True)
                assert ids == [str(len(ids))] * len(ids)
                assert (matrix == len(ids)).all()

    write(1)
    together(work)


# The interpreter is released: another thread runs while a call is under way.

LONG_ENOUGH = 0.3  # seconds, many times what a thread may keep the interpreter to itself


def lets_others_run(call: Callable[[int], object]) -> bool:
    """Return True if another thread runs Python code during a call, whose size is raised until it takes long.

    A busy machine may have kept the other thread from running, so it is asked three times before the answer is no.
    """
    ticks = [time.perf_counter()]
    is_done = threading.Event()

    def tick() -> None:
        while not is_done.is_set():
            if time.perf_counter() - ticks[-1] > 0.001:
                ticks.append(time.perf_counter())

    ticker = threading.Thread(target=tick)
    ticker.start()
    size, asked = 1, 0
    try:
        while asked < 3 and size < 2**40:
            start = time.perf_counter()
            call(size)
            quarter = (time.perf_counter() - start) / 4
            if 4 * quarter <= LONG_ENOUGH:
                size *= 2
                continue
            if any(quarter < moment - start < 3 * quarter for moment in ticks):
                return True
            asked += 1
    finally:
        is_done.set()
        ticker.join()
    assert asked, "no size makes this call take long"
    return False


TEXT = "The quick brown fox parses HTTPHeader of payment_webhook 飞书消息推送失败. " * 500

measured = pytest.mark.thread_unsafe(reason="measures whether one other thread runs")


@measured
@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="here nothing keeps others waiting"
)
def test_the_measure_knows_a_call_that_keeps_the_interpreter() -> None:
    """A long call that releases nothing lets no other thread run, so the tests below can fail."""
    assert not lets_others_run(lambda size: sum(range(1000 * size)))


@measured
def test_embedding_releases_the_interpreter() -> None:
    """Others run while texts are embedded, one or many."""
    embedder = HashEmbedder()
    assert lets_others_run(lambda size: embedder.embed(TEXT * size))
    assert lets_others_run(lambda size: embedder.embed_many([TEXT] * size))


@measured
def test_adding_texts_releases_the_interpreter() -> None:
    """Others run while documents are added, one or many."""
    index = Bm25Index()
    assert lets_others_run(lambda size: index.add("a", TEXT * size))
    assert lets_others_run(lambda size: index.add_many([("a", TEXT)] * size))


@measured
def test_the_rules_of_ingest_release_the_interpreter() -> None:
    """Others run while a text is read by the rules of ingest."""
    topics = ingest.Topics()
    assert lets_others_run(lambda size: topics.of(TEXT * size))
    assert lets_others_run(lambda size: ingest.entities(TEXT * size))


@measured
def test_searching_texts_releases_the_interpreter() -> None:
    """Others run while a query is answered."""
    index = Bm25Index()
    index.add_many((str(number), text(number)) for number in range(2000))
    assert lets_others_run(lambda size: index.search(TEXT * size + text(3)))


@measured
def test_searching_vectors_releases_the_interpreter() -> None:
    """Others run while vectors are compared."""
    index = FlatIndex(64)
    matrix = np.random.default_rng(7).standard_normal((4000, 64), dtype=np.float32)
    index.add_many([str(row) for row in range(4000)], matrix)
    assert lets_others_run(lambda size: index.search_many(np.repeat(matrix[:9], size, axis=0), 1))


@measured
def test_mmr_releases_the_interpreter() -> None:
    """Others run while hits are compared with each other."""
    hits = [Hit(str(number), number) for number in range(1 << 14)]

    def choose(size: int) -> object:
        return fusion.mmr(hits[: 16 * size], 16 * size, texts=[TEXT[:300]] * (16 * size))

    assert lets_others_run(choose)

"""The text index against bm25s, tantivy and rank_bm25, all over the same tokens."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import corpus as corpora
import pytest
from benchmark import Entry, each
from peers import naive_tokenizer

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmark import Benchmark
    from corpus import Corpus

BM25S = "bm25s (numba)"
TANTIVY = "tantivy (RAM)"
BUILDS = 5
SLOW_QUERIES = 10


def build(pairs: list[tuple[str, str]]) -> memctx.lowlevel.Bm25Index:
    index = memctx.lowlevel.Bm25Index()
    index.add_many(pairs)
    return index


@pytest.fixture(scope="module")
def ours(corpus: Corpus) -> memctx.lowlevel.Bm25Index:
    return build(corpus.pairs)


@pytest.fixture(scope="module")
def tokens(corpus: Corpus) -> list[list[str]]:
    return corpora.tokenize_all(corpus.texts)


@pytest.fixture(scope="module")
def lines(tokens: list[list[str]]) -> list[str]:
    return [" ".join(document) for document in tokens]


@pytest.fixture(scope="module")
def peers(benchmark: Benchmark, tokens: list[list[str]], lines: list[str]) -> dict[str, Any]:
    """Return an index of each installed peer, by name."""
    modules = ((benchmark.peer("bm25s_peer"), tokens), (benchmark.peer("tantivy_peer"), lines))
    return {module.NAME: module.Index(text) for module, text in modules if module}


def our_search(index: memctx.lowlevel.Bm25Index, texts: list[str]) -> Entry:
    """Return an entry that runs from the text of the query to the hits."""
    return Entry(each(index.search, texts), 1 / len(texts))


def search(peer: Any, texts: list[str], limit: float | None = None) -> Entry:
    """Return an entry that runs from the peer's own form of the query to its hits."""
    queries = [peer.query(memctx.tokenize(text)) for text in texts]
    return Entry(each(peer.search, queries), 1 / len(texts), limit)


def repeat(
    count: int,
    steps: Callable[[Any, Any], object],
    supply: Iterable[tuple[Any, Any]],
    limit: float | None = None,
) -> Entry:
    """Take the steps with a new document and a query each time; the figure is for one time."""
    pairs = cycle(supply)

    def run() -> None:
        for document, query in islice(pairs, count):
            steps(document, query)

    return Entry(run, 1 / count, limit)


@pytest.mark.parametrize(("name", "least"), [(BM25S, 0.99), (TANTIVY, 0.9)])
def test_the_peers_find_the_same(
    corpus: Corpus, ours: memctx.lowlevel.Bm25Index, peers: dict[str, Any], name: str, least: float
) -> None:
    """Ties aside; tantivy also rounds the lengths of documents to one byte."""
    if name not in peers:
        pytest.skip(f"{name} is not installed")
    wanted = shared = 0
    for text in corpus.short:
        ids = {hit.id for hit in ours.search(text)}
        numbers = peers[name].numbers(peers[name].query(memctx.tokenize(text)))
        wanted += len(ids)
        shared += len(ids & {corpus.ids[number] for number in numbers})
    assert shared >= least * wanted > 0


def test_short_query(
    benchmark: Benchmark, corpus: Corpus, ours: memctx.lowlevel.Bm25Index, peers: dict[str, Any]
) -> None:
    limits = {BM25S: 0.7, TANTIVY: 0.4}
    rivals = {name: search(peer, corpus.short, limits[name]) for name, peer in peers.items()}
    benchmark("BM25 top-10, short query", our_search(ours, corpus.short), rivals)


def test_long_query(
    benchmark: Benchmark, corpus: Corpus, ours: memctx.lowlevel.Bm25Index, peers: dict[str, Any]
) -> None:
    rivals = {name: search(peer, corpus.long) for name, peer in peers.items()}
    benchmark("BM25 top-10, long query", our_search(ours, corpus.long), rivals)


def test_short_query_scoring_all(
    benchmark: Benchmark, corpus: Corpus, ours: memctx.lowlevel.Bm25Index, tokens: list[list[str]]
) -> None:
    """On few queries: the peer scores every document."""
    if not (module := benchmark.peer("rank_bm25_peer")):
        pytest.skip("rank_bm25 is not installed")
    texts = corpus.short[:SLOW_QUERIES]
    rivals = {module.NAME: search(module.Index(tokens), texts)}
    benchmark(f"BM25 top-10, {len(texts)} short queries, each", our_search(ours, texts), rivals)


def test_added_and_visible(
    benchmark: Benchmark, corpus: Corpus, ours: memctx.lowlevel.Bm25Index, peers: dict[str, Any]
) -> None:
    """Until the next query would find it; and again with that query."""
    if not (tantivy := peers.get(TANTIVY)):
        pytest.skip("tantivy is not installed")
    queries = [tantivy.query(memctx.tokenize(text)) for text in corpus.short]
    lines = [" ".join(memctx.tokenize(text)) for _, text in corpus.later]
    mine = list(zip(corpus.later, corpus.short, strict=False))
    theirs = list(zip(lines, queries, strict=False))
    benchmark(
        "BM25, a document added, visible to the next query",
        repeat(50, lambda pair, _: ours.add(*pair), mine),
        {TANTIVY: repeat(10, lambda line, _: tantivy.add(line), theirs, limit=1 / 50)},
    )
    newest, text = corpus.later[-1]
    ours.add(newest, text)
    assert newest in {hit.id for hit in ours.search(text)}
    benchmark(
        "BM25, a document added and a query answered",
        repeat(50, lambda pair, query: (ours.add(*pair), ours.search(query)), mine),
        {
            TANTIVY: repeat(
                10, lambda line, query: (tantivy.add(line), tantivy.search(query)), theirs
            )
        },
    )


def test_build(benchmark: Benchmark, corpus: Corpus, lines: list[str]) -> None:
    """From raw text for us; from ready tokens for the peer, and then with what cutting them takes in Python."""
    if not (module := benchmark.peer("tantivy_peer")):
        pytest.skip("tantivy is not installed")
    pairs, texts = corpus.pairs, corpus.texts
    benchmark(
        "BM25, building the index",
        Entry(lambda: build(pairs)),
        {
            TANTIVY: Entry(lambda: module.Index(lines), limit=1 / 6),
            f"{TANTIVY}, from text": Entry(
                lambda: module.Index(" ".join(naive_tokenizer.tokenize(text)) for text in texts)
            ),
        },
        repeats=BUILDS,
    )

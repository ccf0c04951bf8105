"""The hash embedding against hashlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from benchmark import Entry
from peers.python_hash import Embedder

import memctx

if TYPE_CHECKING:
    from benchmark import Benchmark
    from corpus import Corpus

SAMPLE = 300
REPEATS = 5


def test_vectors_are_equal(corpus: Corpus) -> None:
    texts = corpus.sample(SAMPLE)
    ours = memctx.lowlevel.HashEmbedder().embed_many(texts)
    np.testing.assert_allclose(ours, Embedder().embed_many(texts), rtol=1e-6, atol=0)


def test_embed_many(benchmark: Benchmark, corpus: Corpus) -> None:
    """The peer embeds a sample; its time is scaled up by the number of characters."""
    texts, sample = corpus.texts, corpus.sample(SAMPLE)
    scale = sum(map(len, texts)) / sum(map(len, sample))
    ours, plain, remembering = memctx.lowlevel.HashEmbedder(), Embedder(), Embedder(remember=True)
    benchmark(
        f"hash embedding of {len(texts)} texts (peers: {len(sample)}, scaled up)",
        Entry(lambda: ours.embed_many(texts)),
        {
            "hashlib": Entry(lambda: plain.embed_many(sample), scale, limit=1 / 50),
            "hashlib, trigrams remembered": Entry(lambda: remembering.embed_many(sample), scale),
        },
        repeats=REPEATS,
    )

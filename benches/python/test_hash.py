"""The hash embedding against hashlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from peers.python_hash import Embedder
from race import Entry

import memctx

if TYPE_CHECKING:
    from corpus import Corpus
    from race import Race

SAMPLE = 300
REPEATS = 5


def test_vectors_are_equal(corpus: Corpus) -> None:
    texts = corpus.sample(SAMPLE)
    ours = memctx.HashEmbedder().embed_many(texts)
    np.testing.assert_allclose(ours, Embedder().embed_many(texts), rtol=1e-6, atol=0)


def test_embed_many(race: Race, corpus: Corpus) -> None:
    """The peer embeds a sample; its time is scaled up by the number of characters."""
    texts, sample = corpus.texts, corpus.sample(SAMPLE)
    scale = sum(map(len, texts)) / sum(map(len, sample))
    ours, plain, remembering = memctx.HashEmbedder(), Embedder(), Embedder(remember=True)
    race(
        f"hash embedding of {len(texts)} texts (peers: {len(sample)}, scaled up)",
        Entry(lambda: ours.embed_many(texts)),
        {
            "hashlib": Entry(lambda: plain.embed_many(sample), scale, limit=1 / 50),
            "hashlib, trigrams remembered": Entry(lambda: remembering.embed_many(sample), scale),
        },
        repeats=REPEATS,
    )

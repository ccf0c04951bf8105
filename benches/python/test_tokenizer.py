"""The tokenizer against the same one in pure Python."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmark import Entry, each
from peers import naive_tokenizer

import memctx

if TYPE_CHECKING:
    from benchmark import Benchmark
    from corpus import Corpus

SAMPLE = 4_000


def test_output_is_identical(corpus: Corpus) -> None:
    for text in corpus.texts:
        assert memctx.tokenize(text) == naive_tokenizer.tokenize(text), text
        expected = naive_tokenizer.tokenize_openclaw(text)
        assert memctx.tokenize(text, "openclaw") == expected, text


def test_tokenize(benchmark: Benchmark, corpus: Corpus) -> None:
    """`str.split` shows the cost of making the strings alone."""
    texts = corpus.sample(SAMPLE)
    ready = [" ".join(memctx.tokenize(text)) for text in texts]
    benchmark(
        f"tokenizing {len(texts)} texts",
        Entry(each(memctx.tokenize, texts)),
        {
            "pure Python": Entry(each(naive_tokenizer.tokenize, texts), limit=1 / 3),
            "pure Python, remembering": Entry(each(naive_tokenizer.tokenize_remembering, texts)),
            "str.split on ready tokens": Entry(each(str.split, ready)),
        },
    )


def test_tokenize_openclaw(benchmark: Benchmark, corpus: Corpus) -> None:
    texts = corpus.sample(SAMPLE)
    benchmark(
        f"tokenizing {len(texts)} texts, original rules",
        Entry(each(partial(memctx.tokenize, mode="openclaw"), texts)),
        {"pure Python": Entry(each(naive_tokenizer.tokenize_openclaw, texts))},
    )

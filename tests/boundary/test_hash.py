"""`memctx.lowlevel.HashEmbedder`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from memctx.lowlevel import HashEmbedder

from . import golden, reference
from .strategies import for_all, texts

SHARED = HashEmbedder(61)


def test_golden_vectors() -> None:
    """The vectors equal the golden ones, made by OpenClaw's plugin, to the last bit of float32."""
    cases = golden.load("hash.json")
    assert len(cases) > 10
    embedder = HashEmbedder()
    for case in cases:
        expected = np.zeros(384)
        for place, value in case["nonzero"]:
            expected[place] = value
        assert np.array_equal(embedder.embed(case["text"]), expected.astype(np.float32))


@settings(max_examples=300)
@for_all(texts)
def test_vectors_equal_those_of_hashlib(text: str) -> None:
    """Every text has the vector that the few lines with hashlib give, also when its grams were seen before."""
    expected = reference.embed(text, 61)
    assert np.array_equal(SHARED.embed(text), expected)
    assert np.array_equal(SHARED.embed(text), expected)
    assert np.array_equal(HashEmbedder(61).embed(text), expected)


@for_all(st.lists(texts, max_size=6))
def test_many_texts_equal_one_by_one(many: list[str]) -> None:
    """The rows for many texts are the vectors of each, in order, from any iterable."""
    expected = np.array([SHARED.embed(text) for text in many]).reshape(len(many), 61)
    for iterable in (many, tuple(many), iter(many)):
        matrix = SHARED.embed_many(iterable)
        assert (matrix.shape, matrix.dtype) == ((len(many), 61), np.dtype("f4"))
        assert np.array_equal(matrix, expected)


@for_all(texts)
def test_vectors_have_length_one_or_none(text: str) -> None:
    """A vector has length 1, but for cancelled or absent grams, which leave zeros."""
    vector = SHARED.embed(text)
    length = np.linalg.norm(vector.astype(np.float64))
    assert length == pytest.approx(1, abs=1e-6) if vector.any() else length == 0


@pytest.mark.parametrize("text", ["", " ", "、!?", "\u3000\ufeff", "\0", "\ud800", "😀", "___"])
def test_an_empty_text_embeds_to_zero(text: str) -> None:
    """A text without a letter, a digit or one of ``@ . + -`` has the zero vector."""
    assert not HashEmbedder().embed(text).any()
    assert not HashEmbedder().embed_many([text, text]).any()


def test_case_spacing_and_punctuation_do_not_matter() -> None:
    """Texts that differ in capitals, white space and most punctuation have the same vector."""
    embedder = HashEmbedder()
    expected = embedder.embed("the port is 8443")
    for text in ("The PORT is 8443", "  the\tport \n is  8443!", "the_port=is/8443?"):
        assert np.array_equal(embedder.embed(text), expected), text
    assert not np.array_equal(embedder.embed("the port is 8444"), expected)


@pytest.mark.parametrize("dim", [1, 2, 61, 384, 32_768])
def test_vectors_have_the_dimension_asked_for(dim: int) -> None:
    """The dimension is any from 1 to 32768, and the same text has a vector in each."""
    embedder = HashEmbedder(dim)
    assert (embedder.dim, embedder.name) == (dim, "hash")
    vector = embedder.embed("飞书消息 webhook")
    assert (vector.shape, vector.dtype) == ((dim,), np.dtype("f4"))
    assert np.array_equal(vector, reference.embed("飞书消息 webhook", dim))


def test_results_belong_to_the_caller() -> None:
    """A vector can be written to, and that changes no other."""
    embedder = HashEmbedder()
    first = embedder.embed("payment webhook")
    expected = first.copy()
    first[:] = 7
    assert np.array_equal(embedder.embed("payment webhook"), expected)
    assert HashEmbedder().dim == len(expected) == 384


@pytest.mark.thread_unsafe(reason="long, and says nothing about threads")
def test_megabytes_of_text_are_embedded() -> None:
    """A text of many megabytes has a vector, and counts do not run over."""
    vector = HashEmbedder().embed("abc " * (5 << 20))
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert np.count_nonzero(vector) <= 4

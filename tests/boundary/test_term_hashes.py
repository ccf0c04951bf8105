"""`term_hashes` and `query_term_hashes`: the terms of the text index as keyed hashes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctx import ConfigError, tokenize
from memctx.lowlevel import Bm25Index, query_term_hashes, term_hashes

TEXTS = st.text(st.sampled_from("abcXY 12_./飞书カ한é\n"), max_size=80)
KEYS = st.integers(-(2**63), 2**64 - 1)


@given(text=TEXTS, key=KEYS)
def test_hashes_of_a_document_are_those_of_its_tokens(text: str, key: int) -> None:
    hashes = term_hashes(text, key)
    assert hashes == sorted(set(hashes))
    assert all(-(2**63) <= each < 2**63 for each in hashes)
    tokens = set(tokenize(text))
    assert len(hashes) == len(tokens)
    each = {hash_ for token in tokens for hash_ in term_hashes(token, key)}
    assert each >= set(hashes)


@settings(max_examples=60)
@given(text=TEXTS, query=TEXTS)
def test_a_document_that_search_finds_shares_a_hash_with_the_query(text: str, query: str) -> None:
    index = Bm25Index()
    index.add("a", text)
    shared = set(term_hashes(text, 7)) & set(query_term_hashes(query, 7))
    if shared:
        assert index.search(query, 1)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("which ports?", "the port is 8443"),
        ("deployed", "the deploys failed"),
        ("支付端口", "支付回调的端口"),
        ("what and when", "and when it is done"),
        ("payHook", "src/payHook.rs"),
    ],
)
def test_a_query_looks_up_every_form_in_every_language(query: str, text: str) -> None:
    assert set(query_term_hashes(query, 7)) & set(term_hashes(text, 7))


def test_function_words_of_a_query_are_not_looked_up() -> None:
    assert not set(query_term_hashes("what is the port", 7)) & set(term_hashes("what is the", 7))


def test_hashes_depend_on_the_key_only() -> None:
    assert term_hashes("port 8443", 7) == term_hashes("8443 Port port", 7)
    assert not set(term_hashes("port 8443", 7)) & set(term_hashes("port 8443", 8))
    assert term_hashes("port", -1) == term_hashes("port", 2**64 - 1)
    assert term_hashes("", 7) == query_term_hashes("", 7) == []


@pytest.mark.parametrize("key", [2**64, -(2**63) - 1, 2**70])
def test_a_key_beyond_64_bits_is_refused(key: int) -> None:
    for hashes in (term_hashes, query_term_hashes):
        with pytest.raises(ConfigError, match="64 bits"):
            hashes("port", key)
        with pytest.raises(TypeError):
            hashes("port", "key")  # type: ignore[arg-type]

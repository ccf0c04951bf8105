"""Truncation between characters, and batches without losses."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memctx.embeddings.remote.embedder import BatchLimits, split_batches, truncate

whole = st.text(st.characters(exclude_categories=["Cs"]))


@given(whole, st.integers(0, 40))
def test_a_truncated_text_is_the_longest_beginning_that_fits(text: str, size: int) -> None:
    kept = truncate(text, size)
    assert text.startswith(kept)
    assert len(kept.encode()) <= size
    assert kept == text or len(text[: len(kept) + 1].encode()) > size


def test_half_of_a_surrogate_pair_can_be_sent() -> None:
    assert truncate("a\ud83d", 100).encode() == b"a?"


@given(st.lists(whole), st.integers(1, 5), st.integers(1, 20))
def test_batches_hold_all_texts_in_order_and_no_more_than_fits(
    texts: list[str], most: int, chars: int
) -> None:
    parts = list(split_batches(texts, BatchLimits(most, chars)))
    assert [text for part in parts for text in part] == texts
    for part in parts:
        assert 1 <= len(part) <= most
        assert len(part) == 1 or sum(map(len, part)) <= chars
    for part, following in pairwise(parts):  # none could have held more
        grown = [*part, following[0]]
        assert len(grown) > most or sum(map(len, grown)) > chars

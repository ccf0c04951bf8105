"""Inputs that put what the rules speak of close together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import ucd_3_2_0

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Test = Callable[..., None]


def for_all(
    *arguments: st.SearchStrategy[Any], **named: st.SearchStrategy[Any]
) -> Callable[[Test], Test]:
    """Run a test on examples of its arguments, in one thread: in several, filters upset the choice of examples."""

    def decorate(test: Test) -> Test:
        marked: Test = pytest.mark.thread_unsafe(reason="draws examples")(test)
        return given(*arguments, **named)(marked)

    return decorate


# What Unicode has had for long, so that every Python knows it as the library does.
_anything = st.characters(exclude_categories=("Cn", "Cs")).filter(
    lambda c: ucd_3_2_0.category(c) != "Cn"
)


def _run(alphabet: str, most: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=1, max_size=most)


_piece = st.one_of(
    _run("abcs", 3),
    _run("ABCS", 3),
    _run("0189", 2),
    _run("_-./:\\@", 2),
    _run(" ,=+\u3000、", 1),
    _run("飞书々〇テスーか가한\U00020000", 3),
    # letters of two, three and four bytes, some of which become two when lower-cased
    _run("éÉßΣ\u03c3ςİŸǅḁᾈกა𐐀𐐨", 2),
    # what NFKC changes: full-width, half-width, ligatures, circles, fractions
    _run("\uff21\uff42\uff11\uff0d\uff3f\uff0e\uff0fﾃｶﾞ㍿ﬁ…‥①½٣Ⓐ", 2),
    # what NFKC joins with its neighbors
    _run("\u0301\u0307\u0327\u0345\u3099\u1100\u1161\u11a8", 2),
    # what is invisible
    _run("\u200b\u00ad\u200d\0\x1c\ufeff\x85\ufe0f\u202e😀", 1),
    # halves of a pair
    _run("\ud800\udbff\udc00\udfff\ud83d\ude00\ufffd", 2),
    _anything,
)

texts: st.SearchStrategy[str] = st.lists(_piece, max_size=24).map("".join)
"""Text with every kind of character the tokenizers know, lone surrogates included."""

_word = st.one_of(
    st.sampled_from("abcd"),
    st.text("abcdefgh", min_size=2, max_size=2),
    st.text("飞书消息", min_size=1, max_size=3),
    st.sampled_from(["ab_cd", "aB", "longerThanSevenBytes", "longer_than_seven_bytes"]),
)

documents: st.SearchStrategy[str] = st.lists(_word, max_size=24).map(" ".join)
"""Text of few different words, so that documents share many."""

ids: st.SearchStrategy[str] = st.text("abcdé飞", min_size=1, max_size=2)


def matrices(*, dim: int, least: int = 0, most: int = 40) -> st.SearchStrategy[NDArray[np.float32]]:
    """Rows with what makes searching hard: near and exact duplicates, opposites, tiny and huge lengths, zeros."""
    value = st.one_of(
        st.floats(-1, 1, width=32),
        st.sampled_from([0.0, 1.0, -1.0]),
        st.floats(-(2.0**99), 2.0**99, width=32),
        st.floats(-(2.0**-99), 2.0**-99, width=32),
    )
    row = st.one_of(
        st.lists(value, min_size=dim, max_size=dim),
        st.sampled_from([0.5, 0.5001, -0.5, 0.0]).map(lambda shared: [shared] * dim),
        st.floats(-1, 1, width=32).map(lambda first: [first] + [0.5] * (dim - 1)),
    )
    rows = st.lists(row, min_size=least, max_size=most)
    return rows.map(lambda rows: np.array(rows, dtype=np.float32).reshape(len(rows), dim))

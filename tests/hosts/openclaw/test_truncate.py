"""Truncation of a long text to head and tail, with a correct marker."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.errors import ConfigError
from memctx.hosts.openclaw import truncate

MARKER = re.compile(r"\n\[\.\.\. (\d+) characters of notes\.md are left out here \.\.\.\]\n")


@given(st.text(st.sampled_from("ab 支\n"), max_size=600), st.integers(1, 400))
def test_truncated_text_keeps_the_limit_and_counts_what_is_left_out(text: str, limit: int) -> None:
    cut = truncate(text, "notes.md", limit)
    assert len(cut.text) <= limit
    assert cut.raw_chars == len(text)
    if len(text) <= limit:
        assert (cut.text, cut.left_out) == (text, 0)
        return
    found = MARKER.search(cut.text)
    if found is None:
        assert cut.text == text[:limit], "there was no room for a marker"
        assert cut.left_out == len(text) - limit
        return
    head, tail = cut.text[: found.start()], cut.text[found.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(found[1]) == cut.left_out == len(text) - len(head) - len(tail)


def test_head_and_tail_share_the_limit() -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    cut = truncate(text, "notes.md")
    head, _, tail = MARKER.split(cut.text)
    assert 19_900 < len(cut.text) <= 20_000
    assert 2.8 < len(head) / len(tail) < 3.2
    assert head.endswith(tuple("0123456789")), "lines are whole"
    assert tail.startswith("line ")


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ConfigError, match=f"max_chars is {limit}; expected at least 1"):
        truncate("text", "notes.md", limit)

"""`split`: pieces within the limit, complete, cut at natural boundaries."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.facts.extractors import Message, split
from memctx.facts.extractors.split import iter_units

from .strategies import messages


@given(st.lists(messages, max_size=12), st.integers(1, 120))
def test_joined_pieces_are_the_messages(said: list[Message], limit: int) -> None:
    parts = [message for piece in split(said, limit) for message in piece]
    for message in said:
        text = ""
        while True:
            part = parts.pop(0)
            assert (part.role, part.segment) == (message.role, message.segment)
            text += part.text
            if text == message.text:
                break
            assert message.text.startswith(text)
            assert part.text
    assert parts == []


@given(st.lists(messages, max_size=12), st.integers(1, 120))
def test_no_piece_is_empty_or_too_long(said: list[Message], limit: int) -> None:
    for piece in split(said, limit):
        assert piece
        assert sum(len(message.text) for message in piece) <= limit


@given(st.lists(messages, max_size=12), st.integers(1, 120))
def test_units_and_messages_within_the_limit_stay_whole(said: list[Message], limit: int) -> None:
    pieces = split(said, limit)
    for unit in iter_units(said):
        if sum(len(message.text) for message in unit) <= limit:
            assert any(
                list(piece[at : at + len(unit)]) == unit
                for piece in pieces
                for at in range(len(piece))
            )
    whole = [message for message in said if len(message.text) <= limit]
    parts = [message for piece in pieces for message in piece]
    assert all(message in parts for message in whole)


@given(st.lists(messages, max_size=12), st.integers(1, 120))
def test_pieces_are_filled_unless_a_unit_is_too_long(said: list[Message], limit: int) -> None:
    pieces = split(said, limit)
    longest = max((sum(len(m.text) for m in unit) for unit in iter_units(said)), default=0)
    for one, other in pairwise(pieces):
        opening = next(iter_units(other))
        together = sum(len(message.text) for message in (*one, *opening))
        assert together > limit or longest > limit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first line\nsecond line", ["first line\n", "second line"]),
        ("One is here. Two is there.", ["One is here.", " Two is there."]),
        ("version 1.2.3 is used, not 1.2.4", ["version 1.2.3 ", "is used, not ", "1.2.4"]),
        ("先这样做一下再说吧。然后再看结果如何吧", ["先这样做一下再说吧。", "然后再看结果如何吧"]),
        ("abcdefghijklmnopqrstuvwxyz", ["abcdefghijklmn", "opqrstuvwxyz"]),
        ("x" * 13 + "e\u0301" + "y" * 5, ["x" * 13, "e\u0301" + "y" * 5]),
    ],
)
def test_a_long_text_is_cut_at_natural_boundaries(text: str, expected: list[str]) -> None:
    pieces = split([Message("user", text, "s")], 14)
    assert [message.text for piece in pieces for message in piece] == expected


def test_a_limit_of_zero_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1 character, not 0"):
        split([], 0)

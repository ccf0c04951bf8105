"""Outcomes as text: aligned tables, and no terminal control characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memctx.cli.escaping import terminal
from memctx.cli.formatting import display_width, excerpt, format_time
from memctx.cli.verbs import Outcome, Table

words = st.text(alphabet="ab支付ー한e\u0301 ", max_size=8)


@given(rows=st.lists(st.tuples(words, words), max_size=5))
def test_table_columns_align_in_every_script(rows: list[tuple[str, str]]) -> None:
    table = Table(("name", "last"), tuple((first, f"{second}|") for first, second in rows))
    lines = str(table).split("\n")
    room = max(display_width(cell) for cell in ("name", *(first for first, _ in rows)))
    for (first, second), line in zip(rows, lines[1:], strict=True):
        assert line == f"{first}{' ' * (room - display_width(first))}  {second}|"


def test_table_numbers_are_right_aligned() -> None:
    table = Table(("what", "count"), (("a", "7"), ("b", "1,200")), right=("count",))
    assert str(table).splitlines() == ["what  count", "a         7", "b     1,200"]


def test_outcome_parts_are_separated_by_blank_lines() -> None:
    assert Outcome({}, ("one", Table(("a",), (("b",),)))).text == "one\n\na\nb"


@given(text=st.text(max_size=300), start=st.integers(0, 300), longest=st.integers(2, 60))
def test_an_excerpt_is_one_short_line_without_controls(text: str, start: int, longest: int) -> None:
    line = excerpt(text, start, longest)
    assert len(line) <= longest
    assert line.isprintable()


@given(text=st.text(max_size=100))
def test_printing_a_message_cannot_drive_the_terminal(text: str) -> None:
    shown = terminal(text)
    assert all(each in "\n\t" or each.isprintable() for each in shown)
    assert len(shown) == len(text)


def test_format_time_of_an_impossible_time_is_a_question_mark() -> None:
    assert format_time(1e300) == "?"
    assert format_time(float("nan")) == "?"

"""What a person reads: tables that stand straight, and nothing that drives the terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memctx.commands import Outcome, Table, wording
from memctx.commands.outcome import width

words = st.text(alphabet="ab支付ー한e\u0301 ", max_size=8)


@given(rows=st.lists(st.tuples(words, words), max_size=5))
def test_columns_stand_straight_in_every_script(rows: list[tuple[str, str]]) -> None:
    table = Table(("name", "last"), tuple((first, f"{second}|") for first, second in rows))
    lines = str(table).split("\n")
    room = max(width(cell) for cell in ("name", *(first for first, _ in rows)))
    for (first, second), line in zip(rows, lines[1:], strict=True):
        assert line == f"{first}{' ' * (room - width(first))}  {second}|"


def test_numbers_stand_to_the_right() -> None:
    table = Table(("what", "count"), (("a", "7"), ("b", "1,200")), right=("count",))
    assert str(table).splitlines() == ["what  count", "a         7", "b     1,200"]


def test_parts_have_a_blank_line_between_them() -> None:
    assert Outcome({}, ("one", Table(("a",), (("b",),)))).text == "one\n\na\nb"


@given(text=st.text(max_size=300), start=st.integers(0, 300), longest=st.integers(2, 60))
def test_an_excerpt_is_one_short_line_without_controls(text: str, start: int, longest: int) -> None:
    line = wording.excerpt(text, start, longest)
    assert len(line) <= longest
    assert line.isprintable()


@given(text=st.text(max_size=100))
def test_printing_a_message_cannot_drive_the_terminal(text: str) -> None:
    shown = wording.printable(text)
    assert all(each in "\n\t" or each.isprintable() for each in shown)
    assert len(shown) == len(text)


def test_a_time_that_no_calendar_has_is_no_error() -> None:
    assert wording.moment(1e300) == "?"
    assert wording.moment(float("nan")) == "?"

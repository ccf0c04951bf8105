"""The page is whole, safe and sound by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx._html import VOID, tag
from memctx.cli.formatting import format_compact
from memctx.cli.replay import Replay, html, replay, write_html
from memctx.cli.replay.page.chart import axis_ticks

from . import session

if TYPE_CHECKING:
    from pathlib import Path


class Reader(HTMLParser):
    """Parser of a page; an element that is not closed, or closed twice, fails."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"script", "style"}:
            self.text += data


@pytest.fixture(scope="module")
def page(played: Replay) -> str:
    return html(played)


def test_the_page_has_every_section(page: str, played: Replay) -> None:
    text = Reader(page).text
    parts = ("Context size", "Prompt cache", "Latency", "Turn by turn", "Facts", "How to read this")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert f"{len(played.turns)} turns" in text
    assert "said in turn 8" in text
    assert session.CORRECTED.rstrip(".") in text


def test_the_page_lists_every_eventful_turn(page: str, played: Replay) -> None:
    ids = [attributes["id"] for _, attributes in Reader(page).elements if "id" in attributes]
    wanted = [f"turn-{turn.number}" for turn in played.turns if turn.is_eventful]
    assert [each for each in ids if each and each.startswith("turn-")] == wanted
    assert len(ids) == len(set(ids))


def test_the_page_loads_nothing(page: str) -> None:
    elements = Reader(page).elements
    policy = next(
        attributes for name, attributes in elements if name == "meta" and "http-equiv" in attributes
    )
    assert "default-src 'none'" in str(policy["content"])
    sources = [attributes.get("src") or attributes.get("href") for _, attributes in elements]
    assert [source for source in sources if source and not source.startswith("data:")] == []
    assert "@import" not in page
    assert re.findall(r"url\(", page) == []


def test_page_texts_stay_text(page: str) -> None:
    elements = Reader(page).elements
    assert session.ATTACK not in page
    assert "alert(1)" in Reader(page).text
    assert [name for name, _ in elements].count("script") == 3
    assert "img" not in {name for name, _ in elements}


def test_page_secrets_are_masked(page: str) -> None:
    assert session.SECRET not in page
    assert session.SECRET[-20:] not in page


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_gets_out_of_its_element(text: str, value: str) -> None:
    made = tag("p", text, title=value)
    reader = Reader(made)
    (name, attributes), *others = reader.elements
    assert (name, others) == ("p", [])
    assert attributes["title"] == value
    # A parser reads line ends and zeros as it has to.
    plain = text.replace("\r\n", "\n")
    assert reader.text.replace("\r\n", "\n") == plain


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "Which port?"}],
        [{"role": "assistant", "content": "Hello."}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": "a\ud800b"}],
    ],
)
def test_a_small_session_has_a_page(messages: list[dict[str, str]], tmp_path: Path) -> None:
    path = write_html(replay(messages), tmp_path / "deep" / "page.html")
    Reader(path.read_text("utf-8"))


def test_a_page_is_replaced_whole(played: Replay, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    assert write_html(played, path) == path
    assert path.read_text("utf-8") == html(played)
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert len(html(played)) < 400_000


@given(st.floats(0.5, 1e7))
def test_axis_ticks_are_few_and_within_range(top: float) -> None:
    levels = axis_ticks(top)
    assert levels[0] == 0
    assert levels == sorted(set(levels))
    assert levels[-1] <= top
    assert 2 <= len(levels) <= 6


@given(st.integers(0, 10**9))
def test_compact_numbers_are_short_and_close(value: int) -> None:
    text = format_compact(value)
    factor = {"k": 1e3, "M": 1e6}.get(text[-1], 1)
    assert float(text.rstrip("kM")) * factor == pytest.approx(value, rel=0.051, abs=0.5)
    assert len(text) <= 5


def test_the_page_says_why_and_what_was_sent(page: str, played: Replay) -> None:
    item = next(item for item in played.turns[-1].recalled if item.words)
    assert f"score {item.score:.2f}" in page
    assert "<mark>" in page
    text = Reader(page).text
    assert "What was sent" in text
    assert "not sent" in text
    assert "added by memory" in text
    assert "<recalled-context" in text


def test_the_page_compares_costs(played: Replay) -> None:
    text = Reader(html(played, price=3)).text
    for words in (
        "No memory",
        "Truncation",
        "Compaction",
        "at $3 a million",
        f"${3e-6 * played.cost:,.2f}",
    ):
        assert words in text
    assert played.compacted_cost > 0
    assert played.compactions > 0


def test_a_page_of_a_thousand_turns_is_small(played: Replay) -> None:
    repeated = (played.turns * (1_000 // len(played.turns) + 1))[:1_000]
    turns = tuple(replace(turn, number=number) for number, turn in enumerate(repeated, start=1))
    assert len(html(replace(played, turns=turns)).encode()) < 1_000_000


@pytest.mark.parametrize("eventful", [40, 130, 300, 1_000])
def test_a_page_of_turns_that_trim_and_recall_much_is_small(played: Replay, eventful: int) -> None:
    """As many turns that trim and recall a dozen long messages each, among a thousand."""
    trimming = next(turn for turn in played.turns if turn.trimmed)
    recalling = next(turn for turn in played.turns if turn.recalled)
    words = "The payment webhook of the shop listens. " * 5
    busy = replace(
        trimming,
        trimmed=(replace(trimming.trimmed[0], excerpt=words[:200]),) * 17,
        recalled=(replace(recalling.recalled[0], excerpt=words[:200]),) * 8,
        sent=recalling.sent,
    )
    quiet = replace(busy, trimmed=(), recalled=(), pruned=(), sent=())
    turns = (busy,) * eventful + (quiet,) * (1_000 - eventful)
    assert not quiet.is_eventful
    assert len(html(replace(played, turns=turns)).encode()) < 1_000_000


def test_a_notebook_shows_the_key_figures(played: Replay) -> None:
    assert f"{len(played.turns)} turns" in played._repr_html_()
    assert len(repr(played)) < 120

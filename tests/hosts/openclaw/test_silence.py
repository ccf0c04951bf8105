"""Silent answers: no character of them passes, however they are split."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memctx.errors import ConfigError
from memctx.hosts.openclaw.silence import SilenceFilter, is_silent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

SILENT = [
    "NO_REPLY",
    " \n NO_REPLY \n",
    "NO_REPLY.",
    "NO_REPLY\n\nSaved three notes.",
    "NO_REPLY: nothing to keep",
    "NO_REPLY。没有要保存的",
    "NO_REPLY没有",
    "**NO_REPLY**",
    "`NO_REPLY`",
    '"NO_REPLY".',
    "“NO_REPLY”",
]
SPEECH = [
    "",
    "   ",
    "NO",
    "NO_REPL",
    "NO_REPLY_LATER",
    "NO_REPLYING",
    "NO_REPLY2",
    "no_reply",
    "Answer with NO_REPLY",
    "Saved.\n\nNO_REPLY",
    "`NO_REPLY` is what I answer when there is nothing to say",
    "**NO_REPLY** is a token",
    "NO reply came",
    "...",
    " " * 100 + "NO_REPLY",
    "**NO_REPLY" + "*" * 100,
]

answers = (
    st.sampled_from([*SILENT, *SPEECH])
    | st.text(st.sampled_from('NO_REPLY* `".a。\n'), max_size=80)
    | st.builds(
        lambda a, b: a + "NO_REPLY" + b,
        st.text(" *`\n", max_size=70),
        st.text(' *`"._a。\n', max_size=70),
    )
)


@pytest.mark.parametrize("text", SILENT)
def test_silent_answers_are_recognized(text: str) -> None:
    assert is_silent(text)


@pytest.mark.parametrize("text", SPEECH)
def test_ordinary_answers_are_not_silent(text: str) -> None:
    assert not is_silent(text)


def splits(text: str) -> Iterator[list[str]]:
    """Return every way to split a short text."""
    for mask in range(2 ** max(len(text) - 1, 0)):
        cuts = [0, *(at + 1 for at in range(len(text) - 1) if mask >> at & 1), len(text)]
        yield [text[start:end] for start, end in pairwise(cuts)]


@pytest.mark.parametrize(
    "text",
    ["NO_REPLY", "NO_REPLY\n", "NO_REPLY!", "*NO_REPLY*", "NO_REPLYx", " NO_REPL", "`NO_REPLY` a"],
)
def test_the_filter_handles_every_split_of_a_short_answer(text: str) -> None:
    expected = "" if is_silent(text) else text
    for parts in splits(text):
        assert "".join(SilenceFilter().wrap(parts)) == expected, parts


@given(answers, st.lists(st.integers(0, 150), max_size=12))
@example("**NO_REPLY" + "*" * 100, [60])
def test_the_filter_handles_any_split_of_any_answer(text: str, cut_points: list[int]) -> None:
    """All of the answer or nothing, and never a letter that must be taken back."""
    cuts = sorted({0, len(text), *(at for at in cut_points if at < len(text))})
    parts = [text[start:end] for start, end in pairwise(cuts)]
    filter_ = SilenceFilter()
    shown = ""
    for number, part in enumerate(parts, start=1):
        shown += filter_.feed(part)
        assert "".join(parts[:number]).startswith(shown)
        if shown:
            assert shown == "".join(parts[:number]), "once it speaks nothing is held back"
    shown += filter_.finish()
    assert shown == ("" if is_silent(text) else text)
    assert filter_.is_silent == is_silent(text)


def test_ordinary_answers_pass_at_once() -> None:
    filter_ = SilenceFilter()
    assert filter_.feed("Hello") == "Hello"
    assert filter_.feed(" NO_REPLY") == " NO_REPLY"


def test_white_space_is_not_held_back_for_ever() -> None:
    filter_ = SilenceFilter()
    shown = [filter_.feed(" ") for _ in range(1000)]
    assert shown[64] == " " * 65
    assert "".join(shown) == " " * 1000


def test_the_filter_wraps_an_asynchronous_stream() -> None:
    async def stream(*parts: str) -> AsyncIterator[str]:
        for part in parts:
            yield part

    async def shown(*parts: str) -> list[str]:
        return [part async for part in SilenceFilter().wrap_async(stream(*parts))]

    assert asyncio.run(shown("NO_", "REPLY", ".")) == []
    assert asyncio.run(shown("NO_", "REPORT")) == ["NO_REPORT"]
    assert asyncio.run(shown("NO_")) == ["NO_"]


def test_the_filter_takes_another_token() -> None:
    assert is_silent("HEARTBEAT_OK", "HEARTBEAT_OK")
    assert list(SilenceFilter("HEARTBEAT_OK").wrap(["HEARTBEAT", "_OK"])) == []
    for token in ("", "NO REPLY"):
        with pytest.raises(ConfigError, match="expected letters, digits and underscores"):
            SilenceFilter(token)

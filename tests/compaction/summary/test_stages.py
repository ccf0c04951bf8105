"""Summaries in stages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memctx import ConfigError
from memctx.compaction.summary import SummaryOptions, chunk_tokens, summarize_in_stages
from memctx.errors import SummaryError

from .models import DEAD, OUTAGE, OVERFLOW, Scripted, failing, within

LIMITS = {"window": 10_000, "max_chunk_tokens": 1_200, "reserve_tokens": 1_000}


def user(text: str, times: int = 1) -> dict[str, Any]:
    return {"role": "user", "content": text * times}


def stages(messages: list[dict[str, Any]], model: Scripted, **options: Any) -> str:
    previous = options.pop("previous_summary", None)
    given = SummaryOptions(**{**LIMITS, **options})
    return asyncio.run(summarize_in_stages(messages, model, given, previous_summary=previous))


def test_a_short_history_is_one_call() -> None:
    model = Scripted()
    assert stages([user("Which port?")], model, previous_summary="Before.") == "<chunk>"
    (request,) = model.requests
    assert request.conversation_text == "[User]: Which port?"
    assert request.previous_summary == "Before."
    assert request.max_tokens == 800


def test_each_chunk_updates_the_summary_so_far() -> None:
    """Three messages are too few for parts, and too many for one chunk."""
    model = Scripted(lambda request: f"({request.previous_summary}+{request.conversation_text[8]})")
    text = stages(
        [user("a", 2_400), user("b", 2_400), user("c", 2_400)], model, previous_summary="0"
    )
    assert text == "(((0+a)+b)+c)"


def test_parts_are_summarized_without_the_previous_summary_and_merged_with_it() -> None:
    model = Scripted(lambda request: f"<{request.kind} {request.conversation_text[8]}>")
    said = [user(letter, 1_500) for letter in "abcd"]
    assert stages(said, model, previous_summary="Before.", instructions=" Be brief ").startswith(
        "<merge"
    )
    assert model.kinds == ["chunk", "chunk", "chunk", "chunk", "merge"]
    *chunks, merge = model.requests
    assert [request.previous_summary for request in chunks] == [
        None,
        "<chunk a>",
        None,
        "<chunk c>",
    ]
    assert merge.previous_summary == "Before."
    assert merge.conversation_text == "[Part 1]:\n<chunk b>\n\n[Part 2]:\n<chunk d>"
    assert {request.instructions for request in model.requests} == {"Be brief"}


@pytest.mark.parametrize(
    ("options", "merges"),
    [({}, 1), ({"parts": 1}, 0), ({"min_messages": 5}, 0), ({"max_chunk_tokens": 99_999}, 0)],
    ids=str,
)
def test_a_history_is_split_by_size_and_count(options: dict[str, int], merges: int) -> None:
    model = Scripted()
    stages([user(letter, 1_500) for letter in "abcd"], model, **options)
    assert model.kinds.count("merge") == merges


def test_oversized_messages_are_named_after_an_overflow() -> None:
    model = within(9_000)
    text = stages([user("a"), user("b", 30_000), user("c")], model)
    assert text.endswith(">\n\n[Large user (~10K tokens) omitted from summary]")
    assert not any("bbb" in request.conversation_text for request in model.requests[-1:])


def test_a_finished_part_is_not_requested_again() -> None:
    """The second try leaves one message out, and the first chunk is the same."""
    model = failing(then="")
    model.rule = lambda request: OVERFLOW if "bbb" in request.conversation_text else "ok"
    said = [user("a", 3_000), user("c"), user("b", 30_000), user("d")]
    stages(said, model, parts=1)
    texts = [request.conversation_text[:9] for request in model.requests]
    assert texts.count("[User]: a") == 1


def test_an_empty_history_needs_no_call() -> None:
    model = Scripted()
    assert stages([], model) == "No prior history."
    assert stages([], model, previous_summary="Before.") == "Before."
    assert stages([{"role": "system", "content": "Be brief."}], model) == "No prior history."
    assert model.requests == []


@pytest.mark.parametrize("error", [OUTAGE, DEAD, OVERFLOW])
def test_a_failure_without_oversized_messages_is_raised(error: SummaryError) -> None:
    with pytest.raises(SummaryError) as caught:
        stages([user("a")], failing(error, then="unused"))
    assert caught.value is error


@pytest.mark.parametrize("answer", ["", "  ", None, 7, b"bytes"])
def test_an_empty_answer_is_a_failure(answer: Any) -> None:
    with pytest.raises(SummaryError, match=r"expected a text|empty text"):
        stages([user("a")], Scripted(lambda _: answer))


@pytest.mark.parametrize(
    "name", ["window", "max_chunk_tokens", "reserve_tokens", "parts", "min_messages"]
)
def test_stage_numbers_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is 0; expected at least 1"):
        stages([user("a")], Scripted(), **{name: 0})


def test_chunks_shrink_with_large_messages_and_never_vanish() -> None:
    assert chunk_tokens([user("a")], 200_000) == 200_000 * 0.4 - 4_096
    assert chunk_tokens([user("a", 150_000)], 200_000) == 200_000 * 0.15 - 4_096
    assert chunk_tokens([user("a")], 4_000) == 800
    assert chunk_tokens([user("a")], 1) == 1


def test_answers_may_not_be_longer_than_any_summary() -> None:
    assert len(stages([user("a")], Scripted(lambda _: "word " * 9_000))) <= 16_000

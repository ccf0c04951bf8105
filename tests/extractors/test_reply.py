"""Reading answers: what is good is kept, nothing else gets through, nothing is quoted."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ExtractionError
from memctx.extractors import Known, Message, Request
from memctx.extractors.reply import LONGEST_CONTENT, read_reply

from .server import fact, facts
from .strategies import answers, good_facts, is_lawful, requests

if TYPE_CHECKING:
    from memctx.knowledge import Draft

REQUEST = Request(
    (Message("user", "a", "s1"), Message("assistant", "b", "s2"), Message("user", "c", "s1")),
    known=(Known("id-1", "config", "x"), Known("id-2", "issue", "y")),
)


@given(answers(), requests, st.booleans())
def test_whatever_is_answered_only_lawful_drafts_come_of_it(
    text: str, request: Request, is_cut: bool
) -> None:
    drafts: tuple[Draft, ...] = ()
    with suppress(ExtractionError):
        drafts, _ = read_reply(text, request, is_cut=is_cut)
    assert len(drafts) <= request.most
    assert all(is_lawful(draft, request) for draft in drafts)


@given(
    st.lists(good_facts, max_size=15),
    st.sampled_from(
        ["%s", "```json\n%s\n```", "```\n%s```", "<think>{a} [1]</think> %s .", "\n\ufeff %s"]
    ),
    st.booleans(),
)
def test_good_facts_come_back_whatever_stands_around_them(
    items: list[dict[str, Any]], around: str, is_ascii: bool
) -> None:
    text = around.replace("%s", json.dumps({"facts": items}, ensure_ascii=is_ascii))
    drafts, problems = read_reply(text, REQUEST)
    assert [draft.content for draft in drafts] == [item["content"].strip() for item in items]
    assert problems == ()


@given(st.lists(good_facts, min_size=1, max_size=5), st.floats(0, 1))
def test_of_an_answer_that_was_cut_the_first_facts_remain(
    items: list[dict[str, Any]], share: float
) -> None:
    text = facts(*items)
    try:
        drafts, _ = read_reply(text[: int(len(text) * share)], REQUEST, is_cut=True)
    except ExtractionError:
        return
    said = [item["content"].strip() for item in items]
    assert [draft.content for draft in drafts] == said[: len(drafts)]


@given(answers())
def test_nothing_of_the_answer_is_quoted(text: str) -> None:
    telltale = "zQ9heron"
    text = text.replace('"', f'"{telltale}', 3) + json.dumps([{telltale: 1}, {"type": telltale}])
    try:
        _, problems = read_reply(text, REQUEST)
    except ExtractionError as error:
        problems = (str(error),)
    assert telltale not in " ".join(problems)


def test_citations_become_sources() -> None:
    cited = facts(
        fact("one", messages=[2]),
        fact("two", messages=["1", 3, 3]),
        fact("three", messages=[99, True]),
        fact("four", messages=None),
    )
    drafts, problems = read_reply(cited, REQUEST)
    assert [draft.sources for draft in drafts] == [("s2",), ("s1",), ("s1", "s2"), ("s1", "s2")]
    assert len(problems) == 2


@pytest.mark.parametrize(
    ("action", "known", "expected"),
    [
        ("add", 0, ("add", None)),
        ("add", 1, ("add", None)),
        ("supersede", 2, ("supersede", "id-2")),
        ("update", "1", ("update", "id-1")),
        ("none", 1, ("none", "id-1")),
        ("delete", 2, ("delete", "id-2")),
        ("update", 0, (None, None)),
        ("supersede", 3, (None, None)),
        ("supersede", "id-1", (None, None)),
        ("explode", 1, (None, None)),
        (None, 1, (None, None)),
    ],
)
def test_actions_keep_to_what_was_given(
    action: object, known: object, expected: tuple[str | None, str | None]
) -> None:
    (draft,), problems = read_reply(facts(fact("x", action=action, known=known)), REQUEST)
    assert (draft.action, draft.target) == expected
    assert bool(problems) == (draft.action is None and action is not None)


def test_documents_are_no_facts() -> None:
    long = facts(fact("x" * (LONGEST_CONTENT + 1)), fact("short", context=["no", "text"]))
    (draft,), problems = read_reply(long, REQUEST)
    assert (draft.content, draft.context) == ("short", None)
    assert [problem.split()[1] for problem in problems] == ["1", "2"]


@pytest.mark.parametrize(
    "text", ['{"a":' * 100_000, "{" * 1_000_000, '{"' * 400_000, "```\n" * 200_000]
)
def test_hostile_answers_are_read_in_no_time(text: str) -> None:
    with pytest.raises(ExtractionError, match="not the JSON"):
        read_reply(text, REQUEST)

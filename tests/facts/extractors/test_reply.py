"""`read_reply`: usable facts are read from any reply, and problems quote nothing."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.errors import ExtractionError
from memctx.facts.extractors import Known, Message, Request
from memctx.facts.extractors.reply import MAX_CONTENT, read_reply

from .server import fact, facts
from .strategies import answers, good_facts, is_valid, requests

if TYPE_CHECKING:
    from memctx.facts import CandidateFact

REQUEST = Request(
    (Message("user", "a", "s1"), Message("assistant", "b", "s2"), Message("user", "c", "s1")),
    known=(Known("id-1", "config", "x"), Known("id-2", "issue", "y")),
)


@given(answers(), requests, st.booleans())
def test_any_reply_gives_only_valid_candidates(text: str, request: Request, is_cut: bool) -> None:
    candidates: tuple[CandidateFact, ...] = ()
    with suppress(ExtractionError):
        candidates, _ = read_reply(text, request, is_cut=is_cut)
    assert len(candidates) <= request.most
    assert all(is_valid(candidate, request) for candidate in candidates)


@given(
    st.lists(good_facts, max_size=15),
    st.sampled_from(
        ["%s", "```json\n%s\n```", "```\n%s```", "<think>{a} [1]</think> %s .", "\n\ufeff %s"]
    ),
    st.booleans(),
)
def test_facts_are_found_in_any_surrounding_text(
    items: list[dict[str, Any]], around: str, is_ascii: bool
) -> None:
    text = around.replace("%s", json.dumps({"facts": items}, ensure_ascii=is_ascii))
    candidates, problems = read_reply(text, REQUEST)
    assert [candidate.content for candidate in candidates] == [
        item["content"].strip() for item in items
    ]
    assert problems == ()


@given(st.lists(good_facts, min_size=1, max_size=5), st.floats(0, 1))
def test_a_truncated_reply_gives_its_first_facts(items: list[dict[str, Any]], share: float) -> None:
    text = facts(*items)
    try:
        candidates, _ = read_reply(text[: int(len(text) * share)], REQUEST, is_cut=True)
    except ExtractionError:
        return
    said = [item["content"].strip() for item in items]
    assert [candidate.content for candidate in candidates] == said[: len(candidates)]


@given(answers())
def test_problems_never_quote_the_reply(text: str) -> None:
    telltale = "zQ9heron"
    text = text.replace('"', f'"{telltale}', 3) + json.dumps([{telltale: 1}, {"type": telltale}])
    try:
        _, problems = read_reply(text, REQUEST)
    except ExtractionError as error:
        problems = (str(error),)
    assert telltale not in " ".join(problems)


def test_cited_messages_become_sources() -> None:
    cited = facts(
        fact("one", messages=[2]),
        fact("two", messages=["1", 3, 3]),
        fact("three", messages=[99, True]),
        fact("four", messages=None),
    )
    candidates, problems = read_reply(cited, REQUEST)
    assert [candidate.sources for candidate in candidates] == [
        ("s2",),
        ("s1",),
        ("s1", "s2"),
        ("s1", "s2"),
    ]
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
def test_actions_need_a_known_fact_as_target(
    action: object, known: object, expected: tuple[str | None, str | None]
) -> None:
    (candidate,), problems = read_reply(facts(fact("x", action=action, known=known)), REQUEST)
    assert (candidate.action, candidate.target) == expected
    assert bool(problems) == (candidate.action is None and action is not None)


def test_long_content_is_not_a_fact() -> None:
    long = facts(fact("x" * (MAX_CONTENT + 1)), fact("short", context=["no", "text"]))
    (candidate,), problems = read_reply(long, REQUEST)
    assert (candidate.content, candidate.context) == ("short", None)
    assert [problem.split()[1] for problem in problems] == ["1", "2"]


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        "{" * 1_000_000,
        '{"' * 400_000,
        '{"a":' * 900 + "[" + "0," * 400_000,
        "```\n" * 200_000,
        "```\n" + "\n" * 900_000,
        "9" * 1_000_000,
    ],
    ids=["nested", "open", "keys", "a list in many", "fences", "an empty fence", "a number"],
)
def test_hostile_replies_are_rejected_quickly(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ExtractionError, match="not the JSON"):
        read_reply(text, REQUEST)
    assert time.process_time() - started < 2.0

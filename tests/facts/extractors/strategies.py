"""Strategies for conversations and for replies of models."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from memctx.facts import FACT_TYPES, CandidateFact
from memctx.facts.extractors import Known, Message, Request

ROLES = ("user", "assistant")

texts = st.text(max_size=60) | st.sampled_from(
    [
        "Zuerst. Dann!\nUnd zuletzt? ",
        "先这样。再那样！\n最后？",
        "e\u0301" * 20,
        "👩‍👩‍👧‍👦" * 5,
        "a b" * 20,
        "\r\n" * 9,
    ]
)
messages = st.builds(
    Message,
    role=st.sampled_from(ROLES),
    text=texts,
    segment=st.integers(0, 20).map(lambda number: f"s{number}"),
)
known = st.builds(
    Known,
    id=st.uuids().map(str),
    type=st.sampled_from(FACT_TYPES),
    content=st.text(min_size=1, max_size=30),
)
requests = st.builds(
    Request,
    messages=st.lists(messages, min_size=1, max_size=6).map(tuple),
    known=st.lists(known, max_size=4).map(tuple),
    most=st.integers(1, 20),
)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
maybe_facts = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(FACT_TYPES) | json_values,
        "content": st.text(max_size=40) | json_values,
        "context": st.text(max_size=40) | json_values,
        "messages": st.lists(st.integers(-1, 9) | json_values, max_size=4) | json_values,
        "action": st.sampled_from(["add", "update", "supersede", "none", "delete"]) | json_values,
        "known": st.integers(-1, 6) | st.just("1") | json_values,
    },
)
good_facts = st.fixed_dictionaries(
    {
        "type": st.sampled_from(FACT_TYPES),
        "content": st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip())),
        "context": st.text(max_size=20),
        "messages": st.just([1]),
        "action": st.just("add"),
        "known": st.just(0),
    }
)


@st.composite
def answers(draw: st.DrawFn) -> str:
    """Generate replies from perfect to absurd."""
    items = draw(st.lists(maybe_facts | json_values, max_size=25))
    top = draw(st.sampled_from([{"facts": items}, items, {"other": items}, items[:1] or None]))
    text = json.dumps(top, ensure_ascii=draw(st.booleans()))
    text = text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text
    text = draw(
        st.sampled_from(["{}", "```json\n{}\n```", "So: {} and more }}", "{}{}", "\ufeff{}"])
    ).replace("{}", text)
    return draw(st.just(text) | st.text())


def is_valid(candidate: CandidateFact, request: Request) -> bool:
    """Return whether a candidate is valid, whatever the model said."""
    segments = {message.segment for message in request.messages}
    ids = {fact.id for fact in request.known}
    needs_target = candidate.action not in {None, "add"}
    return (
        candidate.type in FACT_TYPES
        and bool(candidate.content.strip())
        and candidate.content == candidate.content.strip()
        and 0 < len(candidate.sources) == len(set(candidate.sources))
        and segments.issuperset(candidate.sources)
        and (candidate.target in ids if needs_target else candidate.target is None)
        and candidate.content.encode() is not None
    )

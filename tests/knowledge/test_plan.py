"""`plan`: whose word counts, and what later drafts see of earlier ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.knowledge import Action, Draft, Op, plan

from . import contradictions

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT = Draft("config", "The webhook listens on port 3000", id="port")
TEAM = Draft("decision", "Reviews need two approvals", id="team")
NOT_A_FACT = "f00"


def says(content: str, action: Action | None = None, target: str | None = None) -> Draft:
    return Draft("config", content, action=action, target=target)


def one(draft: Draft, *known: Draft, allow_delete: bool = False) -> Op:
    (op,) = plan([draft], known, allow_delete=allow_delete)
    return op


def after(facts: Sequence[Draft], ops: Sequence[Op]) -> list[Draft]:
    """The facts once the operations are done, as a store would have them."""
    held = {fact.id: fact for fact in facts}
    for op in ops:
        if op.action in {"supersede", "delete"}:
            del held[op.target or ""]
        if op.action in {"add", "supersede"}:
            held[op.draft.id] = op.draft
        if op.action == "update":
            held[op.target or ""] = Draft(op.draft.type, op.draft.content, id=op.target or "")
    return list(held.values())


@pytest.mark.parametrize(
    ("draft", "action", "target", "degraded"),
    [
        (says("The webhook listens on port 8443", "supersede", "port"), "supersede", "port", None),
        (says("The webhook listens on port 3000", "none", "port"), "none", "port", None),
        (
            says("The webhook listens on port 3000 over TLS", "update", "port"),
            "update",
            "port",
            None,
        ),
        (says("Use ruff to lint", "add"), "add", None, None),
        # Nothing changed but the words: the extractor knows better than a rule.
        (says("Port 3000 receives webhook calls", "none", "port"), "none", "port", None),
        # Against the rules.
        (says("The webhook listens on port 8443", "none", "port"), "supersede", "port", "none:"),
        (
            says("The webhook listens on port 8443", "update", "port"),
            "supersede",
            "port",
            "update:",
        ),
        (says("The webhook listens on port 8443", "add"), "supersede", "port", "add:"),
        (says("The webhook listens on port 3000", "add"), "none", "port", "add:"),
        (
            says("the webhook listens on port 3000.", "supersede", "port"),
            "none",
            "port",
            "supersede:",
        ),
        (says("The webhook is signed", "update", "port"), "add", None, "update: a value"),
        (says("The webhook logs to /srv/hook.log", "none", "port"), "add", None, "none: it has a"),
        # There is no such fact, or none is named, or it is about something else.
        (
            says("The webhook listens on port 8443", "update", NOT_A_FACT),
            "supersede",
            "port",
            "update: there",
        ),
        (
            says("Use ruff to lint", "supersede", NOT_A_FACT),
            "add",
            None,
            'supersede: there is no fact "f00"',
        ),
        (says("Use ruff to lint", "none", NOT_A_FACT), "add", None, "none: there is no fact"),
        (says("Use ruff to lint", "none"), "add", None, "none: no fact is named"),
        (says("The webhook listens on port 8443", "supersede"), "supersede", "port", None),
        (says("Use ruff to lint", "supersede", "port"), "add", None, "supersede: it has nothing"),
        # Nothing is deleted unless that is allowed.
        (says("The webhook listens on port 3000", "delete", "port"), "none", "port", "delete: not"),
        (
            says("The webhook no longer listens on port 3000", "delete", "port"),
            "supersede",
            "port",
            "delete: not",
        ),
        (says("   ", "add"), "none", None, "there is nothing in it"),
        (says(""), "none", None, None),
    ],
)
def test_an_extractor_is_believed_where_it_fits(
    draft: Draft, action: Action, target: str | None, degraded: str | None
) -> None:
    op = one(draft, PORT, TEAM)
    assert (op.action, op.target) == (action, target)
    assert (op.degraded or "").startswith(degraded or "")
    assert (op.degraded is None) == (degraded is None)
    assert op.reason
    assert op.draft is draft


def test_deleting_can_be_allowed() -> None:
    draft = says("The webhook listens on port 3000", "delete", "port")
    assert one(draft, PORT, allow_delete=True).action == "delete"
    missing = says("The webhook listens on port 3000", "delete", NOT_A_FACT)
    assert one(missing, PORT, allow_delete=True).action == "none"


def test_later_drafts_see_what_became_of_earlier_ones() -> None:
    drafts = [
        Draft("config", "The webhook listens on port 8443", id="a"),
        Draft("config", "The webhook listens on port 8443", id="b"),
        Draft("config", "The webhook listens on port 9000", id="c"),
        Draft("config", "The webhook listens on port 9000 and speaks HTTP/2", id="d"),
        Draft("config", "The webhook listens on port 9000", id="e"),
    ]
    ops = plan(drafts, [PORT])
    expected = [
        ("supersede", "port"),
        ("none", "a"),
        ("supersede", "a"),
        ("update", "c"),
        ("none", "c"),
    ]
    assert [(op.action, op.target) for op in ops] == expected


def test_a_target_that_was_replaced_means_what_replaced_it() -> None:
    """An extractor names the fact it was shown, which an earlier draft of its answer has replaced."""
    drafts = [
        Draft(
            "config", "The webhook listens on port 8443", id="a", action="supersede", target="port"
        ),
        Draft(
            "config", "The webhook listens on port 9000", id="b", action="supersede", target="port"
        ),
        Draft(
            "config",
            "The webhook listens on port 9000 over TLS",
            id="c",
            action="update",
            target="port",
        ),
    ]
    ops = plan(drafts, [PORT])
    assert [(op.action, op.target) for op in ops] == [
        ("supersede", "port"),
        ("supersede", "a"),
        ("update", "b"),
    ]
    assert [op.degraded for op in ops] == [None, None, None]


def test_a_vague_correction_replaces_nothing_by_chance() -> None:
    api, metrics = says("The api port is 3000"), says("The metrics port is 9090")
    assert one(says("The port is 8080"), api).action == "supersede"
    assert one(says("The port is 8080"), api, metrics).action == "add"


def test_the_nearest_fact_is_replaced() -> None:
    facts = [
        Draft("config", "The staging api listens on port 3000", id="staging"),
        Draft("config", "The production api listens on port 4000", id="production"),
        Draft("config", "The api retries 3 times", id="retries"),
    ]
    op = one(says("The production api listens on port 4001"), *facts)
    assert (op.action, op.target) == ("supersede", "production")


def test_an_unknown_action_is_named() -> None:
    with pytest.raises(ConfigError, match=r'action must be "add", .* not "drop"'):
        plan([Draft("config", "x", action="drop")], [])  # type: ignore[arg-type]


def test_no_drafts_no_facts_and_odd_texts() -> None:
    assert plan([], [PORT]) == []
    for text in (
        "\ud800",
        "\0",
        "`",
        "=",
        "-",
        "->",
        "。",
        "不",
        "(" * 500,
        "a" * 100_000,
        "١٢٣",
        "ﬁ ①",
    ):
        assert one(says(text)).action == "add"
        assert one(says(text), says(text)).action == "none"


VOCABULARY = """
the api server port timeout uses is not never for in on because Redis Postgres service-a getUser and or , .
config/app.yaml limit MB seconds must retries deploy Friday enabled disabled instead of from to changed with staging
production `serve max least TODO will done before after depends without one 端口 是 超时 不 使用 缓存 改为 从 而不是 秒
、 ポート は です ない 포트 는 사용하지 않는다 was previously
"""
WORDS = st.sampled_from(VOCABULARY.split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=10).map(" ".join)
NUMBERS = st.integers(2, 99_999)


@given(
    before=SENTENCES,
    after=SENTENCES,
    numbers=st.lists(NUMBERS, min_size=2, max_size=2, unique=True),
)
def test_another_number_in_a_copied_sentence_supersedes(
    before: str, after: str, numbers: list[int]
) -> None:
    old, new = (says(f"{before} {number} {after}") for number in numbers)
    op = one(new, old)
    assert (op.action, op.target) == ("supersede", old.id)


@given(
    st.sampled_from(contradictions.pairs()), st.text(alphabet="0123456789", min_size=5, max_size=9)
)
def test_a_value_that_is_not_known_is_never_passed_over(
    pair: contradictions.Pair, digits: str
) -> None:
    for content in (f"{pair.old} {digits}", f"{digits} {pair.old}", f"{pair.old} (`x{digits}`)"):
        assert one(says(content), says(pair.old)).action != "none"


@given(SENTENCES, SENTENCES, st.sampled_from(["not", "never", "不", "don't", "no"]))
def test_a_negation_is_never_passed_over(before: str, after: str, negation: str) -> None:
    assert one(says(f"{before} {negation} {after}"), says(f"{before} {after}")).action != "none"


@given(
    st.lists(SENTENCES, max_size=6),
    st.lists(
        st.tuples(SENTENCES, st.sampled_from([None, "add", "update", "supersede", "none"])),
        max_size=6,
    ),
    st.randoms(),
)
def test_planning_again_changes_nothing(
    contents: list[str], said: list[tuple[str, Action | None]], random: object
) -> None:
    """What is still held of a batch once it is done is known when the batch is read again."""
    facts = [Draft("config", content, id=f"fact {at}") for at, content in enumerate(contents)]
    targets: list[str | None] = [None, *(fact.id for fact in facts)]
    drafts = [
        Draft("config", content, action=action, id=f"draft {at}", target=random.choice(targets))  # type: ignore[attr-defined]
        for at, (content, action) in enumerate(said)
    ]
    ops = plan(drafts, facts)
    held = after(facts, ops)
    contents_held = {fact.content for fact in held}
    again = [Draft("config", draft.content) for draft in drafts if draft.content in contents_held]
    assert {op.action for op in plan(again, held)} <= {"none"}


@given(st.lists(SENTENCES, max_size=8), st.lists(SENTENCES, max_size=8))
def test_a_plan_can_always_be_carried_out(contents: list[str], new: list[str]) -> None:
    """Every target is a fact that is held at that time, and no id is given twice."""
    facts = [says(content) for content in contents]
    drafts = [says(content) for content in new]
    ops = plan(drafts, facts)
    assert [op.draft for op in ops] == drafts
    after(facts, ops)
    assert ops == plan(drafts, facts)

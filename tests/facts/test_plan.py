"""`plan`: actions of extractors and rules, and the order of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import ConfigError
from memctx.facts import Action, CandidateFact, PlanStep, plan

from . import contradictions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

PORT = CandidateFact("config", "The webhook listens on port 3000", id="port")
TEAM = CandidateFact("decision", "Reviews need two approvals", id="team")
NOT_A_FACT = "f00"


def says(content: str, action: Action | None = None, target: str | None = None) -> CandidateFact:
    return CandidateFact("config", content, action=action, target=target)


def one(candidate: CandidateFact, *known: CandidateFact, allow_delete: bool = False) -> PlanStep:
    (step,) = plan([candidate], known, allow_delete=allow_delete)
    return step


def after(facts: Sequence[CandidateFact], steps: Sequence[PlanStep]) -> list[CandidateFact]:
    """Return the facts of a store once the steps are done."""
    held = {fact.id: fact for fact in facts}
    for step in steps:
        if step.action in {"supersede", "delete"}:
            del held[step.target or ""]
        if step.action in {"add", "supersede"}:
            held[step.candidate.id] = step.candidate
        if step.action == "update":
            held[step.target or ""] = CandidateFact(
                step.candidate.type, step.candidate.content, id=step.target or ""
            )
    return list(held.values())


@pytest.mark.parametrize(
    ("candidate", "action", "target", "degraded"),
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
        # Only the wording changed: the extractor knows better than a rule.
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
            "update: no fact has the id",
        ),
        (
            says("Use ruff to lint", "supersede", NOT_A_FACT),
            "add",
            None,
            'supersede: no fact has the id "f00"',
        ),
        (says("Use ruff to lint", "none", NOT_A_FACT), "add", None, "none: no fact has the id"),
        (says("Use ruff to lint", "none"), "add", None, "none: no target is named"),
        (says("The webhook listens on port 8443", "supersede"), "supersede", "port", None),
        (says("Use ruff to lint", "supersede", "port"), "add", None, "supersede: unrelated to"),
        # Nothing is deleted unless that is allowed.
        (says("The webhook listens on port 3000", "delete", "port"), "none", "port", "delete: not"),
        (
            says("The webhook no longer listens on port 3000", "delete", "port"),
            "supersede",
            "port",
            "delete: not",
        ),
        (says("   ", "add"), "none", None, "the content is empty"),
        (says(""), "none", None, None),
    ],
)
def test_extractor_actions_are_taken_where_they_fit(
    candidate: CandidateFact, action: Action, target: str | None, degraded: str | None
) -> None:
    step = one(candidate, PORT, TEAM)
    assert (step.action, step.target) == (action, target)
    assert (step.degraded or "").startswith(degraded or "")
    assert (step.degraded is None) == (degraded is None)
    assert step.reason
    assert step.candidate is candidate


def test_delete_is_taken_only_if_allowed() -> None:
    candidate = says("The webhook listens on port 3000", "delete", "port")
    assert one(candidate, PORT, allow_delete=True).action == "delete"
    missing = says("The webhook listens on port 3000", "delete", NOT_A_FACT)
    assert one(missing, PORT, allow_delete=True).action == "none"


def test_later_candidates_see_the_effect_of_earlier_ones() -> None:
    candidates = [
        CandidateFact("config", "The webhook listens on port 8443", id="a"),
        CandidateFact("config", "The webhook listens on port 8443", id="b"),
        CandidateFact("config", "The webhook listens on port 9000", id="c"),
        CandidateFact("config", "The webhook listens on port 9000 and speaks HTTP/2", id="d"),
        CandidateFact("config", "The webhook listens on port 9000", id="e"),
    ]
    steps = plan(candidates, [PORT])
    expected = [
        ("supersede", "port"),
        ("none", "a"),
        ("supersede", "a"),
        ("update", "c"),
        ("none", "c"),
    ]
    assert [(step.action, step.target) for step in steps] == expected


def test_a_replaced_target_resolves_to_its_replacement() -> None:
    """An extractor names the fact it was shown, which an earlier candidate of its answer has replaced."""
    candidates = [
        CandidateFact(
            "config", "The webhook listens on port 8443", id="a", action="supersede", target="port"
        ),
        CandidateFact(
            "config", "The webhook listens on port 9000", id="b", action="supersede", target="port"
        ),
        CandidateFact(
            "config",
            "The webhook listens on port 9000 over TLS",
            id="c",
            action="update",
            target="port",
        ),
    ]
    steps = plan(candidates, [PORT])
    assert [(step.action, step.target) for step in steps] == [
        ("supersede", "port"),
        ("supersede", "a"),
        ("update", "b"),
    ]
    assert [step.degraded for step in steps] == [None, None, None]


def test_an_ambiguous_correction_replaces_no_fact() -> None:
    api, metrics = says("The api port is 3000"), says("The metrics port is 9090")
    assert one(says("The port is 8080"), api).action == "supersede"
    assert one(says("The port is 8080"), api, metrics).action == "add"


def test_the_nearest_fact_is_replaced() -> None:
    facts = [
        CandidateFact("config", "The staging api listens on port 3000", id="staging"),
        CandidateFact("config", "The production api listens on port 4000", id="production"),
        CandidateFact("config", "The api retries 3 times", id="retries"),
    ]
    step = one(says("The production api listens on port 4001"), *facts)
    assert (step.action, step.target) == ("supersede", "production")


def test_an_unknown_action_is_named_in_the_error() -> None:
    with pytest.raises(ConfigError, match=r'action must be "add", .* not "drop"'):
        plan([CandidateFact("config", "x", action="drop")], [])  # type: ignore[arg-type]


def test_plans_of_no_candidates_and_odd_texts() -> None:
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
def test_another_number_in_the_same_sentence_supersedes(
    before: str, after: str, numbers: list[int]
) -> None:
    old, new = (says(f"{before} {number} {after}") for number in numbers)
    step = one(new, old)
    assert (step.action, step.target) == ("supersede", old.id)


@given(
    st.sampled_from(contradictions.pairs()), st.text(alphabet="0123456789", min_size=5, max_size=9)
)
def test_a_new_value_is_never_planned_as_none(pair: contradictions.Pair, digits: str) -> None:
    for content in (f"{pair.old} {digits}", f"{digits} {pair.old}", f"{pair.old} (`x{digits}`)"):
        assert one(says(content), says(pair.old)).action != "none"


@given(SENTENCES, SENTENCES, st.sampled_from(["not", "never", "不", "don't", "no"]))
def test_a_negation_is_never_planned_as_none(before: str, after: str, negation: str) -> None:
    assert one(says(f"{before} {negation} {after}"), says(f"{before} {after}")).action != "none"


@given(
    st.lists(SENTENCES, max_size=6),
    st.lists(
        st.tuples(SENTENCES, st.sampled_from([None, "add", "update", "supersede", "none"])),
        max_size=6,
    ),
    st.randoms(),
)
def test_planning_the_same_candidates_again_changes_nothing(
    contents: list[str], said: list[tuple[str, Action | None]], random: Random
) -> None:
    """Facts of a batch that are still active are known when the batch is planned again."""
    facts = [
        CandidateFact("config", content, id=f"fact {at}") for at, content in enumerate(contents)
    ]
    targets: list[str | None] = [None, *(fact.id for fact in facts)]
    candidates = [
        CandidateFact(
            "config", content, action=action, id=f"candidate {at}", target=random.choice(targets)
        )
        for at, (content, action) in enumerate(said)
    ]
    steps = plan(candidates, facts)
    held = after(facts, steps)
    contents_held = {fact.content for fact in held}
    again = [
        CandidateFact("config", candidate.content)
        for candidate in candidates
        if candidate.content in contents_held
    ]
    assert {step.action for step in plan(again, held)} <= {"none"}


@given(st.lists(SENTENCES, max_size=8), st.lists(SENTENCES, max_size=8))
def test_every_plan_step_has_an_existing_target(contents: list[str], new: list[str]) -> None:
    """Every target is a fact that is held at that time, and no id is given twice."""
    facts = [says(content) for content in contents]
    candidates = [says(content) for content in new]
    steps = plan(candidates, facts)
    assert [step.candidate for step in steps] == candidates
    after(facts, steps)
    assert steps == plan(candidates, facts)

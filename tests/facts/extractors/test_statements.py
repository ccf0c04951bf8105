"""`RulesExtractor` over plain statements, and over sentences that state nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from memctx.facts.extractors.rules import find_facts
from memctx.protocols import Message

STATEMENTS = tomllib.loads(Path(__file__).with_name("statements.toml").read_text("utf-8"))


def find(sentences: list[str], role: str = "user") -> list[str]:
    """Return the sentences in which a fact is found."""
    return [text for text in sentences if list(find_facts(Message(role, text, "seg-1")))]


@pytest.mark.parametrize("part", STATEMENTS)
def test_plain_statements_are_found(part: str) -> None:
    facts = STATEMENTS[part]["facts"]
    found = find(facts)
    print(f"{part}: {len(found)} of {len(facts)}", *({*facts} - {*found}), sep="\n  missed ")
    assert len(facts) >= 24
    assert len(found) >= (0.75 if part == "last" else 0.95) * len(facts)


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("part", STATEMENTS)
def test_sentences_that_state_nothing_are_skipped(part: str, role: str) -> None:
    assert len(STATEMENTS[part]["not_facts"]) >= 24
    assert find(STATEMENTS[part]["not_facts"], role) == []


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("I prefer short answers without bullet points.", "preference"),
        ("Please always answer in German.", "preference"),
        ("我喜欢简短的回答。", "preference"),
        ("My name is Jonas and I work on the payments team.", "note"),
        ("Priya owns the billing service.", "note"),
        ("The release date is 2026-03-12.", "config"),
        ("Feature branches are squashed before merging.", "decision"),
        ("The login test fails because the cookie lacks SameSite.", "issue"),
        ("The rate limiter refactoring is done.", "task_state"),
    ],
)
def test_statements_have_the_type_that_a_person_would_choose(text: str, type: str) -> None:
    ((found, content),) = find_facts(Message("user", text, "seg-1"))
    assert (found, content) == (type, text.rstrip(".。"))


def test_a_model_s_remarks_are_no_facts() -> None:
    remarks = [
        "The function is in src/main.rs.",
        "The build takes 3 minutes.",
        "I prefer the second option.",
    ]
    assert find(remarks, "assistant") == []

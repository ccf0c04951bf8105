"""Results within a session are those of an embedded store with the same data."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import memctx

if TYPE_CHECKING:
    from replica.conftest import Hosts

SUBJECTS = "webhook ledger parcel invoice scheduler cache gateway 支払い 배포 部署 tokenizer replica".split()
PROPERTIES = "port path owner timeout region version queue shard retry limit".split()
QUESTIONS = 500


def _messages(count: int) -> list[dict[str, str]]:
    drawn = random.Random(11)
    return [
        {
            "role": drawn.choice(["user", "assistant"]),
            "content": f"The {drawn.choice(PROPERTIES)} of {drawn.choice(SUBJECTS)} {number % 97} is"
            f" {drawn.randrange(100_000)}, as {drawn.choice(SUBJECTS)} needs it",
        }
        for number in range(count)
    ]


def _questions() -> list[str]:
    drawn = random.Random(12)
    return [
        f"which {drawn.choice(PROPERTIES)} has {drawn.choice(SUBJECTS)} {drawn.randrange(97)}?"
        for _ in range(QUESTIONS)
    ]


def test_500_questions_give_the_same_ids_in_the_same_order(hosts: Hosts) -> None:
    messages = _messages(3_000)
    answers: list[list[list[str]]] = []
    with memctx.open(hosts.root / "embedded", session_id="s1", embedding_model="hash") as memory:
        memory.archive(messages)
        answers.append([_ids(memory, question) for question in _questions()])
    with hosts.open("a") as memory:
        memory.archive(messages)
        answers.append([_ids(memory, question) for question in _questions()])
    with hosts.open("b") as memory:  # streamed from the server
        answers.append([_ids(memory, question) for question in _questions()])
    assert all(answers[0])
    assert answers[1] == answers[0]
    assert answers[2] == answers[0]


def _ids(memory: memctx.Memory, question: str) -> list[str]:
    return [hit.segment.id for hit in memory.search(question, limit=10)]

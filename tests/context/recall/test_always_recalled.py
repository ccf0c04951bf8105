"""Recall in every turn that asks for what memory has; otherwise the report says why not."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import memctx

if TYPE_CHECKING:
    from pathlib import Path

PORT = "The payment webhook listens on port 8443."
CORRECTED = "Correction: the payment webhook listens on port 9443."
QUESTION = "On which port does the payment webhook listen?"
SERVICES = [
    f"{name} service in {town}"
    for name, town in product(
        ("billing", "export", "search", "mailer", "gateway"),
        ("Oslo", "Lima", "Cairo", "Delhi", "Kyoto", "Quito"),
    )
]


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def opened(path: Path, **settings: Any) -> memctx.Memory:
    given: dict[str, Any] = {"session_id": "s1", "context_window": 200_000}
    return memctx.open(path, **(given | settings))


def call(number: int) -> list[dict[str, Any]]:
    """Return a step of a tool loop: a call, and its result."""
    name = {"name": "read", "arguments": "{}"}
    calls = [{"id": f"c{number}", "type": "function", "function": name}]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number} " * 50},
    ]


def holds(turn: memctx.Turn, text: str) -> bool:
    return text in json.dumps(turn.messages[:-1])


@pytest.mark.parametrize("reply", [5, 100, 400])
def test_a_long_chat_without_pauses_recalls_to_its_end(tmp_path: Path, reply: int) -> None:
    """Its blocks fill the cap many times over, and no trim makes room for them."""
    talk: list[dict[str, Any]] = []
    with opened(tmp_path) as memory:
        for number, name in enumerate(SERVICES):
            text = f"The port of the {name} is {7_000 + number}. {'The team knows why. ' * 20}"
            memory.archive([said("user", text)])
        memory.reembed()
        for number, name in enumerate(SERVICES):
            talk.append(said("user", f"What is the port of the {name}?"))
            turn = memory.prepare(talk)
            assert holds(turn, str(7_000 + number)), f"question {number}: {turn.report}"
            assert not turn.report.trimmed
            talk.append(said("assistant", "That is what it is. " * reply))


@pytest.mark.parametrize("placement", ["stable", "tail", "head"])
@pytest.mark.parametrize("cache_ttl", [300.0, 0.0])
def test_the_same_prompt_again_recalls_what_was_learned_in_between(
    tmp_path: Path, placement: str, cache_ttl: float
) -> None:
    """As a daily job sends it, each day in a process of its own."""
    settings = {"placement": placement, "trim": {"cache_ttl": cache_ttl}}
    for day, text in enumerate((PORT, CORRECTED)):
        with opened(tmp_path, **settings) as memory:
            memory.archive([said("user", text)])
            memory.reembed()
        with opened(tmp_path, **settings) as memory:
            turn = memory.prepare([said("user", QUESTION)])
            assert holds(turn, text), f"day {day}: {turn.report}"
            memory.observe({"input_tokens": 60}, turn=turn, answer=[said("assistant", "I see.")])


def test_the_same_prompt_again_recalls_a_fact_that_was_corrected_in_between(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        fact = memory.facts.add("config", PORT)
        assert holds(memory.prepare([said("user", QUESTION)]), "8443")
        memory.facts.supersede(fact.id, "The payment webhook listens on port 9443.")
        turn = memory.prepare([said("user", QUESTION)])
        assert holds(turn, "9443")
        assert not holds(turn, "8443")


def test_the_same_request_again_is_sent_as_before(tmp_path: Path) -> None:
    """After a failed call, say. Only this request has been archived in between, and the model sees it."""
    with opened(tmp_path) as memory:
        memory.archive([said("user", PORT)])
        first = memory.prepare([said("user", QUESTION)])
        assert holds(first, PORT)
        again = memory.prepare([said("user", QUESTION)])
        assert again.messages == first.messages
        assert not again.report.recalled
    with opened(tmp_path) as memory:
        assert memory.prepare([said("user", QUESTION)]).messages == first.messages


def test_steps_of_a_tool_loop_send_the_same_bytes(tmp_path: Path) -> None:
    """Each archives its own messages, which is nothing that a search could newly find."""
    with opened(tmp_path) as memory:
        memory.archive([said("user", PORT)])
        talk = [said("user", QUESTION)]
        before = memory.prepare(talk).messages
        for number in range(6):
            answer = call(number)
            memory.observe({"input_tokens": 60}, answer=answer[:1], format="openai")
            talk += answer
            turn = memory.prepare(talk, format="openai")
            assert turn.messages[: len(before)] == before
            assert not turn.report.left_out, "it searched"
            before = turn.messages


def test_a_step_of_a_tool_loop_recalls_what_another_process_archived(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, opened(tmp_path, session_id="s1") as other:
        talk = [said("user", QUESTION)]
        assert not memory.prepare(talk).report.recalled
        memory.search(QUESTION)  # waits until the turn is archived
        other.archive([said("user", PORT)])
        talk += call(1)
        assert holds(memory.prepare(talk), PORT)


def test_a_step_whose_block_would_rewrite_much_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, opened(tmp_path, session_id="s1") as other:
        talk = [said("user", QUESTION), *(message for step in range(40) for message in call(step))]
        memory.prepare(talk)
        memory.search(QUESTION)  # waits until the turn is archived
        other.archive([said("user", PORT)])
        turn = memory.prepare([*talk, *call(41)])
        assert not holds(turn, PORT)
        assert {item.reason for item in turn.report.left_out} == {"prompt cache"}
        talk += [*call(41), said("assistant", "Hm."), said("user", f"Once more: {QUESTION}")]
        assert holds(memory.prepare(talk), PORT), "the next question gets it"


def test_an_unsure_result_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path, recall={"min_score": 1.0}) as memory:
        memory.archive([said("user", PORT)])
        report = memory.prepare([said("user", "Which port was it again?")]).report
        assert not report.recalled
        assert [item.reason for item in report.left_out] == ["not sure"]
        assert "not sure" in str(report)


@pytest.mark.parametrize(("text", "reason"), [("thanks", "asks for nothing"), ("y", "characters")])
def test_a_turn_that_does_not_search_says_why(tmp_path: Path, text: str, reason: str) -> None:
    with opened(tmp_path) as memory:
        memory.archive([said("user", PORT)])
        report = memory.prepare([said("user", text)]).report
        assert any(reason in line for line in report.degraded), report.degraded
    with opened(tmp_path, auto_recall=False) as memory:
        assert not memory.prepare(
            [said("user", text), said("assistant", "Hm."), said("user", "k")]
        ).report.degraded


def test_blocks_make_way_for_nothing_when_the_host_has_compacted(tmp_path: Path) -> None:
    """The cache is lost from the head on, so the next question gets its room without another break."""
    talk: list[dict[str, Any]] = []
    with opened(tmp_path, context_window=16_000) as memory:
        for number, name in enumerate(SERVICES):
            memory.archive(
                [
                    said(
                        "user",
                        f"The port of the {name} is {7_000 + number}. {'So it is. ' * 30}",
                    )
                ]
            )
        memory.reembed()
        full = 0
        for name in SERVICES[:8]:
            talk += [said("user", f"What is the port of the {name}?")]
            full = memory.prepare(talk).report.tokens.recalled
            talk += [said("assistant", "I see.")]
        talk = [said("user", "Summary: ports."), *talk[4:]]
        talk.append(said("user", f"What is the port of the {SERVICES[-1]}?"))
        turn = memory.prepare(talk)
        assert holds(turn, str(7_000 + len(SERVICES) - 1))
        assert turn.report.tokens.recalled < full

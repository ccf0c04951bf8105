"""The four spellings of tool calls, in every format that has them: read, paired, repaired, shortened and trimmed."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import memctx
from memctx.messages import detect, edit, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SPELLINGS = ("tool_use", "toolCall", "toolUse", "functionCall")
ARGUMENTS = ("input", "arguments", "args")
Message = dict[str, Any]


def typed(spelling: str, arguments: str, call_id: str) -> Message:
    """Return a block that is a call by its type."""
    return {"type": spelling, "id": call_id, "name": "read", arguments: {"path": call_id}}


def wrapped(spelling: str, arguments: str, call_id: str) -> Message:
    """Return a block that is a call by the name of its only field."""
    key = "toolUseId" if spelling == "toolUse" else "id"
    return {spelling: {key: call_id, "name": "read", arguments: {"path": call_id}}}


def pi_result(call_id: str, text: str) -> Message:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": content}


def openclaw_result(call_id: str, text: str) -> Message:
    return {"role": "toolResult", "toolUseId": call_id, "content": text}


def chat_result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def anthropic_result(call_id: str, text: str) -> Message:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {"role": "user", "content": [block]}


def camel_result(call_id: str, text: str) -> Message:
    block = {"type": "toolResult", "toolUseId": call_id, "content": [{"text": text}]}
    return {"role": "user", "content": [block]}


def bedrock_result(call_id: str, text: str) -> Message:
    return {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": call_id, "content": [{"text": text}]}}],
    }


def gemini_result(call_id: str, text: str) -> Message:
    response = {"id": call_id, "name": "read", "response": {"output": text}}
    return {"role": "user", "parts": [{"functionResponse": response}]}


# By the format: who calls, the field with the blocks, how a block is written, and how results are.
HOSTS: dict[str, tuple[str, str, str, list[Any]]] = {
    "pi": ("assistant", "content", "typed", [pi_result, openclaw_result]),
    "openai": ("assistant", "content", "typed", [chat_result]),
    "anthropic": ("assistant", "content", "typed", [anthropic_result, camel_result]),
    "bedrock": ("assistant", "content", "both", [bedrock_result]),
    "gemini": ("model", "parts", "both", [gemini_result]),
}


class Case(NamedTuple):
    """A host, how it writes calls, and how it writes results."""

    format: str
    write: Callable[[str, str, str], Message]
    spelling: str
    arguments: str
    result: Callable[[str, str], Message]

    def __str__(self) -> str:
        write, result = self.write.__name__, self.result.__name__
        return f"{self.format}-{write}-{self.spelling}-{self.arguments}-{result}"

    def call(self, call_id: str) -> Message:
        """Return a call's block."""
        return self.write(self.spelling, self.arguments, call_id)

    def talk(self) -> list[Message]:
        """Return two calls in turn, each with its result."""
        model, field, _, _ = HOSTS[self.format]
        is_untyped = self.format in {"gemini", "bedrock"}
        said: list[Message] = [
            {"role": "user", field: [{"text": "Which port?"}] if is_untyped else "Which port?"}
        ]
        for call_id in ("c1", "c2"):
            said += [{"role": model, field: [self.call(call_id)]}, self.result(call_id, LONG)]
        return said


CASES = [
    Case(name, write, spelling, arguments, result)
    for name, (_, _, ways, results) in HOSTS.items()
    for write in ((typed, wrapped) if ways == "both" else (typed,))
    for spelling, arguments in itertools.product(SPELLINGS, ARGUMENTS)
    for result in results
]
LONG = "8443 " * 2_000


cases = pytest.mark.parametrize("case", CASES, ids=str)


def pairing(messages: Sequence[Any], format: Any = None) -> list[str]:
    """Return the problems of calls and results."""
    codes = (problem.code for problem in memctx.validate(messages, format))
    return [code for code in codes if "result" in code or "call" in code]


@cases
def test_calls_of_every_spelling_are_read_and_paired(case: Case) -> None:
    said = case.talk()
    assert detect(said) == case.format
    records = [record for record in read(said) if record.role == "tool"]
    assert [record.metadata["tool"] for record in records] == [
        {"name": "read", "callId": call_id, "kind": kind}
        for call_id in ("c1", "c2")
        for kind in ("call", "result")
    ]
    assert records[0].text == 'read {"path":"c1"}'
    assert records[1].text == LONG
    assert memctx.validate(said) == []
    assert memctx.repair(said).messages is said


@cases
def test_a_lost_result_is_made_up_and_a_lost_call_drops_its_result(case: Case) -> None:
    said = case.talk()
    before = copy.deepcopy(said)
    cut = [*said[:2], *said[3:], dict(said[0])]
    assert "unanswered-call" in pairing(cut)
    repaired = memctx.repair(cut)
    assert [change.code for change in repaired.changes] == ["added-result"]
    assert repaired.messages[1] is said[1]
    assert pairing(repaired.messages) == []
    orphan = memctx.repair([said[0], said[2], *said[3:]])
    assert [change.code for change in orphan.changes] == ["dropped-orphan"]
    assert said == before


@cases
def test_results_are_shortened_in_the_hosts_spelling(case: Case) -> None:
    said = case.talk()
    assert edit.replace_result(said[2], 0, "short", case.format) == case.result("c1", "short")


@cases
def test_a_turn_trims_units_whole_and_leaves_the_rest_as_it_is(case: Case, tmp_path: Path) -> None:
    said = case.talk()
    with memctx.open(tmp_path, session_id="s", context_window=4_000) as memory:
        turn = memory.prepare(said)
    assert turn.report.repaired == ()
    # What is protected takes more than this window; nothing else goes wrong.
    assert all(error.startswith("over the limit") for error in turn.report.errors)
    assert pairing(turn.messages, case.format) == []
    assert [message for message in turn.messages if message in said[1::2]] == said[1::2]
    trimmed = memctx.context.smart_trim(said, "port", safe_limit=5_000, protected_recent=0)
    assert [said.index(message) for message in trimmed.trimmed] == [1, 2]


def test_a_pi_session_keeps_all_its_results(tmp_path: Path) -> None:
    """Twenty of twenty, where everything fits."""
    said: list[Message] = [{"role": "user", "content": "go"}]
    for number in range(20):
        spelling = SPELLINGS[number % 4]
        said.append(
            {
                "role": "assistant",
                "content": [typed(spelling, "input", f"c{number}")],
                "stopReason": "toolUse",
            }
        )
        said.append(pi_result(f"c{number}", f"result {number}"))
    with memctx.open(tmp_path, session_id="s", context_window=100_000) as memory:
        turn = memory.prepare(said)
    assert turn.messages == said


def test_a_result_among_blocks_is_kept_where_results_are_messages() -> None:
    """Its call counts as answered, and neither is touched."""
    said = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [typed("toolCall", "arguments", "c1")],
            "stopReason": "toolUse",
        },
        anthropic_result("c1", "8443"),
        {"role": "user", "content": "and?"},
    ]
    for message_format in ("pi", "openai"):
        assert memctx.validate(said, message_format) == []
        assert memctx.repair(said, message_format).messages is said
        assert [record.text for record in read(said, message_format) if record.role == "tool"] == [
            'read {"path":"c1"}',
            "8443",
        ]


def test_calls_that_a_framework_left_in_the_content_too_are_not_called_twice() -> None:
    """LangChain keeps the items of the Responses API beside the calls that it made of them."""
    echo = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "read",
        "arguments": "{}",
    }
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": [echo], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "8443"},
        {"role": "user", "content": "Well?"},
    ]
    assert memctx.validate(said) == []
    assert memctx.repair(said).messages is said

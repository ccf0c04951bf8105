"""Blocks and items of types that are not known: kept whole, and nothing is repaired that may belong to them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.messages import read

if TYPE_CHECKING:
    from pathlib import Path

USER = {"role": "user", "content": "go"}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
NEW = {"type": "new_thing", "payload": {"a": 1}}


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


CARRIED: dict[str, list[Any]] = {
    "anthropic": [USER, model(NEW, CALL), user(RESULT, NEW), model({"type": "text", "text": "so"})],
    "openai": [
        {"role": "user", "content": [{"type": "text", "text": "go"}, NEW]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "new", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": [NEW]},
    ],
    "responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "new_item", "id": "n1", "payload": 1},
        {"type": "foo_call", "call_id": "c1", "action": {}},
        {"type": "foo_call_output", "call_id": "c1", "output": "x"},
        {"type": "mcp_approval_response", "approval_request_id": "n1", "approve": True},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "go"}, {"newData": {"x": 1}}]},
        {"role": "model", "parts": [{"newData": {"x": 2}}, {"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "go"}, {"newData": {"x": 1}}]},
        {"role": "assistant", "content": [{"text": "so"}]},
        {"role": "user", "content": [{"cachePoint": {"type": "default"}}, {"text": "on"}]},
    ],
    "pi": [
        USER,
        {"role": "assistant", "content": [NEW, {"type": "toolCall", "id": "c", "name": "f"}]},
        {"role": "toolResult", "toolCallId": "c", "toolName": "f", "content": []},
        {"type": "new_line", "id": "7", "parentId": "6", "timestamp": "2026-01-01T00:00:00Z"},
    ],
}


@pytest.mark.parametrize("format", CARRIED)
def test_new_types_are_carried_through_a_turn_untouched(format: str, tmp_path: Path) -> None:
    said = CARRIED[format]
    before = copy.deepcopy(said)
    assert memctx.validate(said) == []
    assert memctx.repair(said).messages is said
    with memctx.open(tmp_path, session_id="s") as memory:
        turn = memory.prepare(said)
    assert turn.report.format == format
    assert all(sent is given for sent, given in zip(turn.messages, said, strict=True))
    assert said == before


LEFT_ALONE: dict[str, list[Any]] = {
    "a call beside one": [USER, model(NEW, CALL), USER],
    "a result beside one that came late": [USER, model(CALL), USER, user(RESULT, NEW)],
    "an orphan beside one": [USER, model({"type": "text", "text": "x"}), user(NEW, RESULT)],
    "a result for one": [USER, model({**NEW, "id": "t1"}), user(RESULT)],
    "one that answers a call": [USER, model(CALL), user({**NEW, "tool_use_id": "t1"})],
    "a new kind of result": [USER, model(CALL), user({**RESULT, "type": "foo_tool_result"})],
    "a new kind of call": [
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "foo_call", "call_id": "c1", "action": {}},
        USER,
    ],
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_nothing_is_repaired_that_may_belong_to_a_new_type(name: str) -> None:
    said = LEFT_ALONE[name]
    assert memctx.repair(said).messages is said


def test_a_problem_beside_a_new_type_is_still_reported() -> None:
    codes = [problem.code for problem in memctx.validate([USER, model(NEW, CALL), USER])]
    assert codes == ["unanswered-call"]


def test_the_rest_of_the_list_is_still_repaired() -> None:
    other = {**CALL, "id": "t2"}
    said = [USER, model(NEW, CALL), user(RESULT), model(other), USER]
    repaired = memctx.repair(said)
    assert [(change.code, change.id) for change in repaired.changes] == [("added-result", "t2")]
    assert repaired.messages[:4] == said[:4]


def test_results_of_an_unknown_block_are_removed_with_it() -> None:
    said = [
        USER,
        model({**NEW, "id": "n1"}),
        user({"type": "tool_result", "tool_use_id": "n1", "content": "x" * 4000}),
        model({"type": "text", "text": "done"}),
    ]
    trimmed = memctx.context.smart_trim(said, "", safe_limit=1, protected_recent=0)
    assert {said.index(message) for message in trimmed.trimmed} in ({1, 2}, {1, 2, 3}, {3})


def test_a_new_type_is_not_archived_and_the_text_beside_it_is() -> None:
    assert [record.text for record in read([user(NEW, {"type": "text", "text": "port"})])] == [
        "port"
    ]

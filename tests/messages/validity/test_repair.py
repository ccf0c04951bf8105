"""`memctx.repair`: valid afterwards, once and for all, and nothing real is lost."""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

import pydantic
import pytest
from hypothesis import given, settings

import memctx
from memctx._core import MISSING_RESULT as MISSING
from memctx.messages.part import make_like

from . import oracle, strategies, wire

if TYPE_CHECKING:
    from collections.abc import Sequence

# Problems that repair leaves: it changes no ids and not the order of a host's messages.
LEFT = {
    "duplicate-call",
    "call-not-after-user",
    "roles-alternate",
    "first-not-user",
    "empty-content",
}


def repair(messages: list[wire.Message], format: str) -> memctx.messages.Repaired:
    return memctx.repair(messages, format)  # type: ignore[arg-type]


def result_ids(messages: Sequence[wire.Message], format: str) -> list[str | None]:
    talk = [oracle.read(message, format) for message in messages]
    return [call_id for _, call_id in oracle.all_results(talk)]


@settings(max_examples=300, deadline=None)
@given(strategies.any_format(strategies.broken))
@pytest.mark.slow
def test_repaired_messages_are_valid_and_stay_as_they_are(
    drawn: tuple[str, list[wire.Message]],
) -> None:
    message_format, messages = drawn
    before = copy.deepcopy(messages)
    repaired = repair(messages, message_format)
    assert messages == before
    after = list(repaired.messages)
    talk = [oracle.read(message, message_format) for message in after]
    running = oracle.turn_of(talk, len(talk) - 1, message_format) if talk else 0
    left = {
        (place, code)
        for place, code in oracle.problems(after, message_format)
        if code not in LEFT and not (code == "unanswered-call" and place >= running)
    }
    assert left == set()
    again = repair(after, message_format)
    assert again.messages is after
    assert again.changes == ()


@settings(max_examples=200, deadline=None)
@given(strategies.any_format(strategies.broken))
def test_repair_loses_no_answer_and_names_every_loss(drawn: tuple[str, list[wire.Message]]) -> None:
    message_format, messages = drawn
    repaired = repair(messages, message_format)
    talk = [oracle.read(message, message_format) for message in messages]
    given_ids = result_ids(messages, message_format)
    dropped = [change for change in repaired.changes if change.code.startswith("dropped")]
    added = [change.id for change in repaired.changes if change.code == "added-result"]
    lost = [change.id for change in dropped if change.code != "dropped-reasoning"]
    assert all(change.removed is not None for change in dropped)
    after = result_ids(repaired.messages, message_format)
    assert Counter(after) + Counter(lost) == Counter(given_ids) + Counter(added)
    needless = [code for _, code in oracle.result_problems(talk, message_format)]
    assert len(lost) == sum(code in {"orphan-result", "duplicate-result"} for code in needless)


@settings(max_examples=100, deadline=None)
@given(strategies.any_format(strategies.whole))
def test_valid_messages_are_returned_unchanged(drawn: tuple[str, list[wire.Message]]) -> None:
    message_format, messages = drawn
    repaired = repair(messages, message_format)
    assert repaired.messages is messages
    assert repaired.changes == ()


@settings(max_examples=100, deadline=None)
@given(strategies.any_format(strategies.broken))
def test_messages_of_the_model_are_never_changed(drawn: tuple[str, list[wire.Message]]) -> None:
    """Thinking in it is signed: a copy with one character changed would be refused."""
    message_format, messages = drawn
    repaired = repair(messages, message_format)
    dropped = {change.index for change in repaired.changes if change.code == "dropped-reasoning"}

    def of_the_model(all_messages: Sequence[wire.Message]) -> list[int]:
        return [id(one) for one in all_messages if oracle.read(one, message_format).side == "model"]

    left = [message for index, message in enumerate(messages) if index not in dropped]
    assert of_the_model(repaired.messages) == of_the_model(left)


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_call_without_a_result_is_answered_by_an_error(format: str) -> None:
    messages = [wire.user("go", format), *wire.calls(["a"], format), wire.user("well?", format)]
    repaired = repair(messages, format)
    assert [(change.index, change.code, change.id) for change in repaired.changes] == [
        (1, "added-result", "a")
    ]
    assert MISSING in str(repaired.messages[2])
    assert "well?" in str(repaired.messages[-1])
    assert len(repaired.messages) == (3 if format in wire.IN_BLOCKS else 4)


@pytest.mark.parametrize("format", ["anthropic", "bedrock", "gemini"])
def test_results_go_to_one_message_in_front_of_its_text(format: str) -> None:
    field = strategies.field_of(format)
    messages = [
        wire.user("go", format),
        *wire.calls(["a", "b"], format),
        *wire.results(["a"], format, "one"),
        *wire.results(["b"], format, "two"),
    ]
    repaired = repair(messages, format)
    assert repaired.messages[2][field] == [
        wire.result_block("a", "done", format),
        wire.result_block("b", "done", format),
        wire.user("one", format)[field][0],
    ]
    assert repaired.messages[3] == wire.user("two", format)


@pytest.mark.parametrize("format", ["anthropic", "bedrock", "gemini"])
def test_a_message_of_nothing_but_lost_results_holds_its_place_among_the_roles(format: str) -> None:
    messages = [
        *wire.results(["x"], format),
        wire.assistant("one", format),
        *wire.results(["y"], format),
        wire.assistant("two", format),
    ]
    repaired = repair(messages, format)
    assert memctx.validate(repaired.messages, format) == []  # type: ignore[arg-type]
    assert [change.removed for change in repaired.changes] == [
        wire.result_block("x", "done", format),
        wire.result_block("y", "done", format),
    ]
    assert repaired.messages[1] is messages[1]
    follows = [wire.user("go", format), *messages[2:3], wire.assistant("so", format)]
    assert repair(follows, format).messages == [follows[0], follows[2]], (
        "where roles do not need it"
    )


def test_a_cache_mark_is_not_left_alone() -> None:
    orphan = wire.result_block("x", "done", "bedrock")
    message = {"role": "user", "content": [orphan, {"cachePoint": {"type": "default"}}]}
    repaired = repair(
        [wire.user("go", "bedrock"), wire.assistant("so", "bedrock"), message], "bedrock"
    )
    assert "[memctx]" in repaired.messages[2]["content"][0]["text"]


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_real_result_replaces_a_placeholder(format: str) -> None:
    """The tool was slower than the repair."""
    asked = [wire.user("go", format), *wire.calls(["a"], format), wire.user("well?", format)]
    fixed = repair(asked, format).messages
    late = [*fixed, wire.assistant("hm", format), *wire.results(["a"], format, text="slow")]
    repaired = repair(late, format)
    assert MISSING not in str(repaired.messages)
    assert "slow" in str(repaired.messages[-1 if format == "responses" else 2])
    codes = {change.code for change in repaired.changes}
    assert codes == {"dropped-duplicate"} | ({"moved-result"} if format != "responses" else set())


def test_a_custom_tool_is_answered_in_its_own_kind() -> None:
    call = {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"}
    repaired = repair(
        [wire.user("go", "responses"), call, wire.user("well?", "responses")], "responses"
    )
    assert repaired.messages[2]["type"] == "custom_tool_call_output"


def test_a_placeholder_of_pi_has_the_time_of_its_call() -> None:
    call = {**wire.calls(["a"], "pi")[0], "timestamp": 1770000000000}
    repaired = repair([wire.user("go", "pi"), call, wire.user("well?", "pi")], "pi")
    assert repaired.messages[2]["timestamp"] == 1770000000000


def test_calls_of_gemini_without_ids_get_placeholders_without_ids() -> None:
    call = {"functionCall": {"name": "read", "args": {}}}
    answer = {"functionResponse": {"name": "read", "response": {"output": "x"}}}
    messages = [
        wire.user("go", "gemini"),
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [answer]},
    ]
    repaired = repair(messages, "gemini")
    stand_in = {"name": "read", "response": {"error": MISSING}}
    assert repaired.messages[2]["parts"] == [answer, {"functionResponse": stand_in}]
    assert memctx.validate(repaired.messages, "gemini") == []


def test_turns_that_were_cut_off_are_left_alone() -> None:
    call = {**wire.calls(["a", "b"], "pi")[0], "stopReason": "aborted"}
    messages = [wire.user("go", "pi"), call, *wire.results(["a"], "pi"), wire.user("again", "pi")]
    assert repair(messages, "pi").messages is messages


def test_lines_of_a_session_file_stay_lines() -> None:
    calls = {"type": "message", "id": "1", "message": wire.calls(["a"], "pi")[0]}
    orphan = {"type": "message", "id": "2", "message": wire.results(["b"], "pi")[0]}
    result = {"type": "message", "id": "3", "message": wire.results(["a"], "pi")[0]}
    repaired = repair([calls, orphan, result], "pi")
    assert repaired.messages == [calls, result]
    assert repaired.changes[0].removed is orphan


class Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    text: str | None = None
    function_call: dict[str, Any] | None = pydantic.Field(None, alias="functionCall")
    function_response: dict[str, Any] | None = pydantic.Field(None, alias="functionResponse")


class Content(pydantic.BaseModel):
    role: str
    parts: list[Part]


def test_models_are_repaired_with_models() -> None:
    messages = [
        Content.model_validate({"role": role, "parts": [said]})
        for role, said in (
            ("user", {"text": "go"}),
            ("model", {"functionCall": {"name": "read", "args": {}}}),
            ("model", {"text": "so"}),
        )
    ]
    repaired = memctx.repair(messages, "gemini")
    assert isinstance(repaired.messages[2], Content)
    (stand_in,) = repaired.messages[2].parts
    assert stand_in.function_response == {"name": "read", "response": {"error": MISSING}}
    assert repaired.messages[3] is messages[2]


class Stubborn(pydantic.BaseModel):
    """A class that takes any message for the model's."""

    role: str
    content: list[Any]

    @pydantic.field_validator("role")
    @classmethod
    def _assistant(cls, _: str) -> str:
        return "assistant"


class Forgetful(pydantic.BaseModel):
    """A class whose blocks keep only their text."""

    class Block(pydantic.BaseModel):
        type: str
        text: str = ""
        id: str | None = None
        name: str | None = None
        input: dict[str, Any] | None = None

    role: str
    content: str | list[Block]


@pytest.mark.parametrize("kind", [Stubborn, Forgetful])
def test_a_made_up_result_is_no_message_of_a_class_that_cannot_hold_it(
    kind: type[pydantic.BaseModel],
) -> None:
    call = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    said = [("user", "go"), ("assistant", [call]), ("assistant", [{"type": "text", "text": "x"}])]
    messages: list[Any] = [
        kind.model_validate(
            {
                "role": role,
                "content": content if role != "user" else [{"type": "text", "text": "go"}],
            }
        )
        for role, content in said
    ]
    if kind is Stubborn:
        messages[0] = {"role": "user", "content": "go"}
    added = memctx.repair(messages).messages[2]
    assert type(added) is dict
    assert (added["role"], added["content"][0]["tool_use_id"]) == ("user", "t")
    assert type(make_like(messages[1], added)) is dict

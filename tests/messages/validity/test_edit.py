"""Changed copies of messages: what must change does, everything else and every given message stays."""

from __future__ import annotations

import copy
import dataclasses
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pydantic
import pytest

from memctx import MessageFormatError
from memctx._core import MISSING_RESULT as MISSING
from memctx._core import MessageReader
from memctx.messages import edit

from . import wire

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}


class Block(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    type: str


class Said(pydantic.BaseModel):
    role: str
    content: Any
    id: str | None = None


class Part(pydantic.BaseModel):
    """As the Google SDK has it: every kind of part has every field."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: bytes | None = None
    function_call: dict[str, Any] | None = None
    function_response: dict[str, Any] | None = None


class Content(pydantic.BaseModel):
    role: str
    parts: list[Part]


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    role: str
    content: Any


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_result_reads_a_text(format: str) -> None:
    message = wire.results(["a"], format)[0]
    before = copy.deepcopy(message)
    shorter = edit.replace_result(message, 0, "short", format)
    assert shorter == wire.results(["a"], format, text="short")[0]
    assert list(shorter) == list(message)
    assert message == before


@pytest.mark.parametrize("format", wire.IN_BLOCKS)
def test_only_the_addressed_result_changes(format: str) -> None:
    message = wire.results(["a", "b", "c"], format, said="and?")[0]
    field = "parts" if format == "gemini" else "content"
    shorter = edit.replace_result(message, 1, "short", format)
    assert shorter[field][1] == wire.result_block("b", "short", format)
    for place in (0, 2, 3):
        assert shorter[field][place] is message[field][place]


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_missing_result_cannot_be_edited(format: str) -> None:
    with pytest.raises(MessageFormatError, match="no result number 1"):
        edit.replace_result(wire.results(["a"], format)[0], 1, "short", format)
    with pytest.raises(MessageFormatError, match="no result number 0"):
        edit.replace_result(wire.user("hi", format), 0, "short", format)


def test_pictures_in_a_result_stay_where_they_were() -> None:
    first = {"type": "text", "text": "one"}
    last = {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}
    block = {"type": "tool_result", "tool_use_id": "a", "content": [PNG, first, PNG, last], "x": 1}
    message = {"role": "user", "content": [block], "note": "kept"}
    content = edit.replace_result(message, 0, "short", "anthropic")["content"][0]["content"]
    text = {"type": "text", "text": "short", "cache_control": {"type": "ephemeral"}}
    assert content == [PNG, text, PNG]
    block["content"] = [PNG]
    content = edit.replace_result(message, 0, "short", "anthropic")["content"][0]["content"]
    assert content == [{"type": "text", "text": "short"}, PNG]


@pytest.mark.parametrize(
    ("message", "format", "expected"),
    [
        ({"role": "bashExecution", "command": "ls", "output": "long"}, "pi", {"output": "short"}),
        (
            {
                "type": "shell_call_output",
                "call_id": "a",
                "output": [{"stdout": "x", "stderr": "y"}],
            },
            "responses",
            {"output": [{"stdout": "short", "stderr": ""}]},
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}] * 2},
            "openai",
            {"content": [{"type": "text", "text": "short"}]},
        ),
    ],
)
def test_results_in_other_forms_are_edited(
    message: wire.Message, format: str, expected: wire.Message
) -> None:
    assert edit.replace_result(message, 0, "short", format) == {**message, **expected}


def test_a_screenshot_cannot_read_a_text() -> None:
    output = {"type": "computer_screenshot", "image_url": "data:"}
    message = {"type": "computer_call_output", "call_id": "a", "output": output}
    assert edit.replace_result(message, 0, "short", "responses") == message


@pytest.mark.parametrize("key", ["output", "result", "error"])
def test_a_response_of_gemini_keeps_the_key_of_its_text(key: str) -> None:
    block = {"functionResponse": {"name": "read", "response": {key: "long", "more": 1}}}
    answer = edit.replace_result({"role": "user", "parts": [block]}, 0, "short", "gemini")
    assert answer["parts"][0]["functionResponse"]["response"] == {key: "short"}


def test_json_of_bedrock_becomes_text() -> None:
    block = {"toolResult": {"toolUseId": "a", "content": [{"json": {"a": 1}}, {"image": {}}]}}
    answer = edit.replace_result({"role": "user", "content": [block]}, 0, "short", "bedrock")
    assert answer["content"][0]["toolResult"]["content"] == [{"text": "short"}, {"image": {}}]


@pytest.mark.parametrize(
    ("thinking", "format"),
    [
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, "anthropic"),
        ({"type": "redacted_thinking", "data": "x"}, "anthropic"),
        ({"text": "hm", "thought": True, "thoughtSignature": "s"}, "gemini"),
        ({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, "bedrock"),
        ({"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}, "pi"),
    ],
)
def test_thinking_goes_and_all_else_stays(thinking: wire.Message, format: str) -> None:
    field = "parts" if format == "gemini" else "content"
    message = wire.calls(["a"], format, "Reading.")[0]
    assert edit.remove_thinking(message, format) is message
    thoughtful = {**message, field: [thinking, *message[field]], "unknown": 1}
    before = copy.deepcopy(thoughtful)
    assert edit.remove_thinking(thoughtful, format) == {**message, "unknown": 1}
    assert thoughtful == before
    assert edit.remove_thinking({**message, field: [thinking]}, format) is None


def test_thinking_beside_the_content_of_a_chat_message_goes() -> None:
    """A gateway carries another provider's signed thinking along; a text without a signature binds to nothing."""
    message = {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": None,
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    }
    assert edit.remove_thinking(message, "openai") is None
    answer = edit.remove_thinking({**message, "content": "hi"}, "openai")
    assert answer == {"role": "assistant", "reasoning_content": "hm", "content": "hi"}


def test_items_of_reasoning_go_whole() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    assert edit.remove_thinking(reasoning, "responses") is None
    call = wire.calls(["a"], "responses")[0]
    assert edit.remove_thinking(call, "responses") is call


def test_signatures_of_calls_stay() -> None:
    """Gemini refuses a call without its signature; a thought it does not miss."""
    call = {**wire.calls(["a"], "gemini")[0]["parts"][0], "thoughtSignature": "s"}
    message = {"role": "model", "parts": [{"text": "hm", "thought": True}, call]}
    assert edit.remove_thinking(message, "gemini")["parts"] == [call]


def test_a_cache_mark_alone_is_no_content() -> None:
    thinking = {"reasoningContent": {"redactedContent": b"x"}}
    message = {"role": "assistant", "content": [thinking, {"cachePoint": {"type": "default"}}]}
    assert edit.remove_thinking(message, "bedrock") is None


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_block_goes_in_and_comes_out_again(format: str) -> None:
    message = wire.user("Which port?", format)
    before = copy.deepcopy(message)
    field = "parts" if format == "gemini" else "content"
    longer = edit.add_text_block(message, "recalled", format)
    assert [block["text"] for block in longer[field]] == ["recalled", "Which port?"]
    assert message == before
    shorter = edit.remove_blocks(longer, lambda text: text == "recalled", format)
    assert [block["text"] for block in shorter[field]] == ["Which port?"]
    assert edit.remove_blocks(longer, lambda _: False, format) is longer
    assert edit.user_message("Which port?", format)["role"] == "user"


@pytest.mark.parametrize("format", wire.IN_BLOCKS)
def test_a_block_stands_behind_results(format: str) -> None:
    message = wire.results(["a", "b"], format, said="and?")[0]
    field = "parts" if format == "gemini" else "content"
    longer = edit.add_text_block(message, "recalled", format)[field]
    assert longer[:2] == message[field][:2]
    assert longer[2]["text"] == "recalled"
    assert longer[3:] == message[field][2:]


@pytest.mark.parametrize("format", ["openai", "responses", "pi"])
def test_a_result_is_no_place_for_a_block(format: str) -> None:
    with pytest.raises(MessageFormatError, match="a user's message only"):
        edit.add_text_block(wire.results(["a"], format)[0], "recalled", format)


def test_text_that_is_a_whole_message_is_removed_too() -> None:
    message = {"role": "user", "content": "recalled"}
    assert edit.remove_blocks(message, lambda text: text == "recalled", "openai")["content"] == ""


@pytest.mark.parametrize("format", wire.FORMATS)
def test_two_of_one_role_become_one(format: str) -> None:
    field = "parts" if format == "gemini" else "content"
    first, second = wire.user("one", format), {**wire.user("two", format), "more": 1}
    one = edit.merge(first, second, format)
    assert [block["text"] for block in one[field]] == ["one", "two"]
    assert one["role"] == "user"
    assert one["more"] == 1
    with pytest.raises(MessageFormatError, match="expected two of one role"):
        edit.merge(first, wire.assistant("no", format), format)


@pytest.mark.parametrize("format", wire.IN_BLOCKS)
def test_results_come_first_in_merged_messages(format: str) -> None:
    field = "parts" if format == "gemini" else "content"
    results = wire.results(["a"], format)[0]
    one = edit.merge(wire.user("wait", format), results, format)
    assert one[field] == [*results[field], *wire.user("wait", format)[field]]


def test_calls_of_chat_messages_are_merged_too() -> None:
    one, two = wire.calls(["a"], "openai")[0], wire.calls(["b"], "openai", "so")[0]
    both = edit.merge(one, two, "openai")
    assert [call["id"] for call in both["tool_calls"]] == ["a", "b"]
    assert both["content"] == [{"type": "text", "text": "so"}]
    text = edit.merge(
        {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}, "responses"
    )
    assert {block["type"] for block in text["content"]} == {"output_text"}


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_missing_result_names_its_call_and_is_marked(format: str) -> None:
    expected = copy.deepcopy(wire.results(["a"], format, text=MISSING)[0])
    if format == "anthropic":
        expected["content"][0]["is_error"] = True
    if format == "gemini":
        expected["parts"][0]["functionResponse"]["response"] = {"error": MISSING}
    if format == "bedrock":
        expected["content"][0]["toolResult"]["status"] = "error"
    if format == "pi":
        expected["isError"] = True
    assert edit.missing_result("a", "read", format) == expected


def test_a_missing_result_of_a_custom_tool_has_its_type() -> None:
    answer = edit.missing_result("a", "read", "responses", kind="custom_tool_call")
    assert answer["type"] == "custom_tool_call_output"
    assert "id" not in edit.missing_result(None, "read", "gemini")["parts"][0]["functionResponse"]


def test_models_are_copied_as_models() -> None:
    thinking = Block(type="thinking", thinking="hm", signature="s")  # type: ignore[call-arg]
    text = Block(type="text", text="hi")  # type: ignore[call-arg]
    message = Said(role="assistant", content=[thinking, text], id="m1")
    short = edit.remove_thinking(message, "anthropic")
    assert isinstance(short, Said)
    assert short.content == [text]
    assert short.id == "m1"
    assert message.content == [thinking, text]
    longer = edit.add_text_block(Said(role="user", content=[text]), "recalled", "anthropic")
    assert [type(block) for block in longer.content] == [Block, Block]


def test_parts_of_the_google_sdk_are_edited() -> None:
    content = Content(
        role="model",
        parts=[
            Part(text="hm", thought=True, thought_signature=b"s"),
            Part(function_call={"name": "read", "args": {}}, thought_signature=b"t"),
        ],
    )
    assert edit.remove_thinking(content, "gemini").parts == content.parts[1:]
    response = {"id": None, "name": "read", "response": {"result": "long"}}
    answer = Content(role="user", parts=[Part(function_response=response)])
    changed = edit.replace_result(answer, 0, "short", "gemini")
    assert isinstance(changed.parts[0], Part)
    assert changed.parts[0].function_response == {**response, "response": {"result": "short"}}
    assert answer.parts[0].function_response == response
    longer = edit.add_text_block(answer, "recalled", "gemini")
    assert longer.parts == [*answer.parts, Part(text="recalled")]


@pytest.mark.parametrize("make", [SimpleNamespace, Frozen])
def test_objects_with_attributes_are_copied(make: Any) -> None:
    text = SimpleNamespace(type="text", text="hi")
    message = make(role="user", content=[text])
    longer = edit.add_text_block(message, "recalled", "anthropic")
    assert isinstance(longer, make)
    assert longer.content == [{"type": "text", "text": "recalled"}, text]
    assert message.content == [text]


def test_other_mappings_become_dictionaries_in_the_same_order() -> None:
    message = MappingProxyType({"content": "hi", "role": "user", "x": 1})
    longer = edit.add_text_block(message, "recalled", "openai")
    assert list(longer) == ["content", "role", "x"]
    assert message["content"] == "hi"


def test_a_line_of_a_session_file_is_edited_inside() -> None:
    line = {"type": "message", "id": "e1", "message": wire.results(["a"], "pi")[0]}
    before = copy.deepcopy(line)
    changed = edit.replace_result(line, 0, "short", "pi")
    assert changed == {**line, "message": wire.results(["a"], "pi", text="short")[0]}
    assert line == before


@pytest.mark.parametrize("format", wire.FORMATS)
def test_results_are_counted_as_the_reader_counts_them(format: str) -> None:
    """The results that pruning plans by number are edited by number."""
    messages = [*wire.calls(["a", "b"], format), *wire.results(["a", "b"], format)]
    changed = edit.replace_result(messages[-1], int(format in wire.IN_BLOCKS), "short", format)
    rows = MessageReader().read([*messages[:-1], changed], format).records()  # type: ignore[arg-type]
    texts = [text for row in rows for _, text, _, _ in row]
    assert texts[-2:] == ["done", "short"]

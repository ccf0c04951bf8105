"""`memctx.validate` against an oracle that reads the rules off the wire."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings

import memctx

from . import oracle, strategies, wire


def codes(messages: list[wire.Message], format: str) -> list[tuple[int, str]]:
    return sorted((found.index, found.code) for found in memctx.validate(messages, format))  # type: ignore[arg-type]


@settings(max_examples=400, deadline=None)
@given(strategies.any_format(strategies.broken))
@pytest.mark.slow
def test_validate_finds_what_the_oracle_finds(drawn: tuple[str, list[wire.Message]]) -> None:
    message_format, messages = drawn
    before = copy.deepcopy(messages)
    assert codes(messages, message_format) == oracle.problems(messages, message_format)
    assert messages == before


@settings(max_examples=100, deadline=None)
@given(strategies.any_format(strategies.whole))
def test_valid_messages_have_no_problem(drawn: tuple[str, list[wire.Message]]) -> None:
    message_format, messages = drawn
    assert codes(messages, message_format) == []


@settings(max_examples=100, deadline=None)
@given(strategies.any_format(strategies.whole))
def test_a_format_need_not_be_named(drawn: tuple[str, list[wire.Message]]) -> None:
    """Every whole conversation with a call shows what it is."""
    message_format, messages = drawn
    format_shows = any(name in str(messages) for name in ("call_0", "id_0"))
    assert memctx.validate(messages) == [] or not format_shows
    assert message_format in wire.FORMATS


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_running_turn_is_a_call_without_a_result(format: str) -> None:
    messages = [wire.user("go", format), *wire.calls(["a"], format)]
    (problem,) = memctx.validate(messages, format)  # type: ignore[arg-type]
    assert problem == memctx.messages.Problem(
        1, "unanswered-call", 'a tool call without a result (id "a")', "a"
    )


def test_an_answer_that_was_begun_is_no_problem() -> None:
    """A last message of the assistant's is what it shall go on with."""
    messages = [wire.user("A poem", "anthropic"), {"role": "assistant", "content": "Roses"}]
    assert memctx.validate(messages, "anthropic") == []


def test_calls_of_gemini_without_ids_are_counted_off() -> None:
    call = {"functionCall": {"name": "read", "args": {}}}
    answer = {"functionResponse": {"name": "read", "response": {"output": "x"}}}
    messages = [
        wire.user("go", "gemini"),
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [answer, answer]},
    ]
    assert codes(messages, "gemini") == []
    messages[2] = {"role": "user", "parts": [answer]}
    (problem,) = memctx.validate(messages, "gemini")
    assert (problem.index, problem.code, problem.id) == (1, "unanswered-call", None)
    messages[2] = {"role": "user", "parts": [answer] * 3}
    (problem,) = memctx.validate(messages, "gemini")
    assert (problem.index, problem.code, problem.id) == (2, "orphan-result", None)


def test_tools_of_the_provider_are_not_validated() -> None:
    """Call and result of a server's tool stand in one message of the assistant's."""
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    said = {"type": "text", "text": "so"}
    messages = [
        wire.user("go", "anthropic"),
        {"role": "assistant", "content": [search, found, said]},
    ]
    assert memctx.validate([*messages, wire.user("more", "anthropic")]) == []
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
    items = [wire.user("go", "responses"), dict(strategies.REASONING), item]
    assert memctx.validate([*items, wire.assistant("so", "responses")]) == []


def test_unknown_blocks_are_not_validated() -> None:
    items = [
        wire.user("go", "responses"),
        dict(strategies.REASONING),
        {"type": "item_reference", "id": "msg_1"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"},
    ]
    assert memctx.validate(items) == []


def test_commands_of_the_user_need_no_call() -> None:
    bash = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0}
    assert memctx.validate([wire.user("go", "pi"), bash, wire.assistant("so", "pi")], "pi") == []


def test_legacy_function_calls_are_not_validated() -> None:
    """They had no ids, and OpenAI never asked for their results."""
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    answer = {"role": "function", "name": "f", "content": "x"}
    for messages in ([call, answer, call, wire.user("so", "openai")], [answer], [call]):
        assert memctx.validate(messages, "openai") == []
        assert memctx.repair(messages, "openai").messages is messages


def test_a_result_that_names_no_call_is_refused() -> None:
    messages = [*wire.calls(["a"], "openai"), {"role": "tool", "content": "x"}]
    for judge in (memctx.validate, memctx.repair):
        with pytest.raises(
            memctx.MessageFormatError, match=r"^message 1 .* tool_call_id is missing"
        ):
            judge(messages, "openai")


def test_bad_arguments_are_named() -> None:
    with pytest.raises(memctx.MessageFormatError, match="expected a list of messages, not str"):
        memctx.validate("hello")
    with pytest.raises(memctx.MessageFormatError, match=r"message 0 \(int\) is not understood"):
        memctx.validate([1])
    with pytest.raises(memctx.ConfigError, match="format"):
        memctx.validate([], "klingon")  # type: ignore[arg-type]

"""Reading in every format: objects as well as dictionaries, times, and input that is no message."""

from __future__ import annotations

import copy
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memctx import ConfigError, MessageFormatError
from memctx.messages import FORMATS, FormatName, Record, detect, read, read_each

from . import test_anthropic, test_bedrock, test_gemini, test_openai, test_pi

CONVERSATIONS = {
    "anthropic": test_anthropic.CONVERSATION,
    "openai": test_openai.CHAT,
    "responses": test_openai.ITEMS,
    "gemini": test_gemini.CONTENTS,
    "bedrock": test_bedrock.CONVERSATION,
    "pi": test_pi.SESSION,
}


class Model(BaseModel, extra="allow"):
    """An SDK's model of a dictionary: known and unknown fields as attributes."""


def modeled(value: Any, kind: type) -> Any:
    """Return the same value with objects instead of dictionaries."""
    if isinstance(value, dict):
        return kind(**{key: modeled(item, kind) for key, item in value.items()})
    return [modeled(item, kind) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", [SimpleNamespace, Model])
@pytest.mark.parametrize("format", CONVERSATIONS)
def test_objects_read_like_dictionaries(format: str, kind: type) -> None:
    conversation = CONVERSATIONS[format]
    objects = modeled(conversation, kind)
    assert detect(objects) == detect(conversation) == format
    assert read(objects) == read(conversation)


@pytest.mark.parametrize("format", CONVERSATIONS)
def test_reading_changes_nothing(format: str) -> None:
    before = copy.deepcopy(CONVERSATIONS[format])
    read(CONVERSATIONS[format])
    assert CONVERSATIONS[format] == before


@pytest.mark.parametrize("format", CONVERSATIONS)
def test_every_message_has_a_list_of_records(format: str) -> None:
    conversation = CONVERSATIONS[format]
    each = read_each(conversation)
    assert len(each) == len(conversation)
    assert [record for records in each for record in records] == read(conversation)


def test_the_format_can_be_given() -> None:
    message = {"role": "tool", "content": "done", "tool_call_id": "c"}
    with pytest.raises(MessageFormatError, match='role is "tool"; expected user, assistant'):
        read([message], "anthropic")
    assert [record.role for record in read([message], "openai")] == ["tool"]
    with pytest.raises(ConfigError, match=r'format must be "anthropic", "openai", .*, not "gpt"'):
        read([message], "gpt")  # type: ignore[arg-type]


def test_every_format_has_a_name_a_record_and_a_reader() -> None:
    assert set(FORMATS) == set(get_args(FormatName))
    with pytest.raises(ConfigError) as refused:
        read([], "gpt")  # type: ignore[arg-type]
    assert set(FORMATS) == set(re.findall(r'"(\w+)"', str(refused.value))) - {"gpt"}


@pytest.mark.parametrize("messages", ["text", b"bytes", None, 7, {"role": "user"}, {1}, iter([])])
def test_messages_that_are_no_list_are_refused(messages: Any) -> None:
    kind = type(messages).__name__
    with pytest.raises(MessageFormatError, match=f"^expected a list of messages, not {kind}$"):
        read(messages)


@pytest.mark.parametrize("wrong", ["text", None, 7, ["user", "hi"], object(), ("user", "hi")])
def test_a_list_with_other_values_is_refused(wrong: Any) -> None:
    """The message says which item, what it is, and what was expected."""
    expected = "is not understood: role is missing; expected user, assistant, system or developer"
    with pytest.raises(MessageFormatError) as caught:
        read([{"role": "user", "content": "hi"}, wrong])
    assert str(caught.value).startswith(f"message 1 ({type(wrong).__name__}) {expected}; pass ")


@pytest.mark.parametrize("messages", [[], ()])
def test_an_empty_list_has_no_records(messages: Any) -> None:
    assert read(messages) == []


MOMENT = 1_770_000_000_000.0


@pytest.mark.parametrize(
    ("given_as", "read_as"),
    [
        (1_770_000_000_000, MOMENT),
        (1_770_000_000_000.5, MOMENT + 0.5),
        (1_770_000_000, MOMENT),  # seconds
        ("2026-02-02T02:40:00Z", MOMENT),
        ("2026-02-02T02:40:00", MOMENT),  # no zone is UTC
        ("2026-02-02T03:40:00.000+01:00", MOMENT),
        (datetime(2026, 2, 2, 2, 40, tzinfo=UTC), MOMENT),
        ("yesterday", None),
        ("", None),
        ("0001-01-01", None),
        (True, None),
        (0, None),
        (-5, None),
        (1e300, None),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
        ([], None),
    ],
)
@pytest.mark.parametrize("format", get_args(FormatName))
def test_messages_keep_their_own_time(
    format: FormatName, given_as: Any, read_as: float | None
) -> None:
    message = {"role": "user", "content": "hello", "timestamp": given_as}
    assert read([message], format) == [Record("user", "hello", read_as)]


@pytest.mark.parametrize("name", ["timestamp", "created_at", "createdAt"])
@pytest.mark.parametrize("format", get_args(FormatName))
def test_the_time_of_a_message_has_several_names(format: FormatName, name: str) -> None:
    message = {"role": "user", "content": "hello", name: "2026-02-02T02:40:00Z"}
    assert read([message], format) == [Record("user", "hello", MOMENT)]
    assert read([SimpleNamespace(**message)], format) == [Record("user", "hello", MOMENT)]


@pytest.mark.parametrize("format", get_args(FormatName))
def test_lone_surrogates_are_read_as_the_store_writes_them(format: FormatName) -> None:
    """JSON text is text; half a surrogate pair is no character, and its replacement is stored."""
    text = "half \ud83d of a pair"
    expected = Record("user", "half \N{REPLACEMENT CHARACTER} of a pair")
    assert read([{"role": "user", "content": text}], format) == [expected]


def test_a_call_with_arguments_that_are_no_json_is_kept() -> None:
    loop: list[Any] = []
    loop.append(loop)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    inputs = [loop, deep, {"at": datetime(2026, 1, 1, tzinfo=UTC)}, {("a",): 1}, {"raw": b"123"}]
    blocks = [{"type": "tool_use", "id": "x", "name": "f", "input": value} for value in inputs]
    assert [record.text for record in read([{"role": "assistant", "content": blocks}])] == [
        "f [list that cannot be written as JSON]",
        "f [list that cannot be written as JSON]",
        'f {"at":"2026-01-01 00:00:00+00:00"}',
        "f [dict that cannot be written as JSON]",
        'f {"raw":"[3 bytes]"}',
    ]


def test_blocks_inside_blocks_end_somewhere() -> None:
    block: dict[str, Any] = {"type": "text", "text": "bottom"}
    for _ in range(10_000):
        block = {"type": "search_result", "title": "t", "content": [block]}
    (record,) = read([{"role": "user", "content": [block]}])
    assert len(record.text) < 100


NAMES = """role type content text user assistant system tool toolResult tool_use tool_result id name input arguments
    tool_calls function_call function custom customType call_id tool_use_id function_call_output output action source
    image image_url url data message summary compaction bashExecution command exitCode reasoning timestamp thinking
    search_result title stdout mcp_call error status input_text output_text toolCall isError is_error parts model
    functionCall functionResponse args response inlineData thought toolUse toolUseId json document reasoningContent"""
words = st.sampled_from(NAMES.split())
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(words, values, max_size=8), max_size=6))
def test_any_dictionaries_are_read_or_refused(messages: list[dict[str, Any]]) -> None:
    """Reading fails in one way only, never changes what it reads, and yields text under roles the store knows."""
    before = copy.deepcopy(messages)
    for message_format in (None, *get_args(FormatName)):
        try:
            records = read(messages, message_format)
        except MessageFormatError:
            continue
        for record in records:
            assert record.role in {"user", "assistant", "tool"}
            assert record.text
            assert (record.tool is not None) == (record.role == "tool")
    assert repr(messages) == repr(before)  # repr, because NaN differs from itself

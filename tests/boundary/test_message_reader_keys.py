"""Keys of messages, and what a `MessageReader` remembers of messages it has read."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict, UserDict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from pydantic import BaseModel

from memctx import MessageFormatError
from memctx._core import MessageReader

from .reading import FORMATS, NAMES, call, say, scan, values, words
from .strategies import for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation
    from memctx.messages import FormatName


def test_texts_are_remembered_up_to_a_bound() -> None:
    """The texts that an estimator is asked for again were forgotten."""
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return 1

    texts = [f"{number:0>1000}" for number in range(40)]
    reader = MessageReader(count, capacity=20 * 2700)
    for text in texts:
        reader.read([{"role": "user", "content": text}])
    assert 10 <= len(reader) <= 20
    asked.clear()
    reader.read([{"role": "user", "content": text} for text in texts[-10:]])
    assert asked == []
    reader.read([{"role": "user", "content": texts[0]}])
    assert asked == [texts[0]]


def test_threads_share_a_scanner() -> None:
    reader = MessageReader(capacity=1 << 16)
    messages = [{"role": "user", "content": f"message {number} " * 40} for number in range(100)]
    expected = scan(messages).keys
    found: list[Sequence[int]] = []
    threads = [
        threading.Thread(target=lambda: found.extend(reader.read(messages).keys for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 80


texts = st.text(min_size=1, max_size=5)
ids = st.sampled_from(["a", "b"])
arguments = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 3) | texts, max_size=2)
blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(
        lambda text, mark: {"type": "thinking", "thinking": text, "signature": mark}, texts, ids
    ),
    st.builds(lambda data: {"type": "redacted_thinking", "data": data}, ids),
    st.builds(
        lambda key, name, asked: {"type": "tool_use", "id": key, "name": name, "input": asked},
        ids,
        ids,
        arguments,
    ),
    st.builds(
        lambda key, text, failed: {
            "type": "tool_result",
            "tool_use_id": key,
            "content": text,
            "is_error": failed,
        },
        ids,
        texts,
        st.booleans(),
    ),
    st.builds(
        lambda data: {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        },
        ids,
    ),
    st.builds(lambda text: {"type": "hologram", "payload": text}, ids),
)
speech = st.builds(
    lambda role, blocks: {"role": role, "content": blocks},
    st.sampled_from(["user", "assistant"]),
    st.lists(blocks, min_size=1, max_size=3),
)


@for_all(speech, speech)
def test_keys_are_equal_if_and_only_if_the_messages_are(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    conversation = scan([one, other, copy.deepcopy(one)], "anthropic")
    first, second, third = conversation.keys
    assert first == third
    assert (first == second) == (one == other)


@for_all(speech)
def test_a_mark_for_the_prompt_cache_changes_nothing(message: dict[str, Any]) -> None:
    marked = copy.deepcopy(message)
    marked["content"][-1]["cache_control"] = {"type": "ephemeral"}
    plain, other = scan([message], "anthropic"), scan([marked], "anthropic")
    assert plain.keys == other.keys
    assert plain.tokens == other.tokens


class Model(BaseModel, extra="allow"):
    """An SDK's model of a dictionary."""


def built(value: Any, kind: Callable[..., Any]) -> Any:
    if isinstance(value, dict):
        return kind(**{key: built(item, kind) for key, item in value.items()})
    return [built(item, kind) for item in value] if isinstance(value, list) else value


@for_all(
    st.lists(speech, max_size=4), st.sampled_from([SimpleNamespace, Model, UserDict, OrderedDict])
)
def test_objects_are_read_like_dictionaries(
    given_messages: list[dict[str, Any]], kind: Callable[..., Any]
) -> None:
    plain = scan(given_messages, "anthropic")
    other = scan(built(given_messages, kind), "anthropic")
    assert other.keys == plain.keys
    assert other.message_tokens == plain.message_tokens
    assert other.records() == plain.records()


def told(conversation: Conversation) -> tuple[Any, ...]:
    return (
        conversation.keys,
        conversation.message_tokens,
        conversation.roles,
        conversation.units,
        conversation.unit_keys,
        conversation.signed,
        conversation.summaries,
        conversation.recalled,
        conversation.is_running,
        conversation.records(),
    )


def containers(value: Any) -> list[Any]:
    """Return all dictionaries and lists in a value, with itself."""
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in containers(item))]
    if isinstance(value, list | tuple):
        inner = [found for item in value for found in containers(item)]
        return [value, *inner] if isinstance(value, list) else inner
    return []


def change(value: Any, draw: Callable[..., Any]) -> None:
    """Change something in place, somewhere."""
    holder, new = draw(st.sampled_from(containers(value))), draw(values | blocks | speech)
    if isinstance(holder, dict):
        name = draw(st.sampled_from([*holder, *NAMES.split()]))
        if name in holder and draw(st.booleans()):
            del holder[name]
        else:
            holder[name] = new
        return
    place = draw(st.integers(0, len(holder)))
    if place == len(holder) or holder is value:
        holder.insert(place, new if holder is not value else draw(speech))
    elif draw(st.booleans()):
        del holder[place]
    else:
        holder[place] = new


@for_all(
    st.lists(speech | st.dictionaries(words, values, max_size=8), min_size=1, max_size=4),
    st.sampled_from(FORMATS),
    st.data(),
)
def test_changes_in_place_are_seen(
    given_messages: list[dict[str, Any]], format: FormatName, data: st.DataObject
) -> None:
    reader = MessageReader()
    for _ in range(6):
        assert told_or_refused(reader, given_messages, format) == told_or_refused(
            MessageReader(capacity=0), given_messages, format
        )
        change(given_messages, data.draw)


def told_or_refused(reader: MessageReader, given_messages: Any, format: FormatName) -> object:
    try:
        return told(reader.read(given_messages, format))
    except MessageFormatError as error:
        return str(error)


def test_a_string_in_the_place_of_another_is_seen() -> None:
    """The places of strings that are gone are used again at once."""
    reader = MessageReader()
    message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": ""}]}
    for number in range(200):
        message["content"][0]["text"] = f"{number:0100}"
        assert reader.read([message]).query(1) == f"{number:0100}"


def test_mutable_messages_are_read_again() -> None:
    reader = MessageReader()
    box = bytearray(b"abc")
    asked = SimpleNamespace(path="a.py")
    call = {"type": "tool_use", "id": "a", "name": "read", "input": {"file": asked, "box": box}}
    before = reader.read([say("assistant", call)], "anthropic").keys
    asked.path = "b.py"
    after = reader.read([say("assistant", call)], "anthropic").keys
    box.append(7)
    last = reader.read([say("assistant", call)], "anthropic").keys
    assert len({*before, *after, *last}) == 3


def test_messages_that_contain_themselves_are_read() -> None:
    reader = MessageReader()
    endless: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "read"}
    endless["input"] = endless
    assert (
        reader.read([say("assistant", endless)]).keys
        == reader.read([say("assistant", endless)]).keys
    )


TELLING: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi"},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
    {"role": "assistant", "content": None, "tool_calls": [call("c")]},
    {"role": "tool", "tool_call_id": "c", "content": "done"},
    say("assistant", {"type": "tool_use", "id": "t", "name": "f", "input": {}}),
    say("user", {"type": "tool_result", "tool_use_id": "t", "content": "ok"}),
    {"role": "model", "parts": [{"text": "hi"}]},
    {"type": "function_call_output", "call_id": "c", "output": "done"},
]


@for_all(
    st.lists(st.sampled_from(TELLING), min_size=1, max_size=8),
    st.lists(st.integers(1, 3), max_size=8),
    st.sampled_from([None, *FORMATS]),
)
def test_the_format_of_a_growing_list_is_detected_as_of_the_whole(
    messages: list[dict[str, Any]], steps: list[int], given_once: FormatName | None
) -> None:
    """The reader goes on from the list before; a read with a given format in between changes nothing."""

    def outcome(
        reader: MessageReader, messages: list[Any], format: FormatName | None = None
    ) -> Any:
        try:
            conversation = reader.read(messages, format)
        except MessageFormatError as error:
            return str(error)
        return conversation.format, conversation.keys, conversation.roles

    reader, end = MessageReader(), 0
    for step in [*steps, len(messages)]:
        end += step
        assert outcome(reader, messages[:end]) == outcome(MessageReader(), messages[:end])
        if given_once is not None:
            outcome(reader, messages[:end], given_once)

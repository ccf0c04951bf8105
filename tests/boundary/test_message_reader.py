"""`MessageReader` and `Conversation`: what a turn knows of messages."""

from __future__ import annotations

import copy
import json
import sys
import threading
from collections import OrderedDict, UserDict
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import strategies as st
from pydantic import BaseModel

from memctx import ConfigError, MessageFormatError, estimate_tokens
from memctx._core import MessageReader
from memctx.messages import FormatName

from .strategies import for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation

FORMATS: tuple[FormatName, ...] = get_args(FormatName)
FRAME = 4
BLOCK = '<recalled-context source="memory-context">\n\n<knowledge>\n- [config] x\n</knowledge>\n\n</recalled-context>'


def scan(messages: Any, format: FormatName | None = None) -> Conversation:
    return MessageReader().read(messages, format)


def cost(text: str) -> int:
    return estimate_tokens(text, "script")


def say(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


# what things cost


def test_everything_that_is_sent_is_counted() -> None:
    """Text, thinking, the name and the arguments of a call, a result, its picture and a document; no signature."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 999},
    }
    answer = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": "done and done"}, image],
    }
    conversation = scan(
        [
            say("user", {"type": "text", "text": "支付回调失败了 twice"}, image),
            say(
                "assistant",
                {"type": "thinking", "thinking": "let me think", "signature": "s" * 999},
                {
                    "type": "tool_use",
                    "id": "t",
                    "name": "read_file",
                    "input": {"path": "src/支付.py"},
                },
            ),
            say("user", answer),
            say("user", {"type": "document", "source": {"type": "text", "data": "clause 4"}}),
            say("user", {"type": "document", "source": {"type": "base64", "data": "JVBE"}}),
        ]
    )
    assert conversation.message_tokens == [
        FRAME + cost("支付回调失败了 twice") + 1600,
        FRAME + cost("let me think") + cost("read_file") + cost('{"path":"src/支付.py"}'),
        FRAME + cost("done and done") + 1600,
        FRAME + cost("clause 4"),
        FRAME + 2000,
    ]
    assert conversation.tokens == sum(conversation.message_tokens)


PICTURES: dict[FormatName, dict[str, Any]] = {
    "openai": say("user", {"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}}),
    "responses": say("user", {"type": "input_image", "image_url": "data:image/png;base64,A"}),
    "gemini": {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "A"}}]},
    "bedrock": say("user", {"image": {"format": "png", "source": {"bytes": b"A"}}}),
    "pi": say("user", {"type": "image", "data": "A", "mimeType": "image/png"}),
}


@pytest.mark.parametrize("format", PICTURES)
def test_a_picture_costs_the_same_whatever_its_bytes(format: FormatName) -> None:
    assert scan([PICTURES[format]], format).tokens == FRAME + 1100


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_parts_cost_a_third_of_their_length(format: FormatName) -> None:
    """It passes through: it has a price and a key, and nothing of it is archived or asked for."""
    strange = {"type": "hologram", "payload": "p" * 600}
    if format == "gemini":  # whose parts have no types
        strange = {"hologram": "p" * 600}
    message = {"role": "user", "parts" if format == "gemini" else "content": [strange]}
    conversation = scan([message], format)
    length = len(json.dumps(strange, separators=(",", ":")))
    assert conversation.tokens == pytest.approx(FRAME + length / 3, abs=4)
    assert conversation.records() == [[]]
    assert conversation.query() == ""
    assert conversation.roles == ["user"]
    with pytest.raises(MessageFormatError, match='role is "narrator"'):
        scan([{"role": "narrator", "content": "x"}], format)


def test_an_unknown_block_beside_text_counts_and_is_not_archived() -> None:
    plain = scan([say("user", {"type": "text", "text": "hi"})])
    mixed = scan(
        [say("user", {"type": "text", "text": "hi"}, {"type": "hologram", "payload": "p" * 30})]
    )
    assert mixed.tokens > plain.tokens + 10
    assert mixed.records() == plain.records() == [[("user", "hi", None, None)]]


def test_the_estimator_can_be_chosen() -> None:
    """A callable is asked once for each text, and what it raises is its own affair."""
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    messages = [{"role": "user", "content": "支付回调"}, {"role": "user", "content": "abc"}]
    assert MessageReader("utf16").read(messages).message_tokens == [FRAME + 2, FRAME + 1]
    reader = MessageReader(count)
    assert reader.read(messages).message_tokens == [FRAME + 4, FRAME + 3]
    assert reader.read(messages[1:]).message_tokens == [FRAME + 3]
    assert asked == ["支付回调", "abc"]

    def broken(text: str) -> int:
        raise RuntimeError(text)

    with pytest.raises(RuntimeError, match="abc"):
        MessageReader(broken).read(messages[1:])


@pytest.mark.parametrize("wrong", [-1, 1.5, "3", None])
def test_an_estimator_must_count(wrong: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"estimator must return a whole number of tokens, .*not "
    ):
        MessageReader(lambda _: wrong).read([{"role": "user", "content": "x"}])


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match='estimator must be "utf16" or "script", not "tiktoken"'):
        MessageReader("tiktoken")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r'must be "script", "utf16" or a callable, not .*int'):
        MessageReader(7)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="capacity must be 0 bytes or more, not -1"):
        MessageReader(capacity=-1)
    with pytest.raises(ConfigError, match=r'format must be .*, not "gpt"'):
        MessageReader().read([], "gpt")  # type: ignore[arg-type]
    with pytest.raises(MessageFormatError, match=r"^expected a list of messages, not dict$"):
        MessageReader().read({})  # type: ignore[arg-type]
    conversation = scan([{"role": "user", "content": "x"}])
    for index in (1, -1, 2**40):
        with pytest.raises(ConfigError, match=f"index {index} is no message: .* has 1 of them"):
            conversation.without([index])
        with pytest.raises(ConfigError, match=f"index {index} is no message"):
            conversation.records([index])
    with pytest.raises(ConfigError, match="count must be 0 or more, not -1"):
        conversation.query(-1)


# what belongs together


def call(id: str, name: str = "f") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def test_ids_that_are_used_again_belong_to_the_nearest_call() -> None:
    turn = [
        {"role": "assistant", "content": None, "tool_calls": [call("call_0"), call("call_1")]},
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_0", "content": "nought"},
    ]
    conversation = scan([*turn, {"role": "user", "content": "again"}, *turn])
    assert conversation.units == [(0, 1, 2), (3,), (4, 5, 6)]
    assert conversation.keys[:3] == conversation.keys[4:]
    assert len(set(conversation.unit_keys)) == 3


def test_calls_of_before_ids_are_paired() -> None:
    old = [
        {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": "[]"}},
        {"role": "function", "name": "add", "content": "3"},
    ]
    assert scan(old).units == [(0, 1)]


def test_reasoning_stays_with_what_follows_it() -> None:
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 1600},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
        {"type": "item_reference", "id": "rs_2"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "ok"}],
        },
        {"type": "compaction", "id": "k", "encrypted_content": "x"},
    ]
    conversation = scan(items)
    assert conversation.units == [(0,), (1, 2, 3), (4, 5), (6,)]
    assert conversation.message_tokens[1] == FRAME + 300
    assert conversation.summaries == [6]


def test_tools_that_run_at_the_provider_need_no_result() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
    ]
    assert scan([say("assistant", *blocks), say("user", "ok")]).units == [(0,), (1,)]


# what memory is asked


def test_the_query_is_what_people_asked_last() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "System: [2026-02-15 18:49:02 GMT+8] Feishu[main]\ntwo"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": BLOCK},
        say("user", {"type": "text", "text": BLOCK}, {"type": "text", "text": "three"}),
        say("user", {"type": "tool_result", "tool_use_id": "t", "content": "no question"}),
        say("user", {"type": "tool_result", "tool_use_id": "u", "content": "x"}, BLOCK),
    ]
    conversation = scan(messages)
    assert conversation.query() == "one two three"
    assert conversation.query(1) == "three"
    assert conversation.newest_user == 4
    assert conversation.recalled == [3]
    assert conversation.roles[4:] == ["user", "tool", "tool"]
    assert [len(rows) for rows in conversation.records()] == [1, 1, 1, 0, 1, 1, 1]
    assert conversation.records([4]) == [[("user", "three", None, None)]]


def test_a_text_that_mentions_the_tag_is_a_persons() -> None:
    quoting = f"what is {BLOCK}?"
    conversation = scan([{"role": "user", "content": quoting}])
    assert conversation.recalled == []
    assert conversation.query() == quoting
    assert conversation.records() == [[("user", quoting, None, None)]]


def test_leaving_messages_out_keeps_the_rest_as_it_was() -> None:
    messages = [{"role": "user", "content": text} for text in ("a", BLOCK, "b")]
    conversation = scan(messages)
    rest = conversation.without([1])
    assert len(rest) == 2
    assert list(rest.keys) == [conversation.keys[0], conversation.keys[2]]
    assert rest.tokens == conversation.tokens - conversation.message_tokens[1]
    assert len(conversation) == 3


SUMMARIES: dict[str, tuple[FormatName, list[dict[str, Any]], list[int]]] = {
    "pi": (
        "pi",
        [{"role": "compactionSummary", "summary": "s"}, {"role": "branchSummary"}],
        [0, 1],
    ),
    "provider": (
        "anthropic",
        [say("assistant", {"type": "compaction", "content": None, "encrypted_content": "x"})],
        [0],
    ),
    "text": (
        "openai",
        [
            {"role": "system", "content": "<read-files>"},
            {"role": "user", "content": "so far\n<read-files>\na.py\n</read-files>"},
            {"role": "user", "content": "what does <read-files> mean?"},
        ],
        [1],
    ),
}


@pytest.mark.parametrize("case", SUMMARIES)
def test_summaries_are_recognized_in_every_format(case: str) -> None:
    message_format, messages, places = SUMMARIES[case]
    assert scan(messages, message_format).summaries == places


# what is remembered


def test_texts_are_remembered_up_to_a_bound() -> None:
    """What an estimator was asked tells what was forgotten."""
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


def test_threads_share_a_reader() -> None:
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


# whatever comes

NAMES = """role type content text user assistant system tool toolResult tool_use tool_result id name input arguments
    tool_calls function_call function custom customType call_id tool_use_id function_call_output output action source
    image image_url url data message summary compaction bashExecution command exitCode reasoning timestamp thinking
    search_result title parts model functionCall functionResponse args response inlineData mimeType thought toolUse
    toolUseId json document format reasoningContent reasoningText redactedContent signature encrypted_content status
    server_tool_use web_search_tool_result mcp_call error stopReason aborted excludeFromContext cachePoint isError"""
words = st.sampled_from(NAMES.split())
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | words
    | st.text(st.characters(exclude_categories=[]), max_size=6)
    | st.binary(max_size=4)
    | st.just(object())
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(words, inner, max_size=6)
    ),
    max_leaves=12,
)
messages = st.lists(st.dictionaries(words, values, max_size=8), max_size=6)


@for_all(messages)
def test_anything_is_scanned_or_refused(given_messages: list[dict[str, Any]]) -> None:
    """Scanning fails in one way only, changes nothing, and says the same again."""
    before = repr(given_messages)
    reader = MessageReader()
    for message_format in (None, *FORMATS):
        try:
            first = reader.read(given_messages, message_format)
        except MessageFormatError:
            continue
        again = reader.read(given_messages, message_format)
        assert (first.message_tokens, first.keys) == (again.message_tokens, again.keys)
        assert sorted(place for unit in first.units for place in unit) == [*range(len(first))]
        first.query()
        first.records()
    assert repr(given_messages) == before


def endless() -> Any:
    loop: list[Any] = []
    loop.extend([loop, {"again": loop}, loop])
    return loop


def deep() -> Any:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


class Hostile:
    """An object whose every field fails."""

    type = "text"

    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "type"}:
            return super().__getattribute__(name)
        raise RuntimeError(name)


ODD: dict[str, Callable[[], Any]] = {
    "endless": endless,
    "deep": deep,
    "hostile": Hostile,
    "huge": lambda: {"n": 10 ** (sys.get_int_max_str_digits() + 1), "ratio": float("nan")},
    "surrogate": lambda: {"\ud800": "\udfff"},
    "keys": lambda: {1: 2, None: 3, (4,): 5},
    "mapping": lambda: MappingProxyType({"type": "text", "text": "read"}),
    "set": lambda: {"type": "text", "text": {1, 2}},
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("odd", ODD)
def test_odd_values_are_passed_over_or_refused_wherever_they_stand(
    odd: str, format: FormatName
) -> None:
    """Where they are content, a role or an id they are refused; elsewhere they cost something."""
    value = ODD[odd]()
    for message in (
        {"role": "user", "content": value, "parts": value, "timestamp": value},
        {"role": "user", "content": [value], "parts": [value], "tool_calls": value},
        say("assistant", {"type": "tool_use", "id": value, "name": value, "input": value}),
        say("user", {"type": "tool_result", "tool_use_id": "x", "content": [value]}),
        {"role": "assistant", "tool_calls": [call("a"), value], "function_call": value},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": value}}, value]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": value}}]},
        say("assistant", {"toolUse": {"toolUseId": "t", "name": "f", "input": value}}),
        say("user", {"toolResult": {"toolUseId": "t", "content": [{"json": value}, value]}}),
        {"role": "toolResult", "toolCallId": value, "content": value, "isError": value},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": value},
        {"type": "reasoning", "summary": value, "encrypted_content": value},
        {
            "role": "user",
            "content": "x",
            "parts": [{"text": "x"}],
            "timestamp": value,
            "more": value,
        },
    ):
        try:
            conversation = scan([message], format)
        except MessageFormatError:
            assert "more" not in message
            continue
        assert all(tokens >= FRAME for tokens in conversation.message_tokens)
        conversation.records()


def test_an_interrupt_is_not_swallowed() -> None:
    class Interrupting:
        role = "user"

        @property
        def content(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan([Interrupting()])


# keys

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
    """What SDKs make of a dictionary."""


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


# what was read before


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
    """All dictionaries and lists in a value, with itself."""
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

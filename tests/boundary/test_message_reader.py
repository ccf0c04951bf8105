"""`MessageReader` and `Conversation`: costs, units and roles of messages, and what memory is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memctx import ConfigError, MessageFormatError, estimate_tokens
from memctx._core import MessageReader

from .reading import FORMATS, FRAME, call, say, scan

if TYPE_CHECKING:
    from memctx.messages import FormatName

BLOCK = '<recalled-context source="memory-context">\n\n<knowledge>\n- [config] x\n</knowledge>\n\n</recalled-context>'


def cost(text: str) -> int:
    return estimate_tokens(text, "script")


# what things cost


def test_all_sent_parts_are_counted() -> None:
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


def test_removing_messages_keeps_the_rest_unchanged() -> None:
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
    name, messages, indices = SUMMARIES[case]
    assert scan(messages, name).summaries == indices

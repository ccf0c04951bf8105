"""Results are shortened before they are sent, in every format, and nothing is lost on the way."""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx
from memctx import ConfigError, MessageFormatError
from memctx.context import truncate_tool_result

if TYPE_CHECKING:
    from pathlib import Path

LONG = "line of output\n" * 1000
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
# A result of every format, as a message or a block, and where its text is found.
RESULTS: dict[str, tuple[Any, list[Any]]] = {
    "anthropic message": (
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": LONG, "is_error": False}
            ],
        },
        ["content", 0, "content"],
    ),
    "anthropic block": ({"type": "tool_result", "tool_use_id": "a", "content": LONG}, ["content"]),
    "openai": ({"role": "tool", "tool_call_id": "a", "content": LONG}, ["content"]),
    "responses": ({"type": "function_call_output", "call_id": "a", "output": LONG}, ["output"]),
    "pi": (
        {
            "role": "toolResult",
            "toolCallId": "a",
            "toolName": "read",
            "content": [{"type": "text", "text": LONG}],
        },
        ["content", 0, "text"],
    ),
    "bedrock message": (
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": LONG}]}}],
        },
        ["content", 0, "toolResult", "content", 0, "text"],
    ),
    "bedrock block": (
        {"toolResult": {"toolUseId": "a", "content": [{"text": LONG}]}},
        ["toolResult", "content", 0, "text"],
    ),
}


def at(value: Any, path: list[Any]) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_of_every_format_is_shortened(name: str) -> None:
    given_result, path = RESULTS[name]
    before = copy.deepcopy(given_result)
    kept: list[str] = []
    short = truncate_tool_result(given_result, archive=kept.append)
    assert given_result == before, "what is given is not changed"
    assert kept == [LONG]
    text = at(short, path)
    assert text.startswith(LONG[:1500])
    assert text.endswith("the first 1500 and the last 1500 of 15000 characters are kept.]")
    holder = at(short, path[:-1])
    holder[path[-1]] = LONG
    assert short == before, "nothing else is another"
    holder[path[-1]] = text
    assert truncate_tool_result(short, archive=kept.append) is short, "shortened once"
    assert len(kept) == 1


@pytest.mark.parametrize("key", ["functionResponse", "function_response"])
@pytest.mark.parametrize("is_block", [True, False])
def test_gemini_results_are_shortened(key: str, is_block: bool) -> None:  # noqa: FBT001 - a parameter of the test
    block = {key: {"name": "read", "response": {"output": LONG}}}
    kept: list[str] = []
    short = truncate_tool_result(
        block if is_block else {"role": "user", "parts": [block]}, archive=kept.append
    )
    assert len(kept) == 1
    assert LONG[:100] in kept[0]
    assert len(str(short)) < 4000


def test_objects_are_copied() -> None:
    @dataclass
    class ToolMessage:
        content: str
        role: str = "tool"
        tool_call_id: str = "a"
        extra: dict[str, int] = field(default_factory=dict)

    message = ToolMessage(LONG, extra={"x": 1})
    short = truncate_tool_result(message)
    assert type(short) is ToolMessage
    assert len(short.content) < 4000
    assert (message.content, short.extra) == (LONG, {"x": 1})


def test_pictures_stay() -> None:
    content = [{"type": "text", "text": LONG}, IMAGE]
    message: dict[str, Any] = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": content}],
    }
    (block,) = truncate_tool_result(message)["content"]
    assert IMAGE in block["content"]
    assert len(str(block)) < 4000


def test_short_results_are_not_shortened() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": i, "content": text}
        for i, text in (("a", "ok"), ("b", LONG))
    ]
    message: dict[str, Any] = {
        "role": "user",
        "content": [*results, {"type": "text", "text": LONG}],
    }
    short = truncate_tool_result(message)
    assert short["content"][0] == results[0]
    assert len(short["content"][1]["content"]) < 4000
    assert short["content"][2] == message["content"][2], "what a person says is no result"
    said = {"role": "assistant", "content": LONG}
    assert truncate_tool_result(said) is said


def failing(_: str) -> None:
    raise OSError("the disk is full")


@pytest.mark.parametrize("result", [LONG, RESULTS["openai"][0]])
def test_a_result_that_cannot_be_archived_stays_whole(
    result: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "memctx.context.tool_result"):
        assert truncate_tool_result(result, archive=failing) is result
    assert "could not be archived" in caplog.text
    assert "the disk is full" in caplog.text


def test_a_memory_archives_the_whole_result(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with memctx.open(tmp_path, session_id="s1", privacy={"archive_tools": False}) as memory:
        text = "The build failed in payment_webhook.rs\n" + LONG
        assert len(truncate_tool_result(text, archive=memory)) < 4000
        message = {"role": "tool", "tool_call_id": "a", "content": text + "again"}
        assert len(truncate_tool_result(message, archive=memory)["content"]) < 4000
        kept = list(memory.store.segments())
        assert [segment.role for segment in kept] == ["tool", "tool"]
        assert [len(segment.content) for segment in kept] == [len(text), len(text) + 5]
        assert memory.search("payment webhook build")
    with caplog.at_level(logging.WARNING, "memctx.context.tool_result"):
        assert truncate_tool_result(text, archive=memory) is text, "it is closed"
    assert "could not be archived" in caplog.text


def test_an_asynchronous_archive_is_refused() -> None:
    class Later:
        def __await__(self) -> Any: ...

    with pytest.raises(ConfigError, match="not asynchronous"):
        truncate_tool_result(LONG, archive=lambda _: Later())


def test_an_argument_that_is_no_result_is_refused() -> None:
    for wrong in (5, None, {"a": 1}, [LONG]):
        with pytest.raises(
            MessageFormatError, match="expected a text, a message or the block of a result, not"
        ):
            truncate_tool_result(wrong)
    with pytest.raises(ConfigError, match="head_chars must be 0 or more, not -1"):
        truncate_tool_result(LONG, head_chars=-1)


@given(st.text(max_size=900), st.integers(0, 400), st.integers(0, 200), st.integers(0, 200))
def test_a_text_is_shortened_once_and_never_grows(
    text: str, most: int, head: int, tail: int
) -> None:
    sizes: dict[str, Any] = {"max_chars": most, "head_chars": head, "tail_chars": tail}
    short = truncate_tool_result(text, **sizes)
    assert short == text or len(short.encode("utf-8", "surrogatepass")) < len(
        text.encode("utf-8", "surrogatepass")
    )
    assert truncate_tool_result(short, **sizes) is short

"""`MessageReader` on arbitrary, endless and hostile messages: read or refused, never a crash."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from memctx import MessageFormatError
from memctx._core import MessageReader

from .reading import FORMATS, FRAME, call, say, scan, values, words
from .strategies import for_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.messages import FormatName

messages = st.lists(st.dictionaries(words, values, max_size=8), max_size=6)


@for_all(messages)
def test_anything_is_scanned_or_refused(given_messages: list[dict[str, Any]]) -> None:
    """Scanning fails in one way only, changes nothing, and says the same again."""
    before = repr(given_messages)
    reader = MessageReader()
    for name in (None, *FORMATS):
        try:
            first = reader.read(given_messages, name)
        except MessageFormatError:
            continue
        again = reader.read(given_messages, name)
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

"""The rules of the providers once more, as plainly as they can be written: a reference for `memctx.validate`.

It reads the dictionaries themselves and says what is wrong first, or None.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .rendering import Message
    from .script import FormatName


def fault(messages: Sequence[Message], format: FormatName) -> str | None:
    """Return the reason why the provider would refuse the messages."""
    return RULES[format](messages)


def _blocks(message: Message) -> list[Any]:
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def _in_turns(
    messages: Sequence[Message],
    calls_of: Callable[[Message], list[str]],
    results_of: Callable[[Message], list[str]],
) -> str | None:
    """Check that results stand in the message right behind their calls, all of them and no others."""
    asked: list[str] = []
    for number, message in enumerate([*messages, {"role": "end", "content": []}]):
        given = results_of(message)
        if sorted(given) != sorted(asked):
            return f"{number}: asked for {asked}, answered {given}"
        asked = calls_of(message)
    return None


def _in_run(
    messages: Sequence[Message],
    calls_of: Callable[[Message], list[str]],
    result_of: Callable[[Message], str | None],
) -> str | None:
    """Check that results stand in messages of their own right behind their calls, all of them and no others."""
    asked: list[str] = []
    for number, message in enumerate([*messages, {"role": "end"}]):
        answered = result_of(message)
        if answered is not None:
            if answered not in asked:
                return f"{number}: {answered} was not asked for"
            asked.remove(answered)
        elif asked:
            return f"{number}: {asked} were not answered"
        else:
            asked = calls_of(message)
    return None


def _starts_with_user(messages: Sequence[Message]) -> str | None:
    said = [message for message in messages if message.get("role") != "system"]
    return None if said and said[0]["role"] == "user" else "the user does not begin"


def _says_something(messages: Sequence[Message]) -> str | None:
    for number, message in enumerate(messages):
        blocks = _blocks(message)
        if not blocks:
            return f"{number}: empty"
        for block in blocks:
            if block.get("type", "text") == "text" and not block.get("text", "x").strip():
                return f"{number}: blank text"
    return None


def _results_first(messages: Sequence[Message], is_result: Callable[[Any], bool]) -> str | None:
    for number, message in enumerate(messages):
        kinds = [is_result(block) for block in _blocks(message)]
        if kinds != sorted(kinds, reverse=True):
            return f"{number}: a result behind something else"
    return None


def _anthropic(messages: Sequence[Message]) -> str | None:
    def calls_of(message: Message) -> list[str]:
        return [block["id"] for block in _blocks(message) if block.get("type") == "tool_use"]

    def results_of(message: Message) -> list[str]:
        return [
            block["tool_use_id"] for block in _blocks(message) if block.get("type") == "tool_result"
        ]

    ids = [call for message in messages for call in calls_of(message)]
    return (
        _starts_with_user(messages)
        or _in_turns(messages, calls_of, results_of)
        or (None if len(ids) == len(set(ids)) else "two calls of one id")
        or _results_first(messages, lambda block: block.get("type") == "tool_result")
        or _says_something(messages)
    )


def _openai(messages: Sequence[Message]) -> str | None:
    return _in_run(
        messages,
        lambda message: [call["id"] for call in message.get("tool_calls") or ()],
        lambda message: message["tool_call_id"] if message["role"] == "tool" else None,
    )


def _responses(messages: Sequence[Message]) -> str | None:
    open_calls: list[str] = []
    turn: set[str] = set()  # an id twice in one turn of the model is one call
    for number, item in enumerate(messages):
        kind = item.get("type")
        if kind not in {"function_call", "reasoning"} and item.get("role") != "assistant":
            turn.clear()
        if kind == "function_call":
            if item["call_id"] not in turn:
                open_calls.append(item["call_id"])
            turn.add(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in open_calls:
                return f"{number}: {item['call_id']} was not asked for"
            open_calls.remove(item["call_id"])
        elif kind == "reasoning":
            after = messages[number + 1] if number + 1 < len(messages) else {}
            is_led_to = after.get("type") in {"reasoning", "function_call"}
            if not is_led_to and after.get("role") != "assistant":
                return f"{number}: reasoning that leads to nothing"
    return f"{open_calls} were not answered" if open_calls else None


def _gemini(messages: Sequence[Message]) -> str | None:
    def calls_of(message: Message) -> list[str]:
        return [
            block["functionCall"]["id"] for block in _blocks(message) if "functionCall" in block
        ]

    def results_of(message: Message) -> list[str]:
        return [
            block["functionResponse"]["id"]
            for block in _blocks(message)
            if "functionResponse" in block
        ]

    before: Message = {"role": "model"}
    for number, message in enumerate(messages):
        if not _blocks(message):
            return f"{number}: empty"
        if calls_of(message) and before["role"] != "user":
            return f"{number}: a call that does not follow the user"
        before = message
    return _starts_with_user(messages) or _in_turns(messages, calls_of, results_of)


def _bedrock(messages: Sequence[Message]) -> str | None:
    def calls_of(message: Message) -> list[str]:
        return [block["toolUse"]["toolUseId"] for block in _blocks(message) if "toolUse" in block]

    def results_of(message: Message) -> list[str]:
        return [
            block["toolResult"]["toolUseId"] for block in _blocks(message) if "toolResult" in block
        ]

    roles = [message["role"] for message in messages]
    if any(a == b for a, b in pairwise(roles)):
        return "two messages of one side in a row"
    return (
        _starts_with_user(messages)
        or _in_turns(messages, calls_of, results_of)
        or _results_first(messages, lambda block: "toolResult" in block)
        or _says_something(messages)
    )


def _pi(messages: Sequence[Message]) -> str | None:
    def calls_of(message: Message) -> list[str]:
        is_over = message.get("stopReason") in {"aborted", "error"}
        blocks = () if is_over or message["role"] != "assistant" else _blocks(message)
        return [block["id"] for block in blocks if block["type"] == "toolCall"]

    return _in_run(
        messages,
        calls_of,
        lambda message: message["toolCallId"] if message["role"] == "toolResult" else None,
    )


RULES: dict[str, Callable[[Sequence[Message]], str | None]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "pi": _pi,
}

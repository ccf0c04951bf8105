"""Conversations of every format: whole ones, and ones that somebody cut, shuffled or doubled.

What is drawn are numbers, of which messages are made: a thousand conversations take a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from . import wire

if TYPE_CHECKING:
    from collections.abc import Callable

IDS = ("call_0", "call_1", "call_2")
THINKING = {
    "anthropic": {"type": "thinking", "thinking": "hm", "signature": "s"},
    "gemini": {"text": "hm", "thought": True, "thoughtSignature": "s"},
    "bedrock": {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
    "pi": {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}

numbers = st.integers(0, 255)


def whole_of(turns: list[int], format: str) -> list[wire.Message]:
    """Return a conversation that the provider accepts; each number is a turn."""
    messages: list[wire.Message] = []
    used = 0
    for turn, number in enumerate(turns):
        messages.append(wire.user(f"question {turn}", format))
        for step in range(number % 3):
            count = 1 + (number >> (2 + step)) % 3
            # Only Anthropic wants ids that were never used before.
            ids = [f"id_{used + at}" if format == "anthropic" else IDS[at] for at in range(count)]
            used += count
            called = wire.calls(ids, format, "Reading." if number & 32 else "")
            messages += thoughtful(called, format) if number & 64 else called
            messages += wire.results(ids[::-1] if number & 128 else ids, format)
        messages.append(wire.assistant(f"answer {turn}", format))
    return messages


def thoughtful(called: list[wire.Message], format: str) -> list[wire.Message]:
    """Return the calls with the reasoning that led to them."""
    if format == "responses":
        return [dict(REASONING), *called]
    if format not in THINKING:
        return called
    field = field_of(format)
    return [{**called[0], field: [THINKING[format], *called[0][field]]}, *called[1:]]


def loose_of(number: int, format: str) -> list[wire.Message]:
    """Draw one turn of any role, whatever stands before it."""
    kind, number = number % 8, number // 8
    ids = [IDS[number % 3], IDS[number // 3 % 3]][: 1 + number % 2]
    said = "and?" if number & 8 else ""
    if kind < 2:
        return [wire.user("hello", format) if kind else wire.assistant("hello", format)]
    if kind < 4:
        return wire.calls(ids, format, said)
    if kind < 6:
        return wire.results(ids, format, said)
    return special(number, ids, format)


def special(number: int, ids: list[str], format: str) -> list[wire.Message]:
    """Draw what only some formats have, or spell in another way."""
    if format == "pi":
        return [{**wire.calls(ids, format)[0], "stopReason": "aborted"}]
    if format == "responses":
        return [dict(REASONING)]
    if format == "openai":
        return wire.results(ids, format)
    if number % 4 == 0:
        return [{"role": "user", field_of(format): []}]
    if number % 4 == 1:
        return [wire.user(" ", format)]
    message = wire.results(ids, format)[0]
    message[field_of(format)].insert(number % 3, wire.user("wait", format)[field_of(format)][0])
    return [message]


def field_of(format: str) -> str:
    return "parts" if format == "gemini" else "content"


def hurt(messages: list[wire.Message], wounds: list[tuple[int, int]]) -> list[wire.Message]:
    """Return the messages after some were lost, doubled or moved."""
    for place, other in wounds:
        if messages:
            at = place % len(messages)
            message = messages[at] if other % 3 == 0 else messages.pop(at)
            if other % 3 < 2:
                messages.insert(other % (len(messages) + 1), message)
    return messages


def whole(format: str) -> st.SearchStrategy[list[wire.Message]]:
    """Draw a conversation that the provider accepts."""
    return st.lists(numbers, min_size=1, max_size=5).map(lambda turns: whole_of(turns, format))


def broken(format: str) -> st.SearchStrategy[list[wire.Message]]:
    """Draw a valid conversation that was damaged, or an arbitrary one."""
    turns = st.lists(numbers, max_size=9)
    never = turns.map(lambda drawn: [said for turn in drawn for said in loose_of(turn, format)])
    wounds = st.lists(st.tuples(numbers, numbers), max_size=3)
    return st.one_of(never, st.builds(hurt, whole(format), wounds))


def any_format(
    of: Callable[[str], st.SearchStrategy[list[wire.Message]]],
) -> st.SearchStrategy[tuple[str, list[wire.Message]]]:
    """Draw a format and messages of it."""
    return st.sampled_from(wire.FORMATS).flatmap(lambda name: st.tuples(st.just(name), of(name)))

"""What holds of every turn, whatever the conversation; each law says in its message what broke it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import memctx
from memctx import _core

from . import oracle
from .pieces import blocks, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.turn import Turn

    from .pieces import Piece
    from .rendering import Message
    from .script import Shape

PROTECTED_RECENT = 6
OPENING = re.compile(r"<\s*recalled-context", re.IGNORECASE)
CLOSING = re.compile(r"<\s*/\s*recalled-context", re.IGNORECASE)
MOMENT = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d (?=\w+\])")


FRAME = 4
"""What a block costs that is a message of its own, beside its text."""


def wire(messages: Sequence[Any]) -> str:
    """The messages as bytes that can be compared."""
    return json.dumps(messages, ensure_ascii=True)


def timeless(messages: Sequence[Any]) -> str:
    """The same without the moments of recalled entries: messages without a time of their own get that of archiving."""
    return MOMENT.sub("[", wire(messages))


def check_turn(given: Sequence[Message], turn: Turn, memory: memctx.Memory, shape: Shape) -> None:
    """All laws of one turn over a valid conversation."""
    assert not turn.report.errors, turn.report.errors
    is_valid(turn, shape)
    nothing_is_made_up_or_moved(given, turn)
    the_protected_stay(given, turn, shape)
    untouched_messages_are_the_same_objects(given, turn)
    recalled_text_stays_under_its_cap(turn, memory, given)
    the_rest_fits(given, turn, memory, shape)
    blocks_are_closed_once(turn)
    no_block_is_archived(given, turn, memory)
    json.loads(turn.report.to_json())
    assert str(turn.report)


def is_valid(turn: Turn, shape: Shape) -> None:
    """The provider takes it, as we and as the twin of our rules see it."""
    problems = memctx.validate(turn.messages, shape)
    assert problems == [], (problems, turn.messages)
    fault = oracle.fault(turn.messages, shape)
    assert fault is None, (fault, turn.messages)


def nothing_is_made_up_or_moved(given: Sequence[Message], turn: Turn) -> None:
    """What is sent is what was given, in its order, with some of it left out."""
    rest = iter(pieces(given))
    for piece in pieces(turn.messages):
        assert piece in rest, f"{piece} was made up or moved"


def the_protected_stay(given: Sequence[Message], turn: Turn, shape: Shape) -> None:
    """System prompts, summaries, the task, the newest messages and the last tool group are all there."""
    sent = pieces(turn.messages)
    # A command that the person ran is neither's message: it does not count and may leave.
    tail = [piece for piece in pieces(given[-PROTECTED_RECENT:]) if piece[0] != "bashExecution"]
    said = [piece for piece in sent if piece[0] != "bashExecution"]
    assert said[len(said) - len(tail) :] == tail, "one of the newest messages left"
    for message in given:
        is_system = message.get("role") in {"system", "developer", "compactionSummary"}
        if is_system or message.get("type") == "compaction":
            assert message in turn.messages, f"{message} left"
    first = next((found for message in given if (found := _spoken(message))), [])
    assert _is_within(first, sent), f"the task left: {first}"
    conversation = _core.Scanner().scan(given, shape)
    groups = [unit for unit in conversation.units if _has_call(given, unit)]
    if groups:
        last = pieces([given[index] for index in groups[-1]])
        assert _is_within(last, sent), f"the last tool group left: {last}"


def _spoken(message: Message) -> list[Piece]:
    """The texts of a message that a person wrote."""
    if message.get("role") != "user":
        return []
    found = pieces([message])
    texts = [piece for piece in found if piece[0] == "text" and piece[1].strip()]
    return texts if not any(piece[0] == "result" for piece in found) else []


def _has_call(given: Sequence[Message], unit: Sequence[int]) -> bool:
    return any(kind == "call" for kind, _ in pieces([given[index] for index in unit]))


def _is_within(some: Sequence[Piece], all_of_them: Sequence[Piece]) -> bool:
    rest = iter(all_of_them)
    return all(piece in rest for piece in some)


def untouched_messages_are_the_same_objects(given: Sequence[Message], turn: Turn) -> None:
    """A message that reads as it came is the object that came."""
    objects = {id(message) for message in given}
    if turn.report.cache.stale_thinking:  # what is left of such a message may read like another one
        return
    for message in turn.messages:
        assert id(message) in objects or message not in given, f"a needless copy: {message}"


def recalled(turn: Turn, given: Sequence[Message]) -> list[str]:
    """The blocks that are sent, without those that somebody pasted."""
    pasted = set(blocks(given))
    return [text for text in blocks(turn.messages) if text not in pasted]


def recalled_text_stays_under_its_cap(
    turn: Turn, memory: memctx.Memory, given: Sequence[Message] = ()
) -> None:
    """All blocks together, by our own estimate."""
    config = memory.config
    window = config.working_budget or config.context_window
    cap = min(config.hard_cap_tokens, window // 10) if window else config.hard_cap_tokens
    spent = sum(memctx.estimate_tokens(text, "script") for text in recalled(turn, given))
    assert spent <= cap, f"{spent} tokens were recalled, {cap} is the cap"


def the_rest_fits(
    given: Sequence[Message], turn: Turn, memory: memctx.Memory, shape: Shape
) -> None:
    """The messages are under the limit, unless a trim waits for a tool loop to end or all the rest is protected."""
    report, window = turn.report, memory.config.context_window
    limit = report.tokens.limit
    if limit is None or window is None:
        return
    scanned = _core.Scanner().scan(turn.messages, shape)
    added = sum(memctx.estimate_tokens(text, "script") + FRAME for text in recalled(turn, given))
    if scanned.tokens - added <= limit:
        return
    if report.is_deferred:
        assert scanned.tokens <= window, "a trim was put off although the window overflows"
        return
    gone = {index for unit in report.trimmed for index in unit.indices}
    protected = {item.index for item in report.protected}
    for unit in _core.Scanner().scan(given, shape).units:
        is_free = gone.isdisjoint(unit) and protected.isdisjoint(unit)
        is_ours = all(not pieces([given[index]]) for index in unit)
        assert not is_free or is_ours, f"{unit} might have left: {scanned.tokens} > {limit}"


def blocks_are_closed_once(turn: Turn) -> None:
    """Nothing in a block opens or closes one, and what is read back out of it is what was put in."""
    for text in blocks(turn.messages):
        assert len(OPENING.findall(text)) == 1, text
        assert len(CLOSING.findall(text)) == 1, text
        assert text.rstrip().endswith("</recalled-context>"), text
        assert _core.parse_block(text) is not None, text


def no_block_is_archived(given: Sequence[Message], turn: Turn, memory: memctx.Memory) -> None:
    """What was recalled does not come back as memory."""
    sent = recalled(turn, given)
    for segment in memory.store.segments():
        assert not any(text in segment.content for text in sent), segment.content

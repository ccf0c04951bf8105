"""Invariants of every turn; each assertion names what broke it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import memctx
from memctx import _core

from . import oracle
from .pieces import all_pieces, blocks, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.context import Turn

    from .pieces import Piece
    from .rendering import Message
    from .script import FormatName

PROTECTED_RECENT = 6
OPENING = re.compile(r"<\s*recalled-context", re.IGNORECASE)
CLOSING = re.compile(r"<\s*/\s*recalled-context", re.IGNORECASE)
MOMENT = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d (\w+)( #[0-9a-f]{8})?\]")


FRAME = 4
"""Tokens of a block that is a message of its own, beside its text."""


def wire(messages: Sequence[Any]) -> str:
    """Return the messages as bytes that can be compared."""
    return json.dumps(messages, ensure_ascii=True)


def timeless(messages: Sequence[Any]) -> str:
    """Return the same without the times of recalled entries, which may be those of archiving, and without their ids."""
    return MOMENT.sub(r"[\1]", wire(messages))


def check_turn(
    given: Sequence[Message], turn: Turn, memory: memctx.Memory, format: FormatName
) -> None:
    """Assert all invariants of one turn over a valid conversation."""
    memory_did_not_fail(turn)
    indices_are_those_of_the_list(given, turn)
    is_valid(turn, format)
    nothing_is_made_up_or_moved(given, turn)
    the_protected_stay(given, turn, format)
    untouched_messages_are_the_same_objects(given, turn)
    recalled_text_stays_under_its_cap(turn, memory, given)
    the_rest_fits(given, turn, memory, format)
    blocks_are_closed_once(turn)
    no_block_is_archived(given, turn, memory)
    json.loads(turn.report.to_json())
    assert str(turn.report)


def memory_did_not_fail(turn: Turn) -> None:
    """Assert that the only error is that too little could be removed, with numbers."""
    report = turn.report
    assert bool(report.errors) == report.is_over_limit, report.errors
    if report.is_over_limit:
        (error,) = report.errors
        assert f"{report.tokens.after:,}" in error, error
        assert f"{report.tokens.limit:,}" in error, error
        assert report.degraded


def indices_are_those_of_the_list(given: Sequence[Any], turn: Turn) -> None:
    """Assert that every index of a report finds its message in the caller's list."""
    report = turn.report
    told = [
        *(item.index for item in report.pruned),
        *(index for item in report.trimmed for index in item.indices),
        *(item.index for item in report.protected),
        *(change.index for change in report.repaired),
        *report.cache.stale_thinking,
    ]
    assert all(0 <= index < len(given) for index in told), (told, len(given))
    assert all(item.indices for item in report.trimmed), report.trimmed
    assert len(turn.origins) == len(turn.messages)
    places = {id(message): index for index, message in enumerate(given)}
    for message, origin in zip(turn.messages, turn.origins, strict=True):
        assert origin is None or 0 <= origin < len(given)
        assert id(message) not in places or given[origin or 0] is message
    assert str(report)


def is_valid(turn: Turn, format: FormatName) -> None:
    """Assert that the provider accepts the messages, by our rules and by the oracle."""
    problems = memctx.validate(turn.messages, format)
    assert problems == [], (problems, turn.messages)
    fault = oracle.fault(turn.messages, format)
    assert fault is None, (fault, turn.messages)


def nothing_is_made_up_or_moved(given: Sequence[Message], turn: Turn) -> None:
    """Assert that the sent messages are the given ones, in order, with some left out."""
    rest = iter(all_pieces(given))
    for piece in _sent(turn, given):
        assert piece in rest, f"{piece} was made up or moved"


def the_protected_stay(given: Sequence[Message], turn: Turn, format: FormatName) -> None:
    """Assert that system prompts, summaries, the task, the newest messages and the last tool group are there.

    Where these do not fit the window, the task and all but the newest message of a person may leave.
    """
    sent = _sent(turn, given)
    is_tight = any(unit.layer == "oversized" for unit in turn.report.trimmed)
    # A command that the person ran is neither's message: it does not count and may leave.
    tail = [piece for piece in all_pieces(given[-PROTECTED_RECENT:]) if piece[0] != "bashExecution"]
    said = [piece for piece in sent if piece[0] != "bashExecution"]
    assert is_tight or said[len(said) - len(tail) :] == tail, "one of the newest messages left"
    for message in given:
        is_system = message.get("role") in {"system", "developer", "compactionSummary"}
        if is_system or message.get("type") == "compaction":
            assert message in turn.messages, f"{message} left"
    conversation = _core.MessageReader().read(given, format)
    if is_tight:
        newest = conversation.newest_user
        question = [] if newest is None else _spoken(given[newest])
        assert _is_within(question, sent), f"the question left: {question}"
    else:
        first = next((found for message in given if (found := _spoken(message))), [])
        assert _is_within(first, sent), f"the task left: {first}"
    groups = [unit for unit in conversation.units if _has_call(given, unit)]
    if groups:
        last = all_pieces([given[index] for index in groups[-1]])
        assert _is_within(last, sent), f"the last tool group left: {last}"


def _sent(turn: Turn, given: Sequence[Message]) -> list[Piece]:
    """Return the sent messages without the session's blocks; blocks that a person pasted stay."""
    ours = set(recalled(turn, given))
    return [piece for piece in all_pieces(turn.messages) if piece[1] not in ours]


def _spoken(message: Message) -> list[Piece]:
    """Return the texts of a message that a person wrote."""
    if message.get("role") != "user":
        return []
    found = all_pieces([message])
    texts = [piece for piece in found if piece[0] == "text" and piece[1].strip()]
    return texts if not any(piece[0] == "result" for piece in found) else []


def _has_call(given: Sequence[Message], unit: Sequence[int]) -> bool:
    return any(kind == "call" for kind, _ in pieces([given[index] for index in unit]))


def _is_within(some: Sequence[Piece], all_of_them: Sequence[Piece]) -> bool:
    rest = iter(all_of_them)
    return all(piece in rest for piece in some)


def untouched_messages_are_the_same_objects(given: Sequence[Message], turn: Turn) -> None:
    """Assert that an unchanged message is the same object."""
    objects = {id(message) for message in given}
    if turn.report.cache.stale_thinking:  # what is left of such a message may read like another one
        return
    for message in turn.messages:
        assert id(message) in objects or message not in given, f"a needless copy: {message}"


def recalled(turn: Turn, given: Sequence[Message]) -> list[str]:
    """Return the sent blocks, without pasted ones."""
    pasted = set(blocks(given))
    return [text for text in blocks(turn.messages) if text not in pasted]


def recalled_text_stays_under_its_cap(
    turn: Turn, memory: memctx.Memory, given: Sequence[Message] = ()
) -> None:
    """Assert the cap on all blocks together, by our own estimate."""
    config = memory.config
    window = config.working_budget or config.context_window
    cap = (
        min(config.recall.hard_cap_tokens, window // 10)
        if window
        else config.recall.hard_cap_tokens
    )
    spent = sum(memctx.estimate_tokens(text, "script") for text in recalled(turn, given))
    assert spent <= cap, f"{spent} tokens were recalled, {cap} is the cap"


def the_rest_fits(
    given: Sequence[Message], turn: Turn, memory: memctx.Memory, format: FormatName
) -> None:
    """Assert that the messages are under the limit, unless a trim is deferred or the rest is protected."""
    report, window = turn.report, memory.config.context_window
    limit = report.tokens.limit
    if limit is None or window is None:
        return
    scanned = _core.MessageReader().read(turn.messages, format)
    added = sum(memctx.estimate_tokens(text, "script") + FRAME for text in recalled(turn, given))
    if scanned.tokens - added <= limit:
        return
    if report.is_deferred:
        assert scanned.tokens <= window, "a trim was put off although the window overflows"
        return
    assert report.is_over_limit, f"{scanned.tokens} > {limit} is not told"
    gone = {index for unit in report.trimmed for index in unit.indices}
    protected = {item.index for item in report.protected}
    for unit in _core.MessageReader().read(given, format).units:
        is_free = gone.isdisjoint(unit) and protected.isdisjoint(unit)
        says = any(all_pieces([given[index]]) for index in unit)
        assert not is_free or not says, f"{unit} might have left: {scanned.tokens} > {limit}"


def blocks_are_closed_once(turn: Turn) -> None:
    """Assert that nothing in a block opens or closes one, and that parsing returns what was put in."""
    for text in blocks(turn.messages):
        assert len(OPENING.findall(text)) == 1, text
        assert len(CLOSING.findall(text)) == 1, text
        assert text.rstrip().endswith("</recalled-context>"), text
        assert _core.parse_block(text) is not None, text


def no_block_is_archived(given: Sequence[Message], turn: Turn, memory: memctx.Memory) -> None:
    """Assert that recalled text is not archived again."""
    sent = recalled(turn, given)
    for segment in memory.store.segments():
        assert not any(text in segment.content for text in sent), segment.content

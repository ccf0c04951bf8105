"""Known failures of other memory tools, each as a case: broken pairs, stale thinking."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memctx
from memctx.messages import edit

from . import oracle, strategies, wire


def codes(messages: Any, format: str | None = None) -> list[tuple[int, str]]:
    return [(found.index, found.code) for found in memctx.validate(messages, format)]  # type: ignore[arg-type]


def repair(messages: Any, format: str | None = None) -> memctx.messages.Repaired:
    return memctx.repair(messages, format)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_run_of_results_with_one_orphan_loses_only_that(format: str) -> None:
    """A cut that asks whether any id is known keeps the orphan beside it."""
    messages = [
        wire.user("go", format),
        *wire.calls(["a"], format),
        *wire.results(["x", "a"], format),
    ]
    assert [code for _, code in codes(messages, format)] == ["orphan-result"]
    repaired = repair(messages, format)
    assert [(change.code, change.id) for change in repaired.changes] == [("dropped-orphan", "x")]
    assert codes(repaired.messages, format) == []
    assert "done" in str(repaired.messages[-1])


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_summary_in_place_of_the_calls_leaves_orphans(format: str) -> None:
    summary = wire.user("Summary of what went before", format)
    messages = [
        summary,
        *wire.results(["a", "b"], format),
        wire.assistant("so", format),
    ]
    orphans = [code for _, code in codes(messages, format) if code == "orphan-result"]
    assert orphans == ["orphan-result"] * 2
    repaired = repair(messages, format)
    assert codes(repaired.messages, format) == []
    assert repaired.messages == [summary, messages[-1]]


def test_the_last_items_of_a_session_may_begin_with_an_output() -> None:
    message_format = "responses"
    items = [
        wire.user("go", message_format),
        *wire.calls(["a"], message_format),
        *wire.results(["a"], message_format),
    ][-1:]
    assert codes(items, message_format) == [(0, "orphan-result")]
    assert repair(items, message_format).messages == []


def test_reasoning_keeps_its_follower() -> None:
    message_format = "responses"
    items = [
        wire.user("go", message_format),
        dict(strategies.REASONING),
        *wire.calls(["a"], message_format),
        *wire.results(["a"], message_format),
    ]
    assert codes(items) == []
    cut = [*items[:2], wire.user("more", message_format)]
    assert codes(cut) == [(1, "reasoning-without-follower")]
    repaired = repair(cut)
    assert repaired.messages == [items[0], cut[2]]
    assert repaired.changes[0].removed is cut[1]


@settings(max_examples=200, deadline=None)
@given(strategies.any_format(strategies.whole), st.integers(0, 40))
def test_no_cut_makes_a_session_unrecoverable(
    drawn: tuple[str, list[wire.Message]], start: int
) -> None:
    """Wherever a conversation is cut, its repaired rest is valid, if it does not begin with the model."""
    message_format, messages = drawn
    rest = messages[start % len(messages) :]
    if oracle.read(rest[0], message_format).side == "model":
        rest = [wire.user("go on", message_format), *rest]
    assert codes(repair(rest, message_format).messages, message_format) == []


@pytest.mark.parametrize("format", [name for name in wire.FORMATS if name != "anthropic"])
def test_call_ids_repeated_in_every_turn_are_valid(format: str) -> None:
    """Results belong to the nearest call; an answer of an earlier turn is none of this one's."""
    turn = [*wire.calls(["call_0"], format), *wire.results(["call_0"], format)]
    messages = [wire.user("go", format), *turn, *copy.deepcopy(turn)]
    assert codes(messages, format) == []
    lost = [*messages[:-1], wire.user("well?", format)]
    assert codes(lost, format) == [(3, "unanswered-call")]
    repaired = repair(lost, format)
    assert [(change.index, change.code) for change in repaired.changes] == [(3, "added-result")]
    assert repaired.messages[2] is lost[2]


def test_repeated_call_ids_are_refused_by_anthropic() -> None:
    turn = [*wire.calls(["call_0"], "anthropic"), *wire.results(["call_0"], "anthropic")]
    messages = [wire.user("go", "anthropic"), *turn, *copy.deepcopy(turn)]
    assert codes(messages) == [(3, "duplicate-call")]
    assert repair(messages).messages is messages, "ids are the host's"


@pytest.mark.parametrize("format", wire.FORMATS)
def test_repair_validates_the_filtered_list(format: str) -> None:
    """Stored messages are valid; the rest after a filter is validated again."""
    stored = [
        wire.user("go", format),
        *wire.calls(["a"], format),
        *wire.results(["a"], format, "on"),
    ]
    assert codes(stored, format) == []
    filtered = [
        message for message in stored if "read" not in str(message) or "done" in str(message)
    ]
    assert (1, "orphan-result") in codes(filtered, format)


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_successful_result_is_never_deleted_in_silence(format: str) -> None:
    late = [
        wire.user("go", format),
        *wire.calls(["a"], format),
        wire.user("well?", format),
        wire.assistant("wait", format),
        *wire.results(["a"], format, text="the only copy"),
    ]
    assert "the only copy" in str(repair(late, format).messages)
    orphan = [
        wire.user("go", format),
        *wire.results(["a"], format, text="the only copy"),
    ]
    (change,) = repair(orphan, format).changes
    assert "the only copy" in str(change.removed)
    assert change.message.startswith("dropped a tool result")


@pytest.mark.parametrize("format", ["anthropic", "bedrock", "gemini", "pi"])
def test_repair_touches_no_thinking(format: str) -> None:
    """A signed block that comes back changed, or in another message, is refused."""
    called = strategies.thoughtful(wire.calls(["a", "b"], format), format)
    messages = [wire.user("go", format), *called, *wire.results(["b"], format)]
    repaired = repair(messages, format)
    assert repaired.changes
    assert repaired.messages[1] is called[0]


@pytest.mark.parametrize("format", wire.FORMATS)
def test_stale_thinking_can_be_taken_out_and_the_rest_stays_valid(format: str) -> None:
    """After a cut the signatures behind it are stale; calls and results stay together without them."""
    called = strategies.thoughtful(wire.calls(["a"], format, "so"), format)
    messages = [wire.user("go", format), *called, *wire.results(["a"], format)]
    stripped = [edit.remove_thinking(message, format) for message in messages]
    kept = [message for message in stripped if message is not None]
    assert codes(kept, format) == []
    assert "signature" not in str(kept).lower()
    assert "encrypted" not in str(kept)


def test_a_thought_and_its_signature_leave_together() -> None:
    """Gemini refuses a thought that was shortened under its old signature."""
    thought = strategies.THINKING["gemini"]
    message = {"role": "model", "parts": [thought, {"text": "so", "thoughtSignature": "t"}]}
    assert edit.remove_thinking(message, "gemini")["parts"] == [message["parts"][1]]


@pytest.mark.parametrize("format", wire.FORMATS)
def test_repairing_twice_equals_repairing_once(format: str) -> None:
    """Messages that survive one compaction must survive the next."""
    messages = [
        *wire.results(["x"], format),
        wire.user("go", format),
        *wire.calls(["a", "b"], format),
        *wire.results(["b", "b"], format, "and?"),
    ]
    once = repair(messages, format)
    assert once.changes
    assert repair(once.messages, format).messages is once.messages

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


def codes(messages: Any, shape: str | None = None) -> list[tuple[int, str]]:
    return [(found.index, found.code) for found in memctx.validate(messages, shape)]  # type: ignore[arg-type]


def repair(messages: Any, shape: str | None = None) -> memctx.messages.Repaired:
    return memctx.repair(messages, shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", wire.SHAPES)
def test_a_run_of_results_with_one_orphan_loses_only_that(shape: str) -> None:
    """A cut that asks whether any id is known keeps the orphan beside it."""
    messages = [wire.user("go", shape), *wire.calls(["a"], shape), *wire.results(["x", "a"], shape)]
    assert [code for _, code in codes(messages, shape)] == ["orphan-result"]
    repaired = repair(messages, shape)
    assert [(change.code, change.id) for change in repaired.changes] == [("dropped-orphan", "x")]
    assert codes(repaired.messages, shape) == []
    assert "done" in str(repaired.messages[-1])


@pytest.mark.parametrize("shape", wire.SHAPES)
def test_a_summary_in_place_of_the_calls_leaves_orphans(shape: str) -> None:
    summary = wire.user("Summary of what went before", shape)
    messages = [summary, *wire.results(["a", "b"], shape), wire.assistant("so", shape)]
    orphans = [code for _, code in codes(messages, shape) if code == "orphan-result"]
    assert orphans == ["orphan-result"] * 2
    repaired = repair(messages, shape)
    assert codes(repaired.messages, shape) == []
    assert repaired.messages == [summary, messages[-1]]


def test_the_last_items_of_a_session_may_begin_with_an_output() -> None:
    shape = "responses"
    items = [wire.user("go", shape), *wire.calls(["a"], shape), *wire.results(["a"], shape)][-1:]
    assert codes(items, shape) == [(0, "orphan-result")]
    assert repair(items, shape).messages == []


def test_reasoning_keeps_its_follower() -> None:
    shape = "responses"
    items = [
        wire.user("go", shape),
        dict(strategies.REASONING),
        *wire.calls(["a"], shape),
        *wire.results(["a"], shape),
    ]
    assert codes(items) == []
    cut = [*items[:2], wire.user("more", shape)]
    assert codes(cut) == [(1, "reasoning-without-follower")]
    repaired = repair(cut)
    assert repaired.messages == [items[0], cut[2]]
    assert repaired.changes[0].removed is cut[1]


@settings(max_examples=200, deadline=None)
@given(strategies.any_shape(strategies.whole), st.integers(0, 40))
def test_no_cut_makes_a_session_unrecoverable(
    drawn: tuple[str, list[wire.Message]], start: int
) -> None:
    """Wherever a conversation is cut, its repaired rest is valid, if it does not begin with the model."""
    shape, messages = drawn
    rest = messages[start % len(messages) :]
    if oracle.read(rest[0], shape).side == "model":
        rest = [wire.user("go on", shape), *rest]
    assert codes(repair(rest, shape).messages, shape) == []


@pytest.mark.parametrize("shape", [shape for shape in wire.SHAPES if shape != "anthropic"])
def test_call_ids_repeated_in_every_turn_are_valid(shape: str) -> None:
    """Results belong to the nearest call; an answer of an earlier turn is none of this one's."""
    turn = [*wire.calls(["call_0"], shape), *wire.results(["call_0"], shape)]
    messages = [wire.user("go", shape), *turn, *copy.deepcopy(turn)]
    assert codes(messages, shape) == []
    lost = [*messages[:-1], wire.user("well?", shape)]
    assert codes(lost, shape) == [(3, "unanswered-call")]
    repaired = repair(lost, shape)
    assert [(change.index, change.code) for change in repaired.changes] == [(3, "added-result")]
    assert repaired.messages[2] is lost[2]


def test_repeated_call_ids_are_refused_by_anthropic() -> None:
    turn = [*wire.calls(["call_0"], "anthropic"), *wire.results(["call_0"], "anthropic")]
    messages = [wire.user("go", "anthropic"), *turn, *copy.deepcopy(turn)]
    assert codes(messages) == [(3, "duplicate-call")]
    assert repair(messages).messages is messages, "ids are the host's"


@pytest.mark.parametrize("shape", wire.SHAPES)
def test_repair_validates_the_filtered_list(shape: str) -> None:
    """Stored messages are valid; the rest after a filter is validated again."""
    stored = [wire.user("go", shape), *wire.calls(["a"], shape), *wire.results(["a"], shape, "on")]
    assert codes(stored, shape) == []
    filtered = [
        message for message in stored if "read" not in str(message) or "done" in str(message)
    ]
    assert (1, "orphan-result") in codes(filtered, shape)


@pytest.mark.parametrize("shape", wire.SHAPES)
def test_a_successful_result_is_never_deleted_in_silence(shape: str) -> None:
    late = [
        wire.user("go", shape),
        *wire.calls(["a"], shape),
        wire.user("well?", shape),
        wire.assistant("wait", shape),
        *wire.results(["a"], shape, text="the only copy"),
    ]
    assert "the only copy" in str(repair(late, shape).messages)
    orphan = [wire.user("go", shape), *wire.results(["a"], shape, text="the only copy")]
    (change,) = repair(orphan, shape).changes
    assert "the only copy" in str(change.removed)
    assert change.message.startswith("dropped a tool result")


@pytest.mark.parametrize("shape", ["anthropic", "bedrock", "gemini", "pi"])
def test_repair_touches_no_thinking(shape: str) -> None:
    """A signed block that comes back changed, or in another message, is refused."""
    called = strategies.thoughtful(wire.calls(["a", "b"], shape), shape)
    messages = [wire.user("go", shape), *called, *wire.results(["b"], shape)]
    repaired = repair(messages, shape)
    assert repaired.changes
    assert repaired.messages[1] is called[0]


@pytest.mark.parametrize("shape", wire.SHAPES)
def test_stale_thinking_can_be_taken_out_and_the_rest_stays_valid(shape: str) -> None:
    """After a cut the signatures behind it are stale; calls and results stay together without them."""
    called = strategies.thoughtful(wire.calls(["a"], shape, "so"), shape)
    messages = [wire.user("go", shape), *called, *wire.results(["a"], shape)]
    stripped = [edit.remove_thinking(message, shape) for message in messages]
    kept = [message for message in stripped if message is not None]
    assert codes(kept, shape) == []
    assert "signature" not in str(kept).lower()
    assert "encrypted" not in str(kept)


def test_a_thought_and_its_signature_leave_together() -> None:
    """Gemini refuses a thought that was shortened under its old signature."""
    thought = strategies.THINKING["gemini"]
    message = {"role": "model", "parts": [thought, {"text": "so", "thoughtSignature": "t"}]}
    assert edit.remove_thinking(message, "gemini")["parts"] == [message["parts"][1]]


@pytest.mark.parametrize("shape", wire.SHAPES)
def test_repairing_twice_equals_repairing_once(shape: str) -> None:
    """Messages that survive one compaction must survive the next."""
    messages = [
        *wire.results(["x"], shape),
        wire.user("go", shape),
        *wire.calls(["a", "b"], shape),
        *wire.results(["b", "b"], shape, "and?"),
    ]
    once = repair(messages, shape)
    assert once.changes
    assert repair(once.messages, shape).messages is once.messages

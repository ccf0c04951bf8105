"""Pruning of a history to its share of the window: OpenClaw's report, and no split unit in any format."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import memctx
from context.pieces import pieces
from context.rendering import Rendering
from context.script import FORMATS, Assistant, Call, User
from context.strategies import scripts
from memctx import ConfigError, _core
from memctx.compaction.plan.chunks import is_crowded, prune_history_for_context_share
from memctx.compaction.plan.spans import find_spans

from . import reference

if TYPE_CHECKING:
    from context.rendering import Message
    from context.script import FormatName, Script

formats = st.sampled_from(FORMATS)
SYSTEM = {"system", "developer"}
ABORTED = (
    User(("Which port does the payment webhook listen on?",)),
    Assistant(calls=(Call("aborted_0", "bash"),), is_aborted=True),
    User(("Which port does the payment webhook listen on?",)),
)


def said(tokens: list[int]) -> list[Message]:
    return [{"role": "user", "content": "x", "cost": cost} for cost in tokens]


def cost(message: Message) -> int:
    return int(message["cost"])


def test_pruning_reports_its_numbers() -> None:
    """4,000 tokens in a window of 2,000: half of them is the budget, and two halvings reach it."""
    messages = said([1_000] * 4)
    pruned = prune_history_for_context_share(messages, max_context_tokens=2_000, estimate=cost)
    assert pruned.messages == messages[3:]
    assert pruned.dropped_messages_list == messages[:3]
    assert (pruned.dropped_chunks, pruned.dropped_messages) == (2, 3)
    assert (pruned.dropped_tokens, pruned.kept_tokens, pruned.budget_tokens) == (
        3_000,
        1_000,
        1_000,
    )


def test_a_history_within_its_share_stays_whole() -> None:
    messages = said([100, 200])
    pruned = prune_history_for_context_share(messages, max_context_tokens=600, estimate=cost)
    assert pruned.messages == messages
    assert (pruned.dropped_chunks, pruned.dropped_messages_list) == (0, [])


@given(
    st.lists(st.integers(1, 5_000), max_size=40),
    st.integers(1, 60_000),
    st.sampled_from((0.1, 0.2, 0.5, 0.9)),
    st.integers(1, 9),
)
def test_pruning_matches_the_reference_implementation(
    tokens: list[int], window: int, share: float, parts: int
) -> None:
    pruned = prune_history_for_context_share(
        said(tokens),
        max_context_tokens=window,
        max_history_share=share,
        parts=parts,
        estimate=cost,
    )
    kept, chunks = reference.prune(tokens, window, share, parts)
    assert [cost(message) for message in pruned.messages] == kept
    assert pruned.dropped_chunks == chunks


@given(formats, scripts(), st.integers(1, 4_000), st.integers(2, 5))
@example("pi", ABORTED, 54, 2)
def test_every_pruning_keeps_the_invariants(
    format: FormatName, script: Script, window: int, parts: int
) -> None:
    """Units leave whole, pairs stay pairs, the newest stays, no more might leave, and nothing that came is changed."""
    messages = Rendering(script, format).whole()
    before = copy.deepcopy(messages)
    pruned = prune_history_for_context_share(
        messages, max_context_tokens=window, parts=parts, format=format
    )
    assert messages == before
    conversation = _core.MessageReader().read(messages, format)
    kept = {id(message) for message in pruned.messages}
    for unit in conversation.units:
        assert len({id(messages[index]) in kept for index in unit}) == 1
    assert pruned.messages[-1] is messages[-1]
    assert pruned.kept_tokens + pruned.dropped_tokens == conversation.tokens
    assert pruned.dropped_messages == len(pruned.dropped_messages_list)
    assert len(pruned.messages) + pruned.dropped_messages == len(messages)
    system = [message for message in messages if message.get("role") in SYSTEM]
    assert all(id(message) in kept for message in system)
    if pruned.kept_tokens > pruned.budget_tokens:
        rest = [message for message in pruned.messages if message.get("role") not in SYSTEM]
        spans = find_spans(_core.MessageReader().read(rest, format))
        assert len(spans) == 1, "more might have left"
    # The calls of an aborted answer were not run: they have no results to stay with.
    found = pieces(each for each in pruned.messages if each.get("stopReason") != "aborted")
    calls = sorted(name for kind, name in found if kind == "call")
    assert calls == sorted(name for kind, name in found if kind == "result")
    codes = {problem.code for problem in memctx.validate(pruned.messages, format)}
    assert not codes & {"orphan-result", "unanswered-call", "reasoning-without-follower"}


def test_a_system_prompt_is_no_part_of_the_history() -> None:
    """The 400 tokens behind it are halved, not the 1,400 there are."""
    messages: list[Message] = [{"role": "system", "content": "x", "cost": 1_000}, *said([100] * 4)]
    pruned = prune_history_for_context_share(
        messages, max_context_tokens=2_500, format="openai", estimate=cost
    )
    assert pruned.messages == [messages[0], *messages[3:]]
    assert (pruned.kept_tokens, pruned.budget_tokens, pruned.dropped_chunks) == (1_200, 1_250, 1)


def test_history_is_crowded_beyond_its_share_and_the_margin() -> None:
    """floor(200,000 · 0.5 · 1.2) = 120,000."""
    assert not is_crowded(140_000, 20_000, 200_000)
    assert is_crowded(140_001, 20_000, 200_000)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"max_context_tokens": 0}, "max_context_tokens is 0; expected at least 1"),
        ({"max_context_tokens": 9, "max_history_share": 0.0}, "max_history_share is 0.0"),
        ({"max_context_tokens": 9, "max_history_share": 1.1}, "max_history_share is 1.1"),
        ({"max_context_tokens": 9, "parts": 0}, "parts is 0"),
    ],
)
def test_pruning_numbers_out_of_range_are_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        prune_history_for_context_share([], **arguments)

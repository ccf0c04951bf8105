"""Chunks of a history: OpenClaw's numbers for plain messages, and no split unit in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.rendering import Rendering
from context.script import FORMATS
from context.strategies import scripts
from memctx import ConfigError, _core
from memctx.compaction.plan import chunks as chunk
from memctx.compaction.plan.spans import find_spans

from . import reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from context.rendering import Message
    from context.script import FormatName, Script

formats = st.sampled_from(FORMATS)
costs = st.lists(st.integers(1, 5_000), max_size=40)


def said(tokens: Sequence[int]) -> list[Message]:
    """Return messages of a person with the given costs."""
    return [{"role": "user", "content": "x", "cost": cost} for cost in tokens]


def cost(message: Message) -> int:
    return int(message["cost"])


def costs_of(parts: Sequence[Sequence[Any]]) -> list[list[int]]:
    return [[cost(message) for message in part] for part in parts]


def whole(parts: Sequence[Sequence[Any]]) -> list[int]:
    return [id(message) for part in parts for message in part]


def test_chunk_constants_match_openclaw() -> None:
    assert (chunk.BASE_CHUNK_RATIO, chunk.MIN_CHUNK_RATIO, chunk.SAFETY_MARGIN) == (0.4, 0.15, 1.2)
    assert (chunk.DEFAULT_PARTS, chunk.SUMMARIZATION_OVERHEAD_TOKENS) == (2, 4_096)


@pytest.mark.parametrize(
    ("mean", "ratio"),
    [
        (1, 0.4),
        (16_666, 0.4),  # 19,999.2 with the margin: not over a tenth of the window
        (16_667, 0.4 - 2 * 16_667 * 1.2 / 200_000),
        (18_000, 0.184),
        (20_833, 0.15002),
        (25_000, 0.15),
        (180_000, 0.15),
    ],
)
def test_larger_messages_reduce_the_chunk_ratio(mean: int, ratio: float) -> None:
    found = chunk.compute_adaptive_chunk_ratio(said([mean] * 3), 200_000, estimate=cost)
    assert found == pytest.approx(ratio, abs=1e-12 if ratio != 0.15002 else 1e-4)


def test_the_ratio_of_an_empty_history_is_the_base_ratio() -> None:
    assert chunk.compute_adaptive_chunk_ratio([], 200_000) == 0.4


@given(costs, st.integers(1, 300_000))
def test_the_ratio_matches_the_reference_implementation(tokens: list[int], window: int) -> None:
    found = chunk.compute_adaptive_chunk_ratio(said(tokens), window, estimate=cost)
    assert found == pytest.approx(reference.ratio(tokens, window))


@pytest.mark.parametrize(
    ("tokens", "is_oversized"), [(83_333, False), (83_334, True), (200_000, True), (0, False)]
)
def test_a_message_of_half_the_window_is_oversized(tokens: int, *, is_oversized: bool) -> None:
    assert chunk.is_oversized(tokens, 200_000) is is_oversized


@given(costs, st.integers(1, 9))
def test_a_split_matches_the_reference_implementation(tokens: list[int], parts: int) -> None:
    found = chunk.split_messages_by_token_share(said(tokens), parts, estimate=cost)
    assert costs_of(found) == reference.split(tokens, parts)


@given(costs, st.integers(1, 9_000))
def test_chunks_match_the_reference_implementation(tokens: list[int], most: int) -> None:
    found = chunk.chunk_messages_by_max_tokens(said(tokens), most, estimate=cost)
    assert costs_of(found) == reference.chunk(tokens, most)


def test_chunks_leave_the_safety_margin_free() -> None:
    """1,200 tokens hold 1,000 by estimate."""
    found = chunk.chunk_messages_by_max_tokens(said([500, 500, 1, 2_000, 1]), 1_200, estimate=cost)
    assert costs_of(found) == [[500, 500], [1], [2_000], [1]]


@settings(max_examples=50)
@given(formats, scripts(), st.integers(1, 6), st.integers(1, 3_000))
@pytest.mark.slow
def test_every_split_keeps_the_invariants(
    format: FormatName, script: Script, parts: int, most: int
) -> None:
    messages = Rendering(script, format).whole()
    conversation = _core.MessageReader().read(messages, format)
    spans_are_all_messages_in_order(conversation)
    split = chunk.split_messages_by_token_share(messages, parts, format=format)
    chunks = chunk.chunk_messages_by_max_tokens(messages, most, format=format)
    no_unit_is_torn(split, messages, conversation)
    no_unit_is_torn(chunks, messages, conversation)
    assert len(split) <= parts
    only_what_cannot_be_parted_is_over_the_limit(chunks, most, format)
    again = chunk.chunk_messages_by_max_tokens(messages, most, conversation=conversation)
    assert again == chunks, "what was read before need not be read again"


def spans_are_all_messages_in_order(conversation: _core.Conversation) -> None:
    """Assert that a span ends wherever no unit goes on, and nowhere else."""
    spans = find_spans(conversation)
    indices = [index for span in spans for index in range(span.start, span.stop)]
    assert indices == list(range(len(conversation)))
    assert sum(span.tokens for span in spans) == conversation.tokens
    ends = {span.stop for span in spans}
    for end in range(1, len(conversation)):
        is_torn = any(unit[0] < end <= unit[-1] for unit in conversation.units)
        assert (end in ends) is not is_torn


def no_unit_is_torn(
    found: list[list[Message]], messages: list[Message], conversation: _core.Conversation
) -> None:
    """Assert that all messages are there, once, in order, as the objects that came."""
    assert whole(found) == list(map(id, messages))
    assert all(found)
    part_of = [number for number, part in enumerate(found) for _ in part]
    assert all(len({part_of[index] for index in unit}) == 1 for unit in conversation.units)


def only_what_cannot_be_parted_is_over_the_limit(
    chunks: list[list[Message]], most: int, format: FormatName
) -> None:
    for part in chunks:
        conversation = _core.MessageReader(capacity=0).read(part, format)
        is_within = conversation.tokens <= max(int(most / 1.2), 1)
        assert is_within or len(find_spans(conversation)) == 1


def test_an_empty_history_has_no_parts() -> None:
    assert chunk.split_messages_by_token_share([]) == []
    assert chunk.chunk_messages_by_max_tokens([], 100) == []
    assert chunk.estimate_messages_tokens([]) == 0


def test_details_of_a_result_cost_nothing() -> None:
    """Details that Pi keeps beside a result never reach a model."""
    result = {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "read",
        "content": [{"type": "text", "text": "short"}],
        "isError": False,
    }
    heavy = result | {"details": {"diff": "x" * 30_000}}
    assert chunk.estimate_messages_tokens([heavy]) == chunk.estimate_messages_tokens([result])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: chunk.split_messages_by_token_share([], 0), "parts is 0; expected at least 1"),
        (lambda: chunk.chunk_messages_by_max_tokens([], -1), "max_tokens is -1"),
        (lambda: chunk.compute_adaptive_chunk_ratio([], 0), "context_window is 0"),
        (lambda: chunk.is_oversized(1, -3), "context_window is -3"),
    ],
)
def test_chunk_numbers_out_of_range_are_refused(call: Any, match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        call()


def test_a_conversation_of_other_messages_is_refused() -> None:
    conversation = _core.MessageReader().read([{"role": "user", "content": "a"}])
    with pytest.raises(ConfigError, match="the conversation has 1 messages; expected 0"):
        chunk.estimate_messages_tokens([], conversation=conversation)

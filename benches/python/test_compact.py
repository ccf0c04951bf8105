"""Planning a compaction of a million tokens, beside a trim that looks at lengths only.

The plan is all that is decided before a model is asked: what the context costs, whether that is too much, where to cut,
what is dropped of the history, and the chunks that are summarized. The messages are read once, by a reader that knows
none of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import contexts
import pytest
import report
from benchmark import REPEATS, Entry, Figure, measure

from memctx import _core
from memctx.compaction.plan import (
    Cut,
    PrunedHistory,
    chunk_messages_by_max_tokens,
    compute_adaptive_chunk_ratio,
    context_tokens,
    file_operations,
    find_cut,
    keep_recent_tokens,
    latest_ask,
    prune_history_for_context_share,
    reserve_tokens,
    should_compact,
    tool_failures,
)

if TYPE_CHECKING:
    from benchmark import Benchmark

MESSAGES = 1_400
"""They cost a little over a million tokens by the estimate that budgets go by."""
LENGTHS = (350, MESSAGES, 2 * MESSAGES)
WINDOW = 200_000


@dataclass(frozen=True)
class Plan:
    """Result of planning."""

    cut: Cut
    pruned: PrunedHistory[Any]
    chunks: list[list[Any]]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("material") / "corpus.jsonl"
    return contexts.texts(path, max(LENGTHS), 0)


def plan(messages: list[contexts.Message], conversation: _core.Conversation | None = None) -> Plan:
    """Plan a compaction as a host does."""
    conversation = conversation or _core.MessageReader().read(messages, "anthropic")
    tokens = context_tokens(messages, conversation=conversation)
    reserve = reserve_tokens(WINDOW)
    assert should_compact(tokens, WINDOW, reserve)
    cut = find_cut(conversation, keep_recent_tokens(WINDOW, reserve))
    assert isinstance(cut, Cut)
    history = cut.history(messages)
    before = cut.scanned_history(conversation)
    pruned = prune_history_for_context_share(
        history, max_context_tokens=WINDOW, conversation=before
    )
    ratio = compute_adaptive_chunk_ratio(history, WINDOW, conversation=before)
    most = int(WINDOW * ratio)
    chunks = chunk_messages_by_max_tokens(history, most, conversation=before)
    return Plan(cut, pruned, chunks)


def carried(messages: list[contexts.Message], conversation: _core.Conversation) -> tuple[Any, ...]:
    """Return what a summary gets besides the messages."""
    return (
        tool_failures(messages, conversation=conversation),
        file_operations(messages, conversation=conversation),
        latest_ask(messages, conversation=conversation),
    )


def test_plan_of_a_million_tokens(benchmark: Benchmark, material: list[str]) -> None:
    """LangChain gets its own objects ready and keeps as much; we read the host's dictionaries."""
    messages = contexts.context(iter(material), MESSAGES)
    conversation = _core.MessageReader().read(messages, "anthropic")
    assert conversation.tokens > 1_000_000
    made = plan(messages)
    assert made.cut.tokens_kept < 25_000
    assert sum(map(len, made.chunks)) == len(made.cut.history(messages))
    path = f"plan a compaction, {len(messages)} messages, {conversation.tokens:,} tokens"
    steps = {
        "what was read before": lambda: plan(messages, conversation),
        "failures, files and latest ask": lambda: carried(messages, conversation),
    }
    figures = measure([Entry(step) for step in steps.values()], REPEATS)
    benchmark.ledger.notes += [
        f"{path}, {name}: {report.spread(figure)}"
        for name, figure in zip(steps, figures, strict=True)
    ]
    langchain = benchmark.peer("langchain_trim")
    peers = {}
    if langchain:
        share = keep_recent_tokens(WINDOW, 20_000) / conversation.tokens
        peers[langchain.NAME] = Entry(langchain.Trim(messages, share))
    benchmark(path, Entry(lambda: plan(messages)), peers)


def test_growth_of_a_plan(benchmark: Benchmark, material: list[str]) -> None:
    """Twice the messages take twice the time."""
    times: dict[int, Figure] = {}
    for length in LENGTHS:
        messages = contexts.context(iter(material), length)
        (times[length],) = measure([Entry(lambda talk=messages: plan(talk))], REPEATS)
    span = math.log(LENGTHS[-1] / LENGTHS[0])
    exponent = math.log(times[LENGTHS[-1]].median / times[LENGTHS[0]].median) / span
    words = ", ".join(f"{length}: {report.spread(figure)}" for length, figure in times.items())
    benchmark.ledger.notes.append(f"plan by messages: {words}; exponent {exponent:.2f}")
    assert exponent < 1.3

"""Planning a compaction of a million tokens, beside a trim that looks at lengths only.

The plan is all that is decided before a model is asked: what the context costs, whether that is too much, where to cut,
what is dropped of the history, and the chunks that are summarised. The messages are read once, by a scanner that knows
none of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import contexts
import pytest
import report
from race import REPEATS, Entry, Figure, measure

from memctx import _core, compact

if TYPE_CHECKING:
    from race import Race

MESSAGES = 1_400
"""They cost a little over a million tokens by the estimate that budgets go by."""
LENGTHS = (350, MESSAGES, 2 * MESSAGES)
WINDOW = 200_000


@dataclass(frozen=True)
class Plan:
    """What was decided."""

    cut: compact.Cut
    pruned: compact.Pruned[Any]
    chunks: list[list[Any]]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("material") / "corpus.jsonl"
    return contexts.texts(path, max(LENGTHS), 0)


def plan(messages: list[contexts.Message], conversation: _core.Conversation | None = None) -> Plan:
    """A compaction, planned as a host would have it."""
    conversation = conversation or _core.Scanner().scan(messages, "anthropic")
    tokens = compact.context_tokens(messages, conversation=conversation)
    reserve = compact.reserve_tokens(WINDOW)
    assert compact.should_compact(tokens, WINDOW, reserve)
    cut = compact.find_cut(conversation, compact.keep_recent_tokens(WINDOW, reserve))
    assert isinstance(cut, compact.Cut)
    history = cut.history(messages)
    before = cut.scanned_history(conversation)
    pruned = compact.prune_history_for_context_share(
        history, max_context_tokens=WINDOW, conversation=before
    )
    ratio = compact.compute_adaptive_chunk_ratio(history, WINDOW, conversation=before)
    most = int(WINDOW * ratio)
    chunks = compact.chunk_messages_by_max_tokens(history, most, conversation=before)
    return Plan(cut, pruned, chunks)


def carried(messages: list[contexts.Message], conversation: _core.Conversation) -> tuple[Any, ...]:
    """What a summary is told beside the messages."""
    return (
        compact.tool_failures(messages, conversation=conversation),
        compact.file_operations(messages, conversation=conversation),
        compact.latest_ask(messages, conversation=conversation),
    )


def test_plan_of_a_million_tokens(race: Race, material: list[str]) -> None:
    """LangChain gets its own objects ready and keeps as much; we read the host's dictionaries."""
    messages = contexts.context(iter(material), MESSAGES)
    conversation = _core.Scanner().scan(messages, "anthropic")
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
    race.ledger.notes += [
        f"{path}, {name}: {report.spread(figure)}"
        for name, figure in zip(steps, figures, strict=True)
    ]
    langchain = race.peer("langchain_trim")
    peers = {}
    if langchain:
        share = compact.keep_recent_tokens(WINDOW, 20_000) / conversation.tokens
        peers[langchain.NAME] = Entry(langchain.Trim(messages, share))
    race(path, Entry(lambda: plan(messages)), peers)


def test_growth_of_a_plan(race: Race, material: list[str]) -> None:
    """Twice the messages take twice the time."""
    times: dict[int, Figure] = {}
    for length in LENGTHS:
        messages = contexts.context(iter(material), length)
        (times[length],) = measure([Entry(lambda talk=messages: plan(talk))], REPEATS)
    span = math.log(LENGTHS[-1] / LENGTHS[0])
    exponent = math.log(times[LENGTHS[-1]].median / times[LENGTHS[0]].median) / span
    words = ", ".join(f"{length}: {report.spread(figure)}" for length, figure in times.items())
    race.ledger.notes.append(f"plan by messages: {words}; exponent {exponent:.2f}")
    assert exponent < 1.3

"""`Memory.observe`: the provider's count, set against the turn it is of."""

from __future__ import annotations

import asyncio
import logging
from itertools import permutations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memctx.context import Turn

WINDOW, LIMIT = 16_000, 10_400
LINE = (
    "worker {0} handled request {1} without incident and went on with the next one in the queue; "
)


def talk(count: int, words: int = 12) -> list[dict[str, Any]]:
    """Return turns of a person and a model; the last is the person's."""
    return [
        {
            "role": "user" if number % 2 == 0 else "assistant",
            "content": "".join(LINE.format(number, line) for line in range(words)),
        }
        for number in range(count)
    ]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memctx.Memory]:
    with memctx.open(tmp_path, session_id="s1", context_window=WINDOW, auto_recall=False) as memory:
        yield memory


UNCACHED: dict[str, Callable[[int], object]] = {
    "nothing": lambda sent: 0 * sent,
    "below nothing": lambda sent: -sent,
    "uncached only": lambda sent: {"input_tokens": sent // 20, "output_tokens": 9},
    "a little less than half": lambda sent: {"prompt_tokens": int(sent * 0.49)},
    "a little more than half": lambda sent: {"prompt_tokens": int(sent * 0.51)},
    "a bit too little": lambda sent: int(sent * 0.8),
}


@pytest.mark.parametrize("usage", UNCACHED.values(), ids=UNCACHED)
def test_no_count_doubles_the_limit(usage: Callable[[int], object], memory: memctx.Memory) -> None:
    """Whatever is told after every turn, what is sent stays within the window less the answer's room."""
    most = 0
    for count in range(1, 161, 4):
        turn = memory.prepare(talk(count))
        most = max(most, turn.report.tokens.after)
        memory.observe(usage(turn.report.tokens.after), turn=turn)
        assert turn.report.tokens.limit == LIMIT
    assert LIMIT * 0.5 < most <= WINDOW * 0.75


@pytest.mark.parametrize("tokens", [0, -7, 100])
def test_an_implausible_count_is_reported_and_ignored(
    tokens: int, memory: memctx.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    turn = memory.prepare(talk(9))
    with caplog.at_level(logging.WARNING):
        observed = memory.observe({"input_tokens": tokens, "output_tokens": 5}, turn=turn)
        assert not observed.is_used
        assert observed.note is not None
        assert str(tokens) in observed.note
        again = memory.prepare(talk(11))
        memory.observe(tokens, turn=again)
    assert again.report.warnings == (observed.note,)
    assert again.report.tokens.excess == 0
    assert memory.prepare(talk(13)).report.warnings == (), "it is told once"
    assert len([record for record in caplog.records if "input tokens" in record.message]) == 1
    assert memory.counters.input_tokens is None


def test_a_sum_of_several_calls_is_implausible(memory: memctx.Memory) -> None:
    turn = memory.prepare(talk(9))
    observed = memory.observe({"prompt_tokens": 5 * WINDOW}, turn=turn)
    assert not observed.is_used
    assert memory.prepare(talk(11)).report.tokens.excess == 0


CACHED: dict[str, Callable[[int], object]] = {
    "anthropic": lambda sent: {
        "input_tokens": 4,
        "cache_read_input_tokens": sent - 500,
        "cache_creation_input_tokens": 496,
        "output_tokens": 7,
    },
    "openai chat": lambda sent: {
        "prompt_tokens": sent,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": sent - 500},
    },
    "openai responses": lambda sent: SimpleNamespace(
        input_tokens=sent,
        output_tokens=7,
        input_tokens_details=SimpleNamespace(cached_tokens=sent - 500),
    ),
    "gemini": lambda sent: {
        "usageMetadata": {
            "promptTokenCount": sent,
            "cachedContentTokenCount": sent - 500,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3,
        }
    },
    "gemini sdk": lambda sent: SimpleNamespace(
        usage_metadata=SimpleNamespace(
            prompt_token_count=sent,
            cached_content_token_count=sent - 500,
            candidates_token_count=7,
            thoughts_token_count=None,
        )
    ),
    "bedrock": lambda sent: {
        "usage": {
            "inputTokens": 4,
            "cacheReadInputTokens": sent - 500,
            "cacheWriteInputTokens": 496,
            "outputTokens": 7,
        }
    },
    "litellm": lambda sent: {
        "prompt_tokens": sent,
        "completion_tokens": 7,
        "cache_read_input_tokens": sent - 500,
        "cache_creation_input_tokens": 0,
    },
    "langchain": lambda sent: {
        "input_tokens": sent,
        "output_tokens": 7,
        "input_token_details": {"cache_read": sent - 500},
    },
    "pi": lambda sent: {"input": 4, "output": 7, "cacheRead": sent - 500, "cacheWrite": 496},
}


@pytest.mark.parametrize("usage", CACHED.values(), ids=CACHED)
def test_cached_input_counts_once(usage: Callable[[int], object], memory: memctx.Memory) -> None:
    turn = memory.prepare(talk(9))
    sent = turn.report.tokens.after + 1_000
    observed = memory.observe(usage(sent), turn=turn)
    assert (observed.input_tokens, observed.output_tokens, observed.is_used) == (sent, 7, True)
    assert memory.prepare(talk(11)).report.tokens.excess == 1_000
    counters = memory.counters
    assert (counters.input_tokens, counters.output_tokens) == (sent, 7)
    assert counters.total_tokens == sent + 7


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_late_usage_does_not_override_later_usage(order: tuple[int, ...], tmp_path: Path) -> None:
    """Three calls, their usage in any order: what counts is what the newest of them cost beyond its estimate."""
    with memctx.open(tmp_path, session_id="s1", context_window=200_000) as memory:
        turns = [memory.prepare(talk(count)) for count in (3, 21, 41)]
        for number in order:
            sent = turns[number].report.tokens.after
            memory.observe({"prompt_tokens": sent + 100 * (number + 1)}, turn=turns[number])
        assert memory.prepare(talk(43)).report.tokens.excess == 300
        spent = sum(turn.report.tokens.after for turn in turns) + 600
        counters = memory.counters
        assert counters.input_tokens == spent, "each call is counted once"
        assert counters.total_tokens == turns[2].report.tokens.after + 300, "the newest one's"


def test_usage_is_counted_once_for_each_turn(memory: memctx.Memory) -> None:
    turn = memory.prepare(talk(9))
    usage = {"prompt_tokens": turn.report.tokens.after + 50, "completion_tokens": 5}
    assert memory.observe(usage, turn=turn).is_used
    again = memory.observe(usage, turn=turn)
    assert not again.is_used
    assert "observed before" in (again.note or "")
    assert memory.counters.output_tokens == 5


def test_usage_without_a_turn_belongs_to_the_pending_turn(memory: memctx.Memory) -> None:
    for count in (9, 11):
        turn = memory.prepare(talk(count))
        assert memory.observe({"prompt_tokens": turn.report.tokens.after + 70}).is_used
    turns = [memory.prepare(talk(count)) for count in (13, 15)]
    late = memory.observe({"prompt_tokens": turns[0].report.tokens.after + 5_000})
    assert not late.is_used, "it may be of either"
    assert "turn=" in (late.note or "")
    assert memory.prepare(talk(17)).report.tokens.excess == 70


def test_the_turn_of_another_memory_is_harmless(tmp_path: Path, memory: memctx.Memory) -> None:
    with memctx.open(tmp_path / "other", session_id="s2", context_window=WINDOW) as other:
        foreign = other.prepare(talk(9))
        assert not memory.observe(4_000, turn=foreign).is_used
        assert other.observe(4_000, turn=foreign).is_used
    assert memory.counters.input_tokens is None


def test_a_turn_that_is_none_is_a_type_error(memory: memctx.Memory) -> None:
    with pytest.raises(TypeError, match=r"turn is dict; expected a Turn of Memory\.prepare"):
        memory.observe(10, turn=cast("Any", {}))


def test_a_turn_that_memory_could_not_prepare_is_counted(memory: memctx.Memory) -> None:
    memory.store.close()
    with memctx.open(memory.store.path, session_id="s3", context_window=WINDOW) as broken:
        broken.store.close()
        turn = broken.prepare(talk(3))
        assert turn.report.errors
        assert not broken.observe({"prompt_tokens": 900}, turn=turn).is_used
        assert broken.counters.input_tokens == 900


def test_usage_counts_the_messages_a_hook_changed(memory: memctx.Memory) -> None:
    more = {"role": "user", "content": "And " + "one more thing, and another. " * 400}
    memory.on("context", lambda messages: {"messages": [*messages, more]})
    turn = memory.prepare(talk(8))
    tokens = turn.report.tokens.after + memctx.estimate_tokens(more["content"], "script")
    assert memory.observe({"prompt_tokens": tokens}, turn=turn).is_used
    assert abs(memory.prepare(talk(8)).report.tokens.excess) < 20


def test_tasks_may_observe_as_their_calls_end(memory: memctx.Memory) -> None:
    async def call(count: int, delay: float) -> None:
        turn = await memory.aprepare(talk(count))
        await asyncio.sleep(delay)
        memory.observe({"prompt_tokens": turn.report.tokens.after + count}, turn=turn)

    async def calls() -> None:
        await asyncio.gather(*(call(count, (20 - count) / 1_000) for count in range(3, 20, 2)))

    asyncio.run(calls())
    expected = sum(memory.prepare(talk(count)).report.tokens.after for count in range(3, 20, 2))
    assert memory.counters.input_tokens == expected + sum(range(3, 20, 2))


def test_the_counters_outlast_the_process(tmp_path: Path) -> None:
    for _ in range(2):
        with memctx.open(tmp_path, session_id="s1", context_window=WINDOW) as memory:
            turn = memory.prepare(talk(3))
            memory.observe({"prompt_tokens": 1_000, "completion_tokens": 10}, turn=turn)
    with memctx.open(tmp_path, session_id="s1", context_window=WINDOW) as memory:
        assert memory.counters.input_tokens == 2_000
        assert memory.counters.output_tokens == 20


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-10, 40_000), st.booleans(), st.integers(0, 3)), max_size=25))
def test_any_usage_in_any_order_leaves_the_window_alone(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[int, bool, int]]
) -> None:
    path = tmp_path_factory.mktemp("memory")
    with memctx.open(path, session_id="s1", context_window=4_000, auto_recall=False) as memory:
        turns: list[Turn] = []
        for step, (tokens, has_turn, back) in enumerate(told):
            turns.append(memory.prepare(talk(2 * step + 1, 3)))
            assert turns[-1].report.tokens.after <= 3_000 or turns[-1].report.is_over_limit
            turn = turns[max(len(turns) - 1 - back, 0)] if has_turn else None
            memory.observe(tokens, turn=turn)


def test_the_answer_is_archived_once_and_found_at_once(tmp_path: Path) -> None:
    answer = [{"role": "assistant", "content": "The webhook listens on port 8443."}]
    said = [{"role": "user", "content": "Which port has the webhook?"}]
    with memctx.open(tmp_path, session_id="s", context_window=200_000) as memory:
        turn = memory.prepare(said)
        observed = memory.observe(None, turn=turn, answer=answer)
        assert (observed.is_used, observed.note) == (False, "no usage is reported")
        assert memory.search("webhook port 8443")[0].segment.content == answer[0]["content"]
        memory.prepare([*said, *answer, {"role": "user", "content": "Thanks, and the region?"}])
        assert memory.stats()["segments"] == 3


def test_an_answer_is_not_archived_where_new_messages_are_not(tmp_path: Path) -> None:
    answer = [{"role": "assistant", "content": "The webhook listens on port 8443."}]
    with memctx.open(tmp_path, session_id="s", capture="evicted") as memory:
        memory.observe(None, answer=answer)
        assert memory.stats()["segments"] == 0


def test_a_fault_of_the_usage_loses_no_answer_and_the_other_way_round(tmp_path: Path) -> None:
    answer = [{"role": "assistant", "content": "The webhook listens on port 8443."}]
    with memctx.open(tmp_path, session_id="s", context_window=200_000) as memory:
        turn = memory.prepare([{"role": "user", "content": "Which port has the webhook?"}])
        with pytest.raises(memctx.errors.ConfigError):
            memory.observe("many", turn=turn, answer=answer)
        assert memory.stats()["segments"] == 2
        with pytest.raises(memctx.errors.MessageFormatError):
            memory.observe({"prompt_tokens": 90, "completion_tokens": 4}, turn=turn, answer=[3])
        assert memory.counters.input_tokens == 90

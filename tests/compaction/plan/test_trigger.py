"""Trigger of a compaction: reserves, thresholds, context tokens and the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.rendering import Rendering
from context.script import FORMATS
from context.strategies import scripts
from memctx import ConfigError, _core
from memctx.compaction.plan.trigger import (
    Reserve,
    context_tokens,
    keep_recent_tokens,
    parse_compact_command,
    reserve_tokens,
    resolve_context_window_tokens,
    should_compact,
)

if TYPE_CHECKING:
    from context.rendering import Message
    from context.script import FormatName, Script

formats = st.sampled_from(FORMATS)


@pytest.mark.parametrize(
    ("window", "asked", "floor", "tokens"),
    [
        (200_000, 16_384, 20_000, 20_000),
        (200_000, 24_000, 20_000, 24_000),
        (200_000, 16_384, 24_000, 24_000),
        (200_000, 16_384, 0, 16_384),
        (200_000, 0, 0, 0),
        (28_000, 16_384, 20_000, 20_000),
        (27_999, 16_384, 20_000, 19_999),  # 8,000 stay for the prompt
        (16_000, 16_384, 20_000, 8_000),
        (8_192, 16_384, 20_000, 4_096),  # half does
        (1, 16_384, 20_000, 1),
    ],
)
def test_reserve_of_a_window(window: int, asked: int, floor: int, tokens: int) -> None:
    assert reserve_tokens(window, asked, floor) == tokens


def test_a_reserve_reports_floor_and_cap() -> None:
    assert Reserve.of(200_000) == Reserve(20_000, 16_384, is_raised=True, is_capped=False)
    assert Reserve.of(200_000, 30_000) == Reserve(30_000, 30_000, is_raised=False, is_capped=False)
    assert Reserve.of(8_000).is_capped


@given(st.integers(1, 2_000_000), st.integers(0, 100_000), st.integers(0, 100_000))
def test_a_reserve_leaves_room_for_a_prompt(window: int, asked: int, floor: int) -> None:
    tokens = reserve_tokens(window, asked, floor)
    assert 0 <= tokens <= max(asked, floor)
    assert window - tokens >= min(8_000, window // 2)
    kept = keep_recent_tokens(window, tokens)
    assert 1 <= kept <= max((window - tokens) // 2, 1)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0,), "window is 0; expected at least 1"),
        ((9, -1), "asked is -1; expected at least 0"),
        ((9, 1, -1), "floor is -1"),
    ],
)
def test_reserve_numbers_out_of_range_are_refused(arguments: tuple[int, ...], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        reserve_tokens(*arguments)


def test_an_unknown_window_has_200_000_tokens() -> None:
    assert resolve_context_window_tokens() == 200_000
    assert resolve_context_window_tokens(128_000.9) == 128_000
    assert resolve_context_window_tokens(0) == 1


@pytest.mark.parametrize(
    ("tokens", "early", "is_due"),
    [
        (180_000, None, False),
        (180_001, None, True),
        (100_000, 0.5, False),
        (100_001, 0.5, True),
        (140_001, 0.7, True),
        (140_000, 0.7, False),
    ],
)
def test_a_compaction_is_due_above_the_threshold(
    tokens: int, early: float | None, *, is_due: bool
) -> None:
    assert should_compact(tokens, 200_000, 20_000, early=early) is is_due


def test_early_is_never_later_than_the_reserve() -> None:
    assert should_compact(5_001, 10_000, 5_000, early=0.7)


@pytest.mark.parametrize("early", [0.49, 0.71, 7.0, 0.0])
def test_early_is_a_share_from_half_to_seven_tenths(early: float) -> None:
    with pytest.raises(ConfigError, match=f"early is {early}; expected 0.5 to 0.7"):
        should_compact(1, 10, 1, early=early)


@pytest.mark.parametrize(
    ("text", "instructions"),
    [
        ("/compact", ""),
        ("/compact Focus on decisions", "Focus on decisions"),
        ("  /compact   Focus\non decisions \n", "Focus\non decisions"),
        ("/compact: keep ids", "keep ids"),
        ("/COMPACT 重点保留决定", "重点保留决定"),
        ("/compact " + "x" * 900, "x" * 800),
        ("/compacted", None),
        ("please /compact", None),
        ("compact", None),
        ("", None),
    ],
)
def test_parse_compact_command_returns_its_instructions(
    text: str, instructions: str | None
) -> None:
    assert parse_compact_command(text) == instructions


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def answer(text: str, total: int | None = None, **more: Any) -> Message:
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}
    stored = {} if total is None else {"usage": usage}
    return {"role": "assistant", "content": [{"type": "text", "text": text}], **stored, **more}


def costs(messages: list[Message]) -> list[int]:
    return _core.MessageReader().read(messages, "pi").message_tokens


@settings(max_examples=25)
@given(formats, scripts())
def test_context_tokens_are_estimated_without_usage(format: FormatName, script: Script) -> None:
    messages = Rendering(script, format).whole()
    bare = [
        {key: value for key, value in message.items() if key != "usage"} for message in messages
    ]
    assert context_tokens(bare, format) == _core.MessageReader().read(bare, format).tokens


@pytest.mark.parametrize(
    "usage",
    [
        {
            "input_tokens": 100,
            "cache_read_input_tokens": 800,
            "cache_creation_input_tokens": 50,
            "output_tokens": 50,
        },
        {"prompt_tokens": 950, "completion_tokens": 50, "total_tokens": 1_000},
        {"input_tokens": 950, "output_tokens": 50, "total_tokens": 1_000},
        {"promptTokenCount": 900, "candidatesTokenCount": 40, "thoughtsTokenCount": 60},
        {"prompt_token_count": 900, "candidates_token_count": 40, "total_token_count": 1_000},
        {"inputTokens": 100, "outputTokens": 50, "totalTokens": 150, "cacheReadInputTokens": 850},
        {"input": 100, "output": 50, "cacheRead": 850, "cacheWrite": 0},
        {"usage": {"input_tokens": 950, "output_tokens": 50}},
        1_000,
    ],
    ids=range(9),
)
def test_context_tokens_add_an_estimate_to_the_usage(usage: object) -> None:
    talk = [user("a" * 90), answer("b" * 90), user("c" * 90), user("d" * 90)]
    assert context_tokens(talk, "pi", usage) == 1_000 + sum(costs(talk)[2:])
    assert context_tokens(talk, "pi", usage, since=4) == 1_000
    assert context_tokens(talk, "pi", usage, since=0) == 1_000 + sum(costs(talk))


def test_the_usage_stored_in_messages_counts() -> None:
    talk = [user("a"), answer("b", 500), user("c"), answer("d", 700), user("e" * 90)]
    assert context_tokens(talk, "pi") == 700 + costs(talk)[-1]


def test_the_usage_of_an_answer_that_failed_does_not_count() -> None:
    for more in (
        {"total": 0},
        {"total": 9, "stopReason": "aborted"},
        {"total": 9, "stopReason": "error"},
    ):
        talk = [user("a"), answer("b", 500), user("c"), answer("d", **more), user("e")]
        assert context_tokens(talk, "pi") == 500 + sum(costs(talk)[2:])


def test_a_usage_from_before_a_compaction_does_not_count() -> None:
    """It counted the messages that the summary replaces; with it, one compaction would follow another."""
    summary = {"role": "compactionSummary", "summary": "all", "timestamp": 50}
    kept = [user("a", timestamp=10), answer("b", 190_000, timestamp=20)]
    talk = [summary, *kept, user("c", timestamp=60)]
    assert context_tokens(talk, "pi") == sum(costs(talk))
    talk.append(answer("d", 900, timestamp=70))
    assert context_tokens(talk, "pi") == 900


def test_an_unreadable_usage_is_refused() -> None:
    with pytest.raises(ConfigError, match="usage is str"):
        context_tokens([user("a")], "pi", "many")
    with pytest.raises(ConfigError, match="since is 2; expected 0 to 1"):
        context_tokens([user("a")], "pi", 5, since=2)

"""Settings of the query of a turn, and of the neighbors recalled with a match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

import memctx

from . import memories

if TYPE_CHECKING:
    from pathlib import Path


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


TALK = [
    user("First we look at the ledger."),
    assistant("Yes."),
    user("Then at the webhook of the shop."),
    assistant("Yes."),
    user("Which port does the proxy of the payments service use now?"),
]
LONG = [
    message
    for number in range(30)
    for message in (user(f"Remark {number}. " * 30), assistant(f"Answer {number}. " * 30))
]


@pytest.mark.parametrize(
    ("count", "query"),
    [
        ("auto", "Which port does the proxy of the payments service use now?"),
        (1, "Which port does the proxy of the payments service use now?"),
        (
            2,
            "Then at the webhook of the shop. Which port does the proxy of the payments service use now?",
        ),
        (
            3,
            " ".join(message["content"] for message in TALK[::2]),
        ),
    ],
)
def test_the_query_has_as_many_messages_as_the_setting_says(
    tmp_path: Path, count: Any, query: str
) -> None:
    with memories.opened(tmp_path / "memory", 50_000, recall={"query_messages": count}) as memory:
        assert memory.prepare(TALK).report.query == query


def test_a_short_query_includes_earlier_messages(tmp_path: Path) -> None:
    messages = [*TALK, assistant("9443."), user("go on")]
    with memories.opened(tmp_path / "a", 50_000) as memory:
        assert memory.prepare(messages).report.query.startswith("Then at the webhook")
    with memories.opened(tmp_path / "b", 50_000, recall={"query_messages": 1}) as memory:
        assert memory.prepare(messages).report.query == "go on"


@pytest.mark.parametrize(
    ("settings", "is_trimmed"),
    [
        ({}, True),
        ({"trim.short_queries": False}, False),
        ({"trim.short_queries": False, "recall.min_query_chars": 2}, True),
        ({"trim.short_queries": False, "recall.min_query_chars": 0}, True),
    ],
)
def test_a_short_query_trims_as_the_settings_say(
    tmp_path: Path, settings: dict[str, Any], *, is_trimmed: bool
) -> None:
    messages = [*LONG, user("ok")]
    with memories.opened(tmp_path / "memory", recall={"query_messages": 1}, **settings) as memory:
        report = memory.prepare(messages).report
        assert bool(report.trimmed) is is_trimmed
        assert any("trim.short_queries" in each for each in report.degraded) is not is_trimmed


def test_a_long_query_trims_whatever_the_rule_for_short_ones(tmp_path: Path) -> None:
    messages = [*LONG, user("Which port does the proxy use?")]
    with memories.opened(tmp_path / "memory", trim={"short_queries": False}) as memory:
        assert memory.prepare(messages).report.trimmed


@pytest.mark.parametrize(("least", "is_recalled"), [(0, True), (4, True), (5, False)])
def test_a_short_query_recalls_as_the_setting_says(
    tmp_path: Path, least: int, *, is_recalled: bool
) -> None:
    with memories.opened(tmp_path / "memory", 50_000, recall={"min_query_chars": least}) as memory:
        memory.archive([user("The port of the proxy is 9443.")])
        assert bool(memory.prepare([user("port")]).report.recalled) is is_recalled


@pytest.mark.parametrize(("window", "count"), [(0, 1), (1, 3), (2, 5)])
def test_neighbors_of_recalled_messages_are_recalled(
    tmp_path: Path, window: int, count: int
) -> None:
    earlier = [user(f"Remark {number} says little.") for number in range(5)]
    earlier[2] = user("The proxy of the payments service listens on port 9443.")
    settings: dict[str, Any] = {"recall.min_score": 0.5, "placement": "tail"}
    with memories.opened(tmp_path / "m", 80_000, recall={"window": window}, **settings) as memory:
        memory.archive(earlier)
        asked = [user("Which port does the proxy of the payments service use?")]
        recalled = memory.prepare(asked).report.recalled
        assert len(recalled) == count
        assert max(item.score for item in recalled) > 0.5


@pytest.mark.parametrize("placement", ["stable", "tail", "head"])
def test_a_courtesy_keeps_what_was_recalled_and_adds_nothing(
    tmp_path: Path, placement: Literal["stable", "tail", "head"]
) -> None:
    fact = "The payment webhook of the shop listens on port 8443 in Frankfurt."
    with memctx.open(
        tmp_path, session_id="s", context_window=40_000, placement=placement
    ) as memory:
        memory.archive([{"role": "user", "content": fact}])
        messages = [
            {"role": "user", "content": "Deploy the payment webhook to its port in Frankfurt."}
        ]
        assert fact in str(memory.prepare(messages).messages)
        messages += [{"role": "assistant", "content": "Shall I?"}]
        messages += [{"role": "user", "content": "yes please go ahead"}]
        turn = memory.prepare(messages)
        assert fact in str(turn.messages)
        if placement == "stable":
            assert not turn.report.recalled


def test_a_courtesy_alone_recalls_nothing(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=40_000) as memory:
        memory.archive([{"role": "user", "content": "Thanks, that looks good, please go ahead."}])
        turn = memory.prepare([{"role": "user", "content": "thanks, looks good"}])
        assert not turn.report.recalled

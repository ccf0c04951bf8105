"""Every adapter, in the same conversation against the same provider: what must hold of each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

import memctx
from providers import clients, conversation
from providers.server import Provider

from .case import FRAMEWORK, Case, Talk, find_cases, framework_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.integrations, pytest.mark.timeout(300)]

CALLS = 2 * conversation.STEPS + 1 + len(conversation.NEEDLES)
FOUND = [f"FOUND {needle.value}" for needle in conversation.NEEDLES]
WITHOUT = {"claude_agent_sdk"}
"""Frameworks that prepare their calls in another process, which no adapter reaches; they have tests of their own."""
CASES = [case for case in find_cases() if FRAMEWORK in {"", framework_of(case.name)}]
ADAPTERS = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_cases_of_the_framework_are_found() -> None:
    assert bool(CASES) != (FRAMEWORK in WITHOUT)


def hold(case: Case, path: Path, **options: object) -> tuple[Provider, str, list[memctx.Turn]]:
    """Hold the conversation, and return the provider, the framework's state, and the turns."""
    turns: list[memctx.Turn] = []
    given = {
        "context_window": conversation.WINDOW,
        "disk": {"durability": "os"},
        "on_turn": turns.append,
    }
    with Provider(reasoning=case.reasoning) as provider:
        state = case.run(Talk(provider.url, path / "memory", given | options))
    return provider, state, turns


def is_archived(text: str, path: Path) -> bool:
    """Return whether a text gets into a log, in the background, within a few seconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if any(text in each.read_text() for each in path.rglob("*.jsonl")):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def plain_breaks(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Breaks of the prefix in a plain loop over an SDK: the trims that so small a window costs."""
    path = tmp_path_factory.mktemp("plain")
    opened = memctx.open(path, session_id="s", context_window=conversation.WINDOW)
    with Provider() as provider, opened as memory:
        clients.chat_turns(provider, memory)
    assert provider.answers == FOUND
    return provider.breaks


@ADAPTERS
def test_needles_from_trimmed_text_reach_the_model(
    case: Case, tmp_path: Path, plain_breaks: int
) -> None:
    provider, state, turns = hold(case, tmp_path)
    assert provider.refused == []
    assert len(provider.requests) >= CALLS
    assert provider.answers == FOUND
    assert provider.breaks <= plain_breaks + 1 + case.more_breaks
    assert [turn.report.errors for turn in turns if turn.report.errors] == []
    assert sum(bool(turn.report.trimmed) for turn in turns) > 0
    assert is_archived(FOUND[-1], tmp_path / "memory")
    if case.keeps_state:
        for step in range(1, conversation.STEPS + 1):
            assert conversation.read_log(step) in state


@ADAPTERS
def test_without_recall_they_do_not(case: Case, tmp_path: Path) -> None:
    provider, _, turns = hold(case, tmp_path, auto_recall=False)
    assert provider.refused == []
    assert provider.answers == ["I do not know."] * len(FOUND)
    assert len(turns) == len(provider.requests)


@ADAPTERS
def test_damaged_memory_fails_no_call(case: Case, tmp_path: Path) -> None:
    """The store's folder is a file: every call goes on, as without memory, up to the provider's own limit."""
    (tmp_path / "memory").write_text("no folder")
    turns: list[memctx.Turn] = []
    with Provider(window=10_000_000, reasoning=case.reasoning) as provider:
        case.run(
            Talk(
                provider.url,
                tmp_path / "memory",
                {"context_window": 16_000, "on_turn": turns.append},
            )
        )
    assert provider.refused == []
    assert len(provider.requests) >= CALLS
    assert all(turn.report.errors for turn in turns)

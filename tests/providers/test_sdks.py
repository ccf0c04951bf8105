"""Thirty turns through the real SDKs against a provider with the rules of the real ones."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import memctx

from . import clients, conversation
from .server import Provider

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOUND = [f"FOUND {needle.value}" for needle in conversation.NEEDLES]
CALLS = 2 * conversation.STEPS + 1 + len(conversation.NEEDLES)
BREAKS = 25
"""Requests that change earlier messages: the trims that so small a window costs, and blocks of earlier questions that
make way for the newest one, which always has room."""
WAYS: dict[str, Callable[[Provider, memctx.Memory], list[Any]]] = {
    "anthropic-dicts": clients.anthropic_turns,
    "anthropic-objects": partial(clients.anthropic_turns, way="objects"),
    "anthropic-stream": partial(clients.anthropic_turns, way="stream"),
    "anthropic-async": lambda *given: asyncio.run(clients.anthropic_turns_async(*given)),
    "anthropic-thinking": partial(clients.anthropic_turns, thinking=True),
    "chat-dicts": clients.chat_turns,
    "chat-objects": partial(clients.chat_turns, way="objects"),
    "chat-stream": partial(clients.chat_turns, way="stream"),
    "responses-dicts": clients.responses_turns,
    "responses-objects": partial(clients.responses_turns, way="objects"),
}


def opened(path: Path, **settings: Any) -> memctx.Memory:
    window = conversation.WINDOW
    return memctx.open(
        path, session_id="s", context_window=window, disk={"durability": "os"}, **settings
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
def test_no_request_is_rejected_and_evicted_facts_are_recalled(way: str, tmp_path: Path) -> None:
    with Provider(reasoning=True) as provider, opened(tmp_path) as memory:
        messages = WAYS[way](provider, memory)
    assert provider.refused == []
    assert len(provider.requests) == CALLS
    assert len(messages) > CALLS
    assert provider.breaks <= BREAKS
    assert any(request.has_recalled for request in provider.requests)
    assert provider.answers == FOUND


@pytest.mark.parametrize("way", ["anthropic-dicts", "chat-dicts"])
def test_evicted_facts_are_lost_without_recall(way: str, tmp_path: Path) -> None:
    """The facts really left the window: the same conversation without recall does not know them."""
    with Provider(reasoning=True) as provider, opened(tmp_path, auto_recall=False) as memory:
        WAYS[way](provider, memory)
    assert provider.refused == []
    assert provider.answers == ["I do not know."] * len(FOUND)


class Untouched:
    """A host without memory."""

    def prepare(self, messages: list[Any]) -> Any:
        return memctx.Turn(messages=messages, report=None)  # type: ignore[arg-type]

    def observe(self, usage: object) -> None:
        """Do nothing."""


@pytest.mark.parametrize("way", ["anthropic-dicts", "chat-dicts"])
def test_without_memory_the_window_overflows(way: str) -> None:
    with Provider() as provider, pytest.raises(Exception, match="400"):
        WAYS[way](provider, Untouched())  # type: ignore[arg-type]
    assert any(word in provider.refused[0] for word in ("too long", "maximum context", "exceeds"))

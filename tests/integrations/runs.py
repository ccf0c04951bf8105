"""One run of the conversation through a framework, and what must hold of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import memctx
from providers import conversation
from providers.server import Provider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLS = 2 * conversation.STEPS + 1 + len(conversation.NEEDLES)
FOUND = [f"FOUND {needle.value}" for needle in conversation.NEEDLES]
BREAKS = 11
"""Trims that the small window costs: a count below our estimate never raises the limit beyond the window."""


@contextmanager
def run(
    path: Path, *, reasoning: bool = False, breaks: int = BREAKS
) -> Iterator[tuple[Provider, memctx.Memory]]:
    """Give a provider and a memory to a framework, and hold what it sent to the rules."""
    window = conversation.WINDOW
    opened = memctx.open(
        path / "memory", session_id="s", context_window=window, disk={"durability": "os"}
    )
    with Provider(reasoning=reasoning) as provider, opened as memory:
        yield provider, memory
    assert provider.refused == []
    assert len(provider.requests) == CALLS
    assert provider.breaks <= breaks
    assert provider.answers == FOUND


def read_log(n: int) -> str:
    """Read log number n."""
    return conversation.read_log(n)


async def aread_log(n: int) -> str:
    """Read log number n."""
    return conversation.read_log(n)


turns = conversation.turns

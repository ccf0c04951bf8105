"""Memories in small windows, so that short conversations are trimmed and something is always recalled."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import memctx

from .strategies import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

SESSION = "s1"
LONG_AGO = 1_700_000_000_000


def opened(path: Path, window: int = 2_000, **settings: Any) -> memctx.Memory:
    """Open a memory that recalls everything it can."""
    config = memctx.Config(
        context_window=window,
        trim={"reply_reserve_tokens": 200},
        recall={"min_score": 0.0},
        disk={"eviction_days": 0.0, "durability": "os"},
    )
    return memctx.open(path, session_id=SESSION, config=config.replace(**settings))


@contextmanager
def fresh(window: int = 2_000, **settings: Any) -> Iterator[memctx.Memory]:
    """Open a memory in a temporary directory that holds texts which try to break out of a block."""
    with (
        TemporaryDirectory() as folder,
        opened(Path(folder, "memory"), window, **settings) as memory,
    ):
        memory.archive(earlier(), format="pi")
        yield memory


def earlier() -> list[dict[str, Any]]:
    """Return messages from before, each with a time of its own."""
    return [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": f"{text} payment webhook port Redis デプロイ 배포"}
            ],
            "timestamp": LONG_AGO + number * 60_000,
        }
        for number, text in enumerate(HOSTILE)
    ]

"""A memory with two sessions of talk, and its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memctx
from memctx.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TALK = {
    "shop": [
        ("user", "The payment webhook of the shop listens on port 8443"),
        ("assistant", "Understood: the webhook is on port 8443, and retries after five minutes"),
        ("user", "The invoices are printed in Lisbon"),
        ("assistant", "Noted, the printer is in Lisbon"),
    ],
    "garden": [("user", "The tulips are watered at dawn"), ("assistant", "At dawn, then")],
}


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Keep the settings of the machine out."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for session, talk in TALK.items():
        with memctx.open(tmp_path, session_id=session, embedding_model="hash") as memory:
            memory.archive([{"role": role, "content": text} for role, text in talk])
    return tmp_path


@pytest.fixture
def memory(store: Path) -> Iterator[memctx.Memory]:
    with memctx.open(store, session_id="shop", embedding_model="hash") as opened:
        yield opened


@pytest.fixture
def tools(memory: memctx.Memory) -> Tools:
    return Tools(memory)

"""Every test sees the defaults and leaves nothing open."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memctx import registry

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings of the machine come in, and what a failed test leaves open does not reach the next."""
    for name in os.environ:
        if name.startswith("MEMCTX_"):
            monkeypatch.delenv(name)
    yield
    for memory in registry.memories():
        while not memory.closed:
            memory.close()

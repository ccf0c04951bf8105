"""Short delays, and none of the machine's keys and proxies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from memctx.embeddings.remote import endpoint
from memctx.providers import retry

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _close_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the connections of a test."""
    made: list[endpoint.Endpoint] = []
    make = endpoint.Endpoint.__init__

    def init(self: endpoint.Endpoint, *arguments: Any) -> None:
        make(self, *arguments)
        made.append(self)

    monkeypatch.setattr(endpoint.Endpoint, "__init__", init)
    yield
    for each in made:
        each.close()


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.01)


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        mine = ("OPENAI_", "GEMINI_", "GOOGLE_", "VOYAGE_")
        if name.upper().startswith(mine) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)

"""What holds here: short pauses, and nothing of the machine's keys and proxies."""

from __future__ import annotations

import os

import pytest

from memctx.embeddings import endpoint


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_PAUSE", 0.01)


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        mine = ("OPENAI_", "GEMINI_", "GOOGLE_", "VOYAGE_")
        if name.upper().startswith(mine) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)

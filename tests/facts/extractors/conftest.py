"""Fixtures: short pauses, and an environment without settings for models."""

from __future__ import annotations

import os

import pytest

from memctx.providers import retry


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.01)


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith(("ANTHROPIC_", "OPENAI_")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)

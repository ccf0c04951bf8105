"""Fixtures of the adapters' tests. What needs a framework that is not installed is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from .case import FRAMEWORK, framework_of

# Some bring others along, in the versions that they ask for; each is tested in its own environment.
collect_ignore = [
    path.name
    for path in Path(__file__).parent.glob("test_*.py")
    if FRAMEWORK and framework_of(path.stem.removeprefix("test_")) not in {"", FRAMEWORK}
]


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Apply `alone` to every test of this folder."""


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set keys that clients insist on, and switch telemetry off."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("HOME", str(tmp_path))

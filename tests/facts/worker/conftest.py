"""Fixtures: default settings, and a session that is closed after each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .sessions import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Apply `alone` to every test of this folder."""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Yield a session with an archive and facts; close its extractions after the test."""
    made = Session(tmp_path / "store")
    yield made
    made.close()

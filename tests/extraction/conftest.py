"""Every test sees the defaults and leaves nothing open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """For every test of this folder."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A session with an archive and facts, whose extractions are closed after the test."""
    made = Place(tmp_path / "store")
    yield made
    made.close()

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands.stocked import stocked

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Every test sees the defaults and leaves nothing open."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stocked(tmp_path / "store")

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.verbs.stocked import stocked

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Give every test the default settings and check that nothing stays open."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stocked(tmp_path / "store")

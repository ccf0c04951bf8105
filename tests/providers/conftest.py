"""Every test sees the defaults and leaves nothing open."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Apply `alone` to every test of this folder."""

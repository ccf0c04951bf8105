"""Every test sees the defaults and leaves nothing open or mounted."""

from __future__ import annotations

import pytest

from faults.conftest import mount

__all__ = ["mount"]


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """For every test of this folder."""

"""Fixtures: default settings for every test."""

from __future__ import annotations

import pytest

from faults.conftest import mount

__all__ = ["mount"]


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Apply `alone` to every test of this folder."""

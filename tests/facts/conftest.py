"""Fixtures: a fact store in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from memctx.lowlevel import FactStore, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path


class Opener(Protocol):
    """Function that opens a fact store in the test's folder."""

    def __call__(self, session_id: str = "s", **options: Any) -> FactStore:
        """Return a new handle."""
        ...


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the stores."""
    return tmp_path / "memory"


@pytest.fixture
def opened(folder: Path) -> Opener:
    """Return a function that opens stores in the folder, without fsync unless asked for."""

    def open_store(session_id: str = "s", **options: Any) -> FactStore:
        return FactStore(
            folder, StoreOptions(session_id=session_id, **{"durability": "os", **options})
        )

    return open_store

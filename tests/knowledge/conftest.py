"""A store of facts in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from memctx import FactStore

if TYPE_CHECKING:
    from pathlib import Path


class Opener(Protocol):
    """Opens a store of the test's folder."""

    def __call__(self, session_id: str = "s", **options: Any) -> FactStore:
        """A new handle each time."""
        ...


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the stores."""
    return tmp_path / "memory"


@pytest.fixture
def opened(folder: Path) -> Opener:
    """Opens stores in the folder; they do not wait for the disk unless told to."""

    def open_store(session_id: str = "s", **options: Any) -> FactStore:
        return FactStore(folder, session_id=session_id, **{"durability": "os", **options})

    return open_store

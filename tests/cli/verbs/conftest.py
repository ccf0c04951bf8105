from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.verbs.stocked import opened, stocked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import memctx


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Give every test the default settings and check that nothing stays open."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stocked(tmp_path / "store")


@pytest.fixture
def memory(store: Path) -> Iterator[memctx.Memory]:
    with opened(store, cross_session=True) as memory:
        yield memory

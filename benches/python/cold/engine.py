"""Interface of an engine, and the list of engines."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Protocol

from cold import resident

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cold.material import Batch
    from cold.question import Question

OURS = "ours"
ENGINES = (OURS, "tantivy_usearch", "sqlite_fts", "lance", "postgres")
"""Modules of this package, ours first."""
TOP = 10
CANDIDATES = 40
"""Number of candidates of each kind where fusion is done by hand."""


@dataclass(frozen=True)
class Footprint:
    """Bytes on disk: the messages themselves, their vectors in single precision, and everything derived from them."""

    texts: int
    vectors: int
    index: int


class Builder(Protocol):
    """Writer of a folder."""

    def add(
        self, batch: Batch, tokens: list[list[str]], vectors: NDArray[np.float32] | None
    ) -> None:
        """Add a batch and commit it."""

    def finish(self) -> None:
        """Build what is built at the end, and close."""


class Searcher(Protocol):
    """Reader of a filled folder."""

    def search(self, question: Question) -> list[tuple[str, str]]:
        """Return the best ten by words and vectors, each with id and text."""

    def nearest(self, question: Question) -> list[str]:
        """Return the ids of the ten nearest by vectors."""


class Engine(Protocol):
    """Module of an engine."""

    NAME: str
    PACKAGES: tuple[str, ...]
    IS_GIVEN_TOKENS: bool
    """True if tokens and vectors are made for it, in time that is reported separately."""

    Builder: type[Builder]
    Searcher: type[Searcher]

    def footprint(self, folder: Path, size: int) -> Footprint:
        """Return the footprint of a filled folder."""

    def numbers(self, folder: Path, ids: list[list[str]]) -> list[list[int]]:
        """Return the message numbers of ids."""


def load(name: str) -> Engine:
    """Return the engine of a name."""
    module: Engine = importlib.import_module(f"cold.{name}")  # type: ignore[assignment]
    return module


def processor_time(chosen: Engine) -> float:
    """Return the processor seconds of this process and of those that the engine has of its own."""
    found: float = getattr(chosen, "processor_time", process_time)()
    return found


def memory(chosen: Engine) -> dict[str, int]:
    """Return the memory of this process and of those that the engine has of its own."""
    found: dict[str, int] = getattr(chosen, "memory", resident.now)()
    return found


def plain_numbers(_: Path, ids: list[list[str]]) -> list[list[int]]:
    """Return the message numbers of ids that are the numbers."""
    return [[int(each) for each in row] for row in ids]


def size_of(folder: Path, pattern: str = "*") -> int:
    """Return the bytes of all files below a folder whose names match."""
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())

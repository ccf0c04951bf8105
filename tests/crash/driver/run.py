"""One run of a mode: its sizes, its scratch folder, the store under test, and its failures."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = 20
"""Failures that are printed; all are counted."""


@dataclass(frozen=True)
class Store:
    """The commands that reach a store."""

    write: tuple[str, ...]
    verify: tuple[str, ...]


@dataclass(frozen=True)
class Measures:
    """Sizes of a run; each mode reads its own."""

    rounds: int = 100
    writers: int = 1
    records: int = 200
    """Records that a start of the writer appends."""
    window: float = 1.0
    """Seconds after which a writer is killed at the latest."""
    live: float = 0.2
    """The share of rounds in which the store is verified beside its writers."""
    points: int = 20
    """Calls tried for each fault, or points at which the power is cut."""
    sizes: tuple[int, ...] = (64, 100, 257)
    """Room for the store in KiB."""
    min_kept: float = 0.95
    """The share of records that damage in one place must leave."""


@dataclass
class Run:
    """A mode over a store."""

    store: Store
    measures: Measures
    folder: Path
    timeout: float = 60.0
    seed: int = 1
    counts: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def fail(self, where: str, what: str) -> None:
        """Record a failure, and print the first ones."""
        self.failures.append(f"{where}: {what}")
        if len(self.failures) <= SHOWN:
            print(f"FAIL {where}: {what}", flush=True)

    def fresh(self, name: str) -> Path:
        """Return an empty folder."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


@dataclass
class Records:
    """Tokens that a directory must hold: the acknowledged ones, and all that were tried."""

    acked: set[str] = field(default_factory=set[str])
    tried: set[str] = field(default_factory=set[str])

    def copy(self) -> Records:
        """Return a copy of the records."""
        return Records(set(self.acked), set(self.tried))

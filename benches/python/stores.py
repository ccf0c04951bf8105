"""Helpers: fill stores, and open them in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterable

START = Path(__file__).with_name("store_start.py")
SETTINGS: dict[str, Any] = {"session_id": "bench", "max_segments": 1_000_000}
BATCH = 256
KILOBYTE = 1024


def record(text: str) -> tuple[str, str, None, None]:
    """Return a record of a user message, as of now."""
    return ("user", text, None, None)


def open_store(path: Path, durability: Literal["fsync", "os"] = "os") -> memctx.lowlevel.Store:
    """Open the store of a directory, large enough for everything."""
    return memctx.lowlevel.Store(
        path, memctx.lowlevel.StoreOptions(durability=durability, **SETTINGS)
    )


def fill(path: Path, texts: Iterable[str]) -> None:
    """Store all texts, with vectors and snapshot."""
    store = open_store(path)
    records = map(record, texts)
    while batch := list(islice(records, BATCH)):
        store.add(batch)
    assert store.snapshot()
    store.close()


def start(**task: Any) -> dict[str, Any]:
    """Return the costs of a task in a fresh process; see `store_start.py`."""
    task = {name: str(value) if isinstance(value, Path) else value for name, value in task.items()}
    command = [sys.executable, str(START)]
    result = subprocess.run(
        command, input=json.dumps(task), capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def kilobytes(texts: Iterable[str]) -> list[str]:
    """Return the concatenated texts, cut into pieces of a kilobyte or up to three bytes less."""
    stream = " ".join(texts).encode()
    pieces = [stream[at : at + KILOBYTE] for at in range(0, len(stream), KILOBYTE)]
    return [piece.decode(errors="ignore") for piece in pieces[:-1]]

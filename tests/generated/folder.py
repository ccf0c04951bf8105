"""The generated sessions as files, in the layout that recorded ones have."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from . import chat, needles, pi, runs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write(folder: Path) -> Path:
    """Write all generated sessions below a folder, and return it."""
    for name in pi.PLANS:
        _lines(folder / "pi_sessions" / f"{name}.jsonl.gz", pi.session(name))
    for name in runs.RUNS:
        _text(folder / "swe_agent" / f"{name}.traj.json.gz", json.dumps(runs.run(name)))
    messages, questions = needles.needle_set()
    _lines(folder / "needles_dev" / "messages.jsonl.gz", messages)
    _lines(folder / "needles_dev" / "queries.jsonl.gz", questions)
    _lines(folder / "locomo" / "messages.jsonl.gz", chat.chat())
    return folder


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    _text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))

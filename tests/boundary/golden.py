"""The golden files, the very ones the Rust tests read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "golden"


def load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))

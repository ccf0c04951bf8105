"""`Settings`: what the extraction of a session works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from memctx._core import FactStore
    from memctx.extraction.breaker import Patience
    from memctx.extractors import Extractor


@dataclass(frozen=True, slots=True)
class Settings:
    """What the extraction of a session works with."""

    store: Path
    session_id: str
    facts: FactStore
    extractor: Extractor
    batch_chars: int
    fewest_messages: int
    longest_call: float
    patience: Patience

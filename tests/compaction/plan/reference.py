"""Reference implementation of OpenClaw's planning, message by message, for histories without tools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def ratio(tokens: Sequence[int], window: int) -> float:
    """Return the share of the window that a chunk takes."""
    if not tokens:
        return 0.4
    mean = sum(tokens) / len(tokens) * 1.2 / window
    return max(0.15, 0.4 - min(mean * 2, 0.4 - 0.15)) if mean > 0.1 else 0.4


def split(tokens: Sequence[int], parts: int) -> list[list[int]]:
    """Return the costs of messages in parts by token share."""
    parts = min(parts, max(1, len(tokens)))
    if parts <= 1:
        return [list(tokens)] if tokens else []
    target = sum(tokens) / parts
    chunks: list[list[int]] = []
    current: list[int] = []
    for cost in tokens:
        if len(chunks) < parts - 1 and current and sum(current) + cost > target:
            chunks.append(current)
            current = []
        current.append(cost)
    return [*chunks, current]


def chunk(tokens: Sequence[int], most: int) -> list[list[int]]:
    """Return the costs of messages in chunks of so many tokens."""
    most = max(1, math.floor(most / 1.2))
    chunks: list[list[int]] = []
    current: list[int] = []
    for cost in tokens:
        if current and sum(current) + cost > most:
            chunks.append(current)
            current = []
        current.append(cost)
        if cost > most:
            chunks.append(current)
            current = []
    return [*chunks, current] if current else chunks


def prune(tokens: Sequence[int], window: int, share: float, parts: int) -> tuple[list[int], int]:
    """Return the costs that are left, and the number of dropped parts."""
    budget, kept, dropped = max(1, math.floor(window * share)), list(tokens), 0
    while kept and sum(kept) > budget:
        chunks = split(kept, parts)
        if len(chunks) <= 1:
            break
        kept = [cost for part in chunks[1:] for cost in part]
        dropped += 1
    return kept, dropped

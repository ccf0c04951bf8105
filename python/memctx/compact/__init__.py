"""Compaction: what happens before it, and what of it nobody is to see.

>>> from memctx import compact
>>> compact.should_flush(180_000, window=200_000, reserve_floor=20_000), compact.is_silent("NO_REPLY")
(True, True)
"""

from memctx.compact.flush import Flushed, FlushPrompts, MemoryFlush, flush, should_flush
from memctx.compact.silence import SilenceFilter, is_silent

__all__ = [
    "FlushPrompts",
    "Flushed",
    "MemoryFlush",
    "SilenceFilter",
    "flush",
    "is_silent",
    "should_flush",
]

"""Compaction, planned: when it is due, where to cut, what to summarise, and what is carried over. No model, no disk.

>>> from memctx import _core, compact
>>> talk = [{"role": "user", "content": "Fix the port"}, {"role": "assistant", "content": "Where is it set?"},
...         {"role": "user", "content": "In web.py"}, {"role": "assistant", "content": "Done"}]
>>> compact.should_compact(compact.context_tokens(talk), window=40, reserve=15)
True
>>> cut = compact.find_cut(_core.Scanner().scan(talk), keep_recent_tokens=10)
>>> [message["content"] for message in cut.history(talk)]
['Fix the port', 'Where is it set?']
"""

from memctx.compact.ask import latest_ask
from memctx.compact.chunk import (
    chunk_messages_by_max_tokens,
    compute_adaptive_chunk_ratio,
    estimate_messages_tokens,
    is_oversized,
    split_messages_by_token_share,
)
from memctx.compact.cut import Cut, NoCut, find_cut
from memctx.compact.failures import Failure, tool_failures
from memctx.compact.files import Files, file_operations
from memctx.compact.flush import (
    FlushPrompts,
    MemoryFlush,
    MemoryFlushed,
    flush_memory,
    should_flush,
)
from memctx.compact.overflow import is_context_overflow
from memctx.compact.share import (
    Pruned,
    history_budget,
    is_crowded,
    prune_history_for_context_share,
)
from memctx.compact.silence import SilenceFilter, is_silent
from memctx.compact.trigger import context_tokens, manual, should_compact
from memctx.compact.window import (
    Reserve,
    keep_recent_tokens,
    reserve_tokens,
    resolve_context_window_tokens,
)

__all__ = [
    "Cut",
    "Failure",
    "Files",
    "FlushPrompts",
    "MemoryFlush",
    "MemoryFlushed",
    "NoCut",
    "Pruned",
    "Reserve",
    "SilenceFilter",
    "chunk_messages_by_max_tokens",
    "compute_adaptive_chunk_ratio",
    "context_tokens",
    "estimate_messages_tokens",
    "file_operations",
    "find_cut",
    "flush_memory",
    "history_budget",
    "is_context_overflow",
    "is_crowded",
    "is_oversized",
    "is_silent",
    "keep_recent_tokens",
    "latest_ask",
    "manual",
    "prune_history_for_context_share",
    "reserve_tokens",
    "resolve_context_window_tokens",
    "should_compact",
    "should_flush",
    "split_messages_by_token_share",
    "tool_failures",
]

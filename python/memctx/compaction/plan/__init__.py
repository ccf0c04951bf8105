"""Planning of compaction: when it is due, where to cut, what to summarize and what to preserve. No model, no disk.

>>> from memctx import _core
>>> from memctx.compaction import plan
>>> talk = [{"role": "user", "content": "Fix the port"}, {"role": "assistant", "content": "Where is it set?"},
...         {"role": "user", "content": "In web.py"}, {"role": "assistant", "content": "Done"}]
>>> plan.should_compact(plan.context_tokens(talk), window=40, reserve=15)
True
>>> cut = plan.find_cut(_core.MessageReader().read(talk), keep_recent_tokens=10)
>>> [message["content"] for message in cut.history(talk)]
['Fix the port', 'Where is it set?']
"""

from memctx import checks
from memctx.compaction.plan.chunks import (
    PrunedHistory,
    chunk_messages_by_max_tokens,
    compute_adaptive_chunk_ratio,
    estimate_messages_tokens,
    history_budget,
    is_crowded,
    is_oversized,
    prune_history_for_context_share,
    split_messages_by_token_share,
)
from memctx.compaction.plan.cut import Cut, NoCut, find_cut
from memctx.compaction.plan.preserved import (
    Failure,
    Files,
    file_operations,
    latest_ask,
    tool_failures,
)
from memctx.compaction.plan.trigger import (
    Reserve,
    context_tokens,
    keep_recent_tokens,
    parse_compact_command,
    reserve_tokens,
    resolve_context_window_tokens,
    should_compact,
)
from memctx.providers.overflow import is_context_overflow

__all__ = [
    "Cut",
    "Failure",
    "Files",
    "NoCut",
    "PrunedHistory",
    "Reserve",
    "chunk_messages_by_max_tokens",
    "compute_adaptive_chunk_ratio",
    "context_tokens",
    "estimate_messages_tokens",
    "file_operations",
    "find_cut",
    "history_budget",
    "is_context_overflow",
    "is_crowded",
    "is_oversized",
    "keep_recent_tokens",
    "latest_ask",
    "parse_compact_command",
    "prune_history_for_context_share",
    "reserve_tokens",
    "resolve_context_window_tokens",
    "should_compact",
    "split_messages_by_token_share",
    "tool_failures",
]

checks.guard(globals(), __all__)

"""Compaction, carried out: what leaves is archived, summarised, and replaced by the summary. Nothing is lost.

>>> import asyncio, memctx, tempfile
>>> said = [{"role": role, "content": f"{role} {number}: the webhook listens on port {8440 + number}. " * 40}
...         for number in range(4) for role in ("user", "assistant")]
>>> settings = {"keep_recent_tokens": 1_000, "mode": "default"}
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=8_000, compaction=settings,
...                  summarizer=lambda request: "Ports were chosen, 8440 to 8443.") as memory:
...     compacted = asyncio.run(memory.compact(said))
...     found = memory.search("port 8440", limit=1)[0].segment.content
>>> compacted.did_compact, compacted.messages[-1] is said[-1], "8440" in found
(True, True, True)
"""

from memctx.compactor.compactor import Compactor
from memctx.compactor.hooks import (
    AfterCompaction,
    BeforeCompaction,
    HookName,
    Hooks,
    SessionBeforeCompact,
)
from memctx.compactor.recovery import Recovered, run_with_recovery, run_with_recovery_sync
from memctx.compactor.result import Compacted, Trigger

__all__ = [
    "AfterCompaction",
    "BeforeCompaction",
    "Compacted",
    "Compactor",
    "HookName",
    "Hooks",
    "Recovered",
    "SessionBeforeCompact",
    "Trigger",
    "run_with_recovery",
    "run_with_recovery_sync",
]

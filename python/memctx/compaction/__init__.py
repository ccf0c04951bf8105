"""Compaction of conversations: old messages are archived, summarized and replaced by the summary.

>>> import asyncio, memctx, tempfile
>>> messages = [{"role": role, "content": f"{role} {number}: the webhook listens on port {8440 + number}. " * 40}
...         for number in range(4) for role in ("user", "assistant")]
>>> settings = {"keep_recent_tokens": 1_000, "mode": "default"}
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=8_000, compaction=settings,
...                  summarizer=lambda request: "Ports were chosen, 8440 to 8443.") as memory:
...     compacted = asyncio.run(memory.compact(messages))
...     found = memory.search("port 8440", limit=1)[0].segment.content
>>> compacted.did_compact, compacted.messages[-1] is messages[-1], "8440" in found
(True, True, True)
"""

from memctx import checks
from memctx.compaction.compactor import Compactor
from memctx.compaction.hooks import (
    AfterCompaction,
    BeforeCompaction,
    HookName,
    Hooks,
    SessionBeforeCompact,
)
from memctx.compaction.notes import (
    NotesOptions,
    NotesPrompts,
    NotesWriter,
    NotesWritten,
    should_write_notes,
    write_notes,
)
from memctx.compaction.notes import RunTurn as RunTurn
from memctx.compaction.preparation import prepare_compaction as prepare_compaction
from memctx.compaction.recovery import CompactOptions as CompactOptions
from memctx.compaction.recovery import Recovered, run_with_recovery, run_with_recovery_sync
from memctx.compaction.result import Compacted, Trigger

__all__ = [
    "AfterCompaction",
    "BeforeCompaction",
    "Compacted",
    "Compactor",
    "HookName",
    "Hooks",
    "NotesOptions",
    "NotesPrompts",
    "NotesWriter",
    "NotesWritten",
    "Recovered",
    "SessionBeforeCompact",
    "Trigger",
    "run_with_recovery",
    "run_with_recovery_sync",
    "should_write_notes",
    "write_notes",
]

checks.guard(globals(), __all__)

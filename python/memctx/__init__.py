"""Conversation memory for LLM agents that survives compaction.

What leaves an agent's context window is archived verbatim and found again:

>>> import memctx, tempfile
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
...     [hit.segment.content for hit in memory.search("which port has the webhook?")]
['The webhook listens on port 8443']

The primitives it stands on are public too: a tokenizer that knows code and CJK, an exact text index, exact vector
search, a hash embedding, the VMEM vector format, and the fusion of rankings.

>>> index = memctx.Bm25Index()
>>> index.add("turn-3", "We decided: the payment webhook listens on port 8443")
>>> index.add("turn-9", "支付回调的端口是 8443")
>>> [hit.id for hit in index.search("which port has the webhook?", 1)]
['turn-3']
>>> [hit.id for hit in index.search("支付端口", 1)]
['turn-9']
"""

from memctx import fusion, ingest, vmem
from memctx._core import (
    Added,
    Bm25Index,
    ColdStatus,
    ColdStore,
    EmbeddingStatus,
    Explanation,
    Fact,
    FactHit,
    FactStore,
    FlatIndex,
    HashEmbedder,
    Hit,
    Masked,
    Redactor,
    Segment,
    StoreHit,
    WarmStore,
    __version__,
    estimate_tokens,
    tokenize,
)
from memctx.errors import (
    ConfigError,
    ContextOverflowError,
    CorruptStoreError,
    DimensionMismatchError,
    EmbeddingError,
    ExtractionError,
    MemctxError,
    MessageShapeError,
    StoreError,
    StoreLockedError,
    SummaryError,
    UnsupportedVersionError,
    VectorError,
)

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx import commands, registry
    from memctx.compactor import Compacted, run_with_recovery, run_with_recovery_sync
    from memctx.config import Config
    from memctx.intake import Archived
    from memctx.memory import Memory
    from memctx.messages.problem import Problem, validate
    from memctx.messages.repair import Repaired, repair
    from memctx.prune import prune_at_birth
    from memctx.registry import open, runtime  # noqa: A004 - as `memctx.open`
    from memctx.trim import SmartTrimmed, smart_trim
    from memctx.turn import Report, Turn

__all__ = [
    "Added",
    "Archived",
    "Bm25Index",
    "ColdStatus",
    "ColdStore",
    "Compacted",
    "Config",
    "ConfigError",
    "ContextOverflowError",
    "CorruptStoreError",
    "DimensionMismatchError",
    "EmbeddingError",
    "EmbeddingStatus",
    "Explanation",
    "ExtractionError",
    "Fact",
    "FactHit",
    "FactStore",
    "FlatIndex",
    "HashEmbedder",
    "Hit",
    "Masked",
    "MemctxError",
    "Memory",
    "MessageShapeError",
    "Problem",
    "Redactor",
    "Repaired",
    "Report",
    "Segment",
    "SmartTrimmed",
    "StoreError",
    "StoreHit",
    "StoreLockedError",
    "SummaryError",
    "Turn",
    "UnsupportedVersionError",
    "VectorError",
    "WarmStore",
    "__version__",
    "commands",
    "estimate_tokens",
    "fusion",
    "ingest",
    "open",
    "prune_at_birth",
    "registry",
    "repair",
    "run_with_recovery",
    "run_with_recovery_sync",
    "runtime",
    "smart_trim",
    "tokenize",
    "validate",
    "vmem",
]

# What needs pydantic or asyncio waits for its first use, so that importing memctx stays cheap.
_LATER = {
    "Archived": "memctx.intake",
    "Compacted": "memctx.compactor",
    "Config": "memctx.config",
    "Memory": "memctx.memory",
    "Problem": "memctx.messages.problem",
    "Repaired": "memctx.messages.repair",
    "Report": "memctx.turn",
    "SmartTrimmed": "memctx.trim",
    "Turn": "memctx.turn",
    "commands": "memctx.commands",
    "open": "memctx.registry",
    "prune_at_birth": "memctx.prune",
    "registry": "memctx.registry",
    "repair": "memctx.messages.repair",
    "run_with_recovery": "memctx.compactor",
    "run_with_recovery_sync": "memctx.compactor",
    "runtime": "memctx.registry",
    "validate": "memctx.messages.problem",
    "smart_trim": "memctx.trim",
}


if not TYPE_CHECKING:  # a checker would take every name for one that may be there

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module 'memctx' has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - only when something waits for it

        module = import_module(_LATER[name])
        value = globals()[name] = (
            module if name in {"commands", "registry"} else getattr(module, name)
        )
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

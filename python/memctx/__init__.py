"""Conversation memory for LLM agents that survives compaction.

The primitives the memory stands on: a tokenizer that knows code and CJK, an exact text index, exact vector search, a
hash embedding, the VMEM vector format, and the fusion of rankings.

>>> import memctx
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
    ColdStore,
    Explanation,
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
    CorruptStoreError,
    DimensionMismatchError,
    ExtractionError,
    MemctxError,
    MessageShapeError,
    StoreError,
    StoreLockedError,
    UnsupportedVersionError,
    VectorError,
)

__all__ = [
    "Added",
    "Bm25Index",
    "ColdStore",
    "ConfigError",
    "CorruptStoreError",
    "DimensionMismatchError",
    "Explanation",
    "ExtractionError",
    "FlatIndex",
    "HashEmbedder",
    "Hit",
    "Masked",
    "MemctxError",
    "MessageShapeError",
    "Redactor",
    "Segment",
    "StoreError",
    "StoreHit",
    "StoreLockedError",
    "UnsupportedVersionError",
    "VectorError",
    "WarmStore",
    "__version__",
    "estimate_tokens",
    "fusion",
    "ingest",
    "tokenize",
    "vmem",
]

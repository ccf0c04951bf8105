"""Primitives for building a custom memory: indexes, vectors, fusion, file formats.

>>> from memctx.lowlevel import Bm25Index
>>> index = Bm25Index()
>>> index.add("turn-3", "We decided: the payment webhook listens on port 8443")
>>> index.add("turn-9", "支付回调的端口是 8443")
>>> [hit.id for hit in index.search("which port has the webhook?", 1)]
['turn-3']
>>> [hit.id for hit in index.search("支付端口", 1)]
['turn-9']
"""

from memctx._core import (
    Added,
    Bm25Index,
    DiskIndexStatus,
    EmbeddingStatus,
    Explanation,
    FactHit,
    FactStore,
    FlatIndex,
    HashEmbedder,
    Hit,
    LineWriter,
    LogReader,
    Store,
    StoreOptions,
    query_term_hashes,
    term_hashes,
)
from memctx.lowlevel import fusion, ingest, vmem

__all__ = [
    "Added",
    "Bm25Index",
    "DiskIndexStatus",
    "EmbeddingStatus",
    "Explanation",
    "FactHit",
    "FactStore",
    "FlatIndex",
    "HashEmbedder",
    "Hit",
    "LineWriter",
    "LogReader",
    "Store",
    "StoreOptions",
    "fusion",
    "ingest",
    "query_term_hashes",
    "term_hashes",
    "vmem",
]

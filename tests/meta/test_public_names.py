"""The public names, pinned: one that comes or goes is a change somebody decided on."""

from __future__ import annotations

import inspect
from typing import get_origin

import pytest

import memctx
from memctx import config, extraction, extractors, knowledge, messages, prune, trim

PUBLIC = {
    "memctx": [
        "Added",
        "Archived",
        "Bm25Index",
        "ColdStore",
        "Config",
        "ConfigError",
        "CorruptStoreError",
        "DimensionMismatchError",
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
        "Turn",
        "UnsupportedVersionError",
        "VectorError",
        "WarmStore",
        "__version__",
        "estimate_tokens",
        "fusion",
        "ingest",
        "open",
        "prune_at_birth",
        "registry",
        "repair",
        "runtime",
        "smart_trim",
        "tokenize",
        "validate",
        "vmem",
    ],
    "memctx.config": [
        "Config",
        "Durability",
        "EmbeddingModel",
        "EstimatorName",
        "Placement",
        "Pruning",
        "PruningMode",
        "Ranking",
        "Redaction",
        "Thinking",
    ],
    "memctx.extractors": [
        "PROMPT_VERSION",
        "AnthropicExtractor",
        "Extraction",
        "Extractor",
        "FunctionExtractor",
        "Known",
        "Message",
        "OpenAIExtractor",
        "Price",
        "Request",
        "Usage",
        "extractor_of",
        "split",
    ],
    "memctx.extraction": ["Extraction", "Flush", "Flushed", "Patience", "Progress", "Tally"],
    "memctx.knowledge": [
        "FACT_TYPES",
        "Action",
        "Draft",
        "FactType",
        "Facts",
        "Op",
        "plan",
        "update",
    ],
    "memctx.messages": ["Record", "Shape", "detect", "read", "read_each"],
    "memctx.prune": ["prune_at_birth"],
    "memctx.registry": ["bind", "memories", "of", "open", "runtime"],
    "memctx.fusion": ["blend", "decay", "mmr", "normalize", "threshold"],
    "memctx.ingest": ["Entity", "Topics", "entities", "is_noise", "strip_channel_prefix"],
    "memctx.trim": ["SmartTrimmed", "smart_trim"],
    "memctx.vmem": ["VmemReport", "append", "read", "verify", "write"],
}

MODULES = (
    memctx,
    config,
    extraction,
    extractors,
    memctx.fusion,
    memctx.ingest,
    knowledge,
    messages,
    prune,
    memctx.registry,
    trim,
    memctx.vmem,
)


def test_public_names_are_pinned() -> None:
    assert {module.__name__: module.__all__ for module in MODULES} == PUBLIC


def test_every_public_name_exists_and_is_documented() -> None:
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            # A version, a type by another name.
            plain = isinstance(value, str | int) or get_origin(value)
            assert plain or inspect.getdoc(value), f"{module.__name__}.{name}"


def test_every_exception_is_a_memctx_error() -> None:
    classes = [getattr(memctx, name) for name in memctx.__all__ if name.endswith("Error")]
    assert len(classes) == 10
    assert all(issubclass(cls, memctx.MemctxError) for cls in classes)
    assert all(cls.__module__ == "memctx.errors" for cls in classes)


def test_names_that_wait_for_their_first_use_are_listed() -> None:
    assert set(memctx.__all__) <= set(dir(memctx))
    with pytest.raises(AttributeError, match="module 'memctx' has no attribute 'no_such_name'"):
        memctx.no_such_name  # type: ignore[attr-defined]  # noqa: B018

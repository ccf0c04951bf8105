"""The public names, pinned: one that comes or goes is a change somebody decided on."""

from __future__ import annotations

import inspect
from typing import get_origin

import pytest

import memctx
from memctx import (
    cli,
    commands,
    compact,
    compactor,
    config,
    extraction,
    extractors,
    knowledge,
    messages,
    prune,
    session,
    summarize,
    trim,
    workspace,
)

PUBLIC = {
    "memctx": [
        "Added",
        "Archived",
        "Bm25Index",
        "ColdStore",
        "Compacted",
        "Config",
        "ConfigError",
        "ContextOverflowError",
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
    ],
    "memctx.cli": ["main"],
    "memctx.commands": ["Action", "Outcome", "Part", "Table", "dispatch"],
    "memctx.compact": [
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
    ],
    "memctx.compactor": [
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
    ],
    "memctx.config": [
        "Compaction",
        "CompactionMode",
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
    "memctx.summarize": [
        "REQUIRED_SECTIONS",
        "SUMMARY_CHARS",
        "AnthropicSummarizer",
        "FunctionSummarizer",
        "Mode",
        "Prompt",
        "Quality",
        "Rung",
        "Summarizer",
        "Summary",
        "SummaryKind",
        "SummaryRequest",
        "Usage",
        "build_prompt",
        "check_quality",
        "chunk_tokens",
        "count_usage",
        "extract_identifiers",
        "serialize",
        "summarize_in_stages",
        "summarize_with_fallback",
    ],
    "memctx.session": [
        "Context",
        "CounterFile",
        "Counters",
        "Entry",
        "Transcript",
        "read_entries",
    ],
    "memctx.trim": ["SmartTrimmed", "smart_trim"],
    "memctx.vmem": ["VmemReport", "append", "read", "verify", "write"],
    "memctx.workspace": [
        "Access",
        "Cited",
        "Loaded",
        "LoadedFile",
        "Source",
        "Truncated",
        "Workspace",
        "WorkspaceSearch",
        "truncate",
    ],
}

MODULES = (
    memctx,
    cli,
    commands,
    compact,
    compactor,
    config,
    extraction,
    extractors,
    memctx.fusion,
    memctx.ingest,
    knowledge,
    messages,
    prune,
    memctx.registry,
    summarize,
    session,
    trim,
    memctx.vmem,
    workspace,
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
    assert len(classes) == 12
    assert all(issubclass(cls, memctx.MemctxError) for cls in classes)
    assert all(cls.__module__ == "memctx.errors" for cls in classes)


def test_names_that_wait_for_their_first_use_are_listed() -> None:
    assert set(memctx.__all__) <= set(dir(memctx))
    with pytest.raises(AttributeError, match="module 'memctx' has no attribute 'no_such_name'"):
        memctx.no_such_name  # type: ignore[attr-defined]  # noqa: B018

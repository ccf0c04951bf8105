"""Types of the settings as keyword arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from os import PathLike
    from typing import Any

    from memctx.config.compaction import Compaction, CompactionMode
    from memctx.config.pruning import Pruning, PruningMode
    from memctx.config.settings import (
        Durability,
        EmbeddingModel,
        EstimatorName,
        KnowledgeExtraction,
        Placement,
        QueryMessages,
        Ranking,
        Redaction,
        Thinking,
    )
    from memctx.config.workspace_search import WorkspaceSearchSettings
    from memctx.protocols import Extractor, Request, Summarizer, SummaryRequest


class OpenArguments(TypedDict, total=False):
    """Settings that `memctx.open` takes beside its own arguments."""

    storage_path: str | PathLike[str]
    durability: Durability
    lock_timeout: float
    max_segments: int
    eviction_days: float
    cold: bool
    cold_deadline_ms: float
    cold_turn_deadline_ms: float
    cross_session: bool
    archive_tools: bool | Collection[str]
    redaction: Redaction | bool
    redaction_patterns: Mapping[str, str]
    pii: bool
    ranking: Ranking
    embedding_model: EmbeddingModel
    embedding_url: str | None
    embedding_timeout_ms: float
    working_budget: int | None
    estimator: EstimatorName | Callable[[str], int]
    reply_reserve_tokens: int
    hard_cap_tokens: int
    auto_recall: bool
    auto_recall_min_score: float
    recall_window: int
    query_messages: QueryMessages
    min_query_chars: int
    trim_short_queries: bool
    protected_recent: int
    trim_to: float
    placement: Placement
    thinking: Thinking
    cache_ttl: float
    pruning: Pruning | PruningMode | Mapping[str, Any]
    knowledge_extraction: KnowledgeExtraction
    extractor: str | Extractor | Callable[[Request], Any] | None
    compaction: Compaction | CompactionMode | bool | Mapping[str, Any]
    summarizer: str | Summarizer | Callable[[SummaryRequest], str | Awaitable[str]] | None
    workspace: str | PathLike[str] | None
    workspace_max_chars: int
    workspace_max_total_chars: int
    workspace_search: WorkspaceSearchSettings | bool | Mapping[str, Any]
    enabled: bool


class Arguments(OpenArguments, total=False):
    """Every setting of `Config`."""

    context_window: int | None

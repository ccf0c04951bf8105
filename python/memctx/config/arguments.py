"""Groups of settings as dictionaries, for the keyword arguments of `memctx.open` and `Config`.

They are for editors and type checkers: `memctx.config.groups` has defaults, limits and purposes, and checks values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from memctx.config.compaction import CompactionMode
    from memctx.config.groups import (
        Durability,
        EstimatorName,
        PruningMode,
        QueryMessages,
        Ranking,
        Thinking,
    )
    from memctx.config.workspace_search import SearchSource
    from memctx.protocols import Embedder


class DiskArguments(TypedDict, total=False):
    """Settings of the group ``disk``."""

    durability: Durability
    lock_timeout: float
    max_segments: int
    eviction_days: float
    index: bool
    deadline_ms: float
    turn_deadline_ms: float


class PostgresArguments(TypedDict, total=False):
    """Settings of the group ``postgres``."""

    cache_path: str | PathLike[str] | None
    timeout: float


class RecallArguments(TypedDict, total=False):
    """Settings of the group ``recall``."""

    hard_cap_tokens: int
    min_score: float
    window: int
    query_messages: QueryMessages
    min_query_chars: int
    ranking: Ranking


class TrimArguments(TypedDict, total=False):
    """Settings of the group ``trim``."""

    protected_recent: int
    to: float
    short_queries: bool
    reply_reserve_tokens: int
    thinking: Thinking
    cache_ttl: float
    estimator: EstimatorName | Callable[[str], int]


class EmbeddingArguments(TypedDict, total=False):
    """Settings of the group ``embedding``."""

    url: str | None
    timeout_ms: float


class PrivacyArguments(TypedDict, total=False):
    """Settings of the group ``privacy``."""

    pii: bool
    patterns: Mapping[str, str]
    archive_tools: bool | Sequence[str]


class PruningArguments(TypedDict, total=False):
    """Settings of the group ``pruning``."""

    mode: PruningMode
    keep_last_assistants: int
    soft_trim_ratio: float
    hard_clear_ratio: float
    min_prunable_tool_chars: int
    soft_trim_max_chars: int
    soft_trim_head_chars: int
    soft_trim_tail_chars: int
    hard_clear: bool
    placeholder: str
    allow: Sequence[str]
    deny: Sequence[str]


class CompactionArguments(TypedDict, total=False):
    """Settings of the group ``compaction``."""

    enabled: bool
    mode: CompactionMode
    reserve_tokens: int
    reserve_tokens_floor: int
    keep_recent_tokens: int
    max_history_share: float
    compact_at: float | None
    instructions: str | None
    quality_retries: int
    timeout_seconds: float
    hook_seconds: float
    memory_flush: bool
    soft_threshold: int | float
    flush_prompt: str | None
    flush_system_prompt: str | None


class BootstrapArguments(TypedDict, total=False):
    """Settings of the group ``bootstrap``."""

    max_chars: int
    max_total_chars: int


class WorkspaceSearchArguments(TypedDict, total=False):
    """Settings of the group ``workspace_search``."""

    enabled: bool
    sources: Sequence[SearchSource]
    extra_paths: Sequence[str | PathLike[str]]
    sessions: Sequence[str | PathLike[str]]
    embedding_model: str | Embedder | None
    embedding_url: str | None
    max_results: int
    min_score: float
    vector_weight: float | None
    text_weight: float | None
    candidate_multiplier: int
    chunk_tokens: int
    overlap_tokens: int
    half_life_days: float | None
    mmr_lambda: float | None

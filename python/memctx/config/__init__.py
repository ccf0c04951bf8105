"""Settings of a memory: from arguments, the environment and files.

Arguments win over ``MEMCTX_*`` variables of the environment, those over a TOML, JSON or JSON5 file, and that over the
defaults. Each setting may be written in snake_case or in camelCase, so that an ``openclaw.json`` loads as it is.

>>> from memctx.config import Config
>>> config = Config(max_segments=5_000, redaction=True)
>>> config.max_segments, config.redaction, config.eviction_days
(5000, 'mask', 90.0)
>>> Config(max_segment=5_000)
Traceback (most recent call last):
memctx.errors.ConfigError: max_segment is no setting; did you mean max_segments?
"""

from memctx._lazy import lazy_exports

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.config.compaction import Compaction, CompactionMode
    from memctx.config.pruning import Pruning, PruningMode
    from memctx.config.settings import (
        Checked,
        Config,
        Durability,
        EmbeddingModel,
        EstimatorName,
        Placement,
        QueryMessages,
        Ranking,
        Redaction,
        Thinking,
    )
    from memctx.config.workspace_search import SearchSource, WorkspaceSearchSettings

__all__ = [
    "Checked",
    "Compaction",
    "CompactionMode",
    "Config",
    "Durability",
    "EmbeddingModel",
    "EstimatorName",
    "Placement",
    "Pruning",
    "PruningMode",
    "QueryMessages",
    "Ranking",
    "Redaction",
    "SearchSource",
    "Thinking",
    "WorkspaceSearchSettings",
]

# Imported on first use, because the names of embedders are needed without pydantic.
_LATER = {
    "Checked": "memctx.config.settings",
    "Compaction": "memctx.config.compaction",
    "CompactionMode": "memctx.config.compaction",
    "Config": "memctx.config.settings",
    "Durability": "memctx.config.settings",
    "EmbeddingModel": "memctx.config.settings",
    "EstimatorName": "memctx.config.settings",
    "Placement": "memctx.config.settings",
    "Pruning": "memctx.config.pruning",
    "PruningMode": "memctx.config.pruning",
    "QueryMessages": "memctx.config.settings",
    "Ranking": "memctx.config.settings",
    "Redaction": "memctx.config.settings",
    "SearchSource": "memctx.config.workspace_search",
    "Thinking": "memctx.config.settings",
    "WorkspaceSearchSettings": "memctx.config.workspace_search",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

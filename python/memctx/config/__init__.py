"""Settings of a memory: from arguments, the environment and files.

Arguments win over ``MEMCTX_*`` variables of the environment, those over a TOML, JSON or JSON5 file, and that over the
defaults. The most used settings are on `Config` itself, the others in groups. Each may be written in snake_case or in
camelCase, and by its name in OpenClaw, so that an ``openclaw.json`` loads as it is.

>>> from memctx.config import Config, DiskSettings
>>> config = Config(redaction=True, disk=DiskSettings(max_segments=5_000), recall={"min_score": 0.5})
>>> config.redaction, config.disk.max_segments, config.disk.eviction_days, config.recall.min_score
('mask', 5000, 90.0, 0.5)
>>> Config(max_segment=5_000)
Traceback (most recent call last):
memctx.errors.ConfigError: max_segment is no setting; did you mean disk.max_segments?
"""

from memctx._lazy import lazy_exports

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.config.compaction import (
        CompactionMode,
        CompactionSettings,
    )
    from memctx.config.groups import (
        BootstrapSettings,
        DiskSettings,
        Durability,
        EmbeddingSettings,
        EstimatorName,
        PrivacySettings,
        PruningMode,
        PruningSettings,
        QueryMessages,
        Ranking,
        RecallSettings,
        Thinking,
        TrimSettings,
    )
    from memctx.config.settings import (
        Checked,
        Config,
        EmbeddingModel,
        Placement,
        Redaction,
    )
    from memctx.config.workspace_search import (
        SearchSource,
        WorkspaceSearchSettings,
    )

__all__ = [
    "BootstrapSettings",
    "Checked",
    "CompactionMode",
    "CompactionSettings",
    "Config",
    "DiskSettings",
    "Durability",
    "EmbeddingModel",
    "EmbeddingSettings",
    "EstimatorName",
    "Placement",
    "PrivacySettings",
    "PruningMode",
    "PruningSettings",
    "QueryMessages",
    "Ranking",
    "RecallSettings",
    "Redaction",
    "SearchSource",
    "Thinking",
    "TrimSettings",
    "WorkspaceSearchSettings",
]

# Imported on first use, because the names of embedders are needed without the settings.
_LATER = {
    "BootstrapSettings": "memctx.config.groups",
    "Checked": "memctx.config.settings",
    "CompactionMode": "memctx.config.compaction",
    "CompactionSettings": "memctx.config.compaction",
    "Config": "memctx.config.settings",
    "DiskSettings": "memctx.config.groups",
    "Durability": "memctx.config.groups",
    "EmbeddingModel": "memctx.config.settings",
    "EmbeddingSettings": "memctx.config.groups",
    "EstimatorName": "memctx.config.groups",
    "Placement": "memctx.config.settings",
    "PrivacySettings": "memctx.config.groups",
    "PruningMode": "memctx.config.groups",
    "PruningSettings": "memctx.config.groups",
    "QueryMessages": "memctx.config.groups",
    "Ranking": "memctx.config.groups",
    "RecallSettings": "memctx.config.groups",
    "Redaction": "memctx.config.settings",
    "SearchSource": "memctx.config.workspace_search",
    "Thinking": "memctx.config.groups",
    "TrimSettings": "memctx.config.groups",
    "WorkspaceSearchSettings": "memctx.config.workspace_search",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""The settings of a memory, and where they come from.

Arguments win over ``MEMCTX_*`` variables of the environment, those over a TOML or JSON file, and that over the
defaults. Each setting may be written in snake_case or in camelCase, so that the ``memoryContext`` block of an
``openclaw.json`` loads as it is.

>>> config = Config(max_segments=5_000, redaction=True)
>>> config.max_segments, config.redaction, config.eviction_days
(5000, 'mask', 90.0)
>>> Config(max_segment=5_000)
Traceback (most recent call last):
memctx.errors.ConfigError: max_segment is no setting; did you mean max_segments?
"""

from memctx.config.compaction import Compaction, CompactionMode
from memctx.config.pruning import Pruning, PruningMode
from memctx.config.settings import (
    Config,
    Durability,
    EmbeddingModel,
    EstimatorName,
    Placement,
    Ranking,
    Redaction,
    Thinking,
)

__all__ = [
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
]

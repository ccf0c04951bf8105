"""Extraction in the background: what was archived becomes facts, and no batch is lost."""

from memctx.extraction.breaker import Patience
from memctx.extraction.extraction import Extraction
from memctx.extraction.flush import Flush, Flushed
from memctx.extraction.progress import Progress, Tally

__all__ = ["Extraction", "Flush", "Flushed", "Patience", "Progress", "Tally"]

"""Background extraction: facts are extracted from the archive while the host works, and no batch is lost."""

from memctx import checks
from memctx.facts.worker.extraction import BackgroundExtraction
from memctx.facts.worker.progress import Counts, FactsFuture, FactsReady, Progress

__all__ = ["BackgroundExtraction", "Counts", "FactsFuture", "FactsReady", "Progress"]

checks.guard(globals(), __all__)

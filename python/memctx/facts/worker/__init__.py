"""Background extraction: facts are extracted from the archive while the host works, and no batch is lost."""

from memctx import checks
from memctx.facts.worker.batches import ExtractionOptions
from memctx.facts.worker.extraction import BackgroundExtraction
from memctx.facts.worker.progress import Counts, FactsFuture, FactsReady, Progress
from memctx.facts.worker.queue import Cursor as Cursor
from memctx.facts.worker.queue import create_cursor as create_cursor
from memctx.facts.worker.queue import cursor_path as cursor_path

__all__ = [
    "BackgroundExtraction",
    "Counts",
    "ExtractionOptions",
    "FactsFuture",
    "FactsReady",
    "Progress",
]

checks.guard(globals(), __all__)

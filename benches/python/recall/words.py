"""Text scores of the core for every piece, from a real store that holds each piece as a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memctx.lowlevel import Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recall.memory import Memory

BATCH = 256


@dataclass(frozen=True)
class Words:
    """The text side of a memory's questions."""

    scores: NDArray[np.float32]
    """Question by piece: BM25, divided by the question's best."""
    certainty: NDArray[np.float32]
    """Certainty of the words that each question is answered, from 0 to 1."""


def ask(memory: Memory, folder: Path) -> Words:
    """Ask all questions of the pieces of a memory."""
    store = Store(
        folder,
        StoreOptions(
            session_id="pieces",
            max_segments=10**6,
            eviction_days=0.0,
            durability="os",
            redaction="off",
            disk_index=False,
            # No vectors: the best score is how sure the words are.
            model=("nothing", "1", 1, False),
        ),
    )
    # A role of its own for each, so that two pieces that say the same both stay.
    added = store.add([(f"r{at}", text, None, None) for at, text in enumerate(memory.texts)])
    while texts := store.unembedded(BATCH):
        store.set_aside([name for name, _ in texts])
    numbers = {piece.id: at for at, piece in enumerate(added) if piece.id is not None}
    scores = np.zeros((len(memory.queries), len(memory.texts)), dtype=np.float32)
    certainty = np.zeros(len(memory.queries), dtype=np.float32)
    for at, query in enumerate(memory.queries):
        hits = store.search(query, limit=len(numbers))
        for hit in hits:
            scores[at, numbers[hit.segment.id]] = hit.bm25
        certainty[at] = max((hit.score for hit in hits), default=0.0)
    store.close()
    return Words(scores, certainty)

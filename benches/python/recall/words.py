"""Text scores of the core for every piece, from a real store that holds each piece as a message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memctx.lowlevel import Store, StoreOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from memctx._core import SearchHit
    from recall.memory import Memory

# The scale of `match` in the core, which is read backwards here.
LINE, SPREAD = 0.7, 0.05
WORDS_AT_LINE, CJK_AT_LINE = 0.25, 0.15
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True)
class Words:
    """The text side of a memory's questions."""

    scores: NDArray[np.float32]
    """Question by piece: BM25, divided by the question's best."""
    cover: NDArray[np.float32]
    """Share of each question's words that the best text has."""


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
        ),
    )
    # A role of its own for each, so that two pieces that say the same both stay.
    added = store.add([(f"r{at}", text, None, None) for at, text in enumerate(memory.texts)])
    numbers = {piece.id: at for at, piece in enumerate(added) if piece.id is not None}
    scores = np.zeros((len(memory.queries), len(memory.texts)), dtype=np.float32)
    cover = np.zeros(len(memory.queries), dtype=np.float32)
    for at, query in enumerate(memory.queries):
        hits = store.search(query, limit=len(numbers))
        for hit in hits:
            scores[at, numbers[hit.segment.id]] = hit.bm25
        cover[at] = _cover(query, hits)
    store.close()
    return Words(scores, cover)


def _cover(query: str, hits: Sequence[SearchHit]) -> float:
    """Return the cover behind the `match` of some hits: that of the hit whose own vector adds nothing to it."""
    if not hits:
        return 0.0
    best = max(hit.score for hit in hits)
    covered = min(hit.match + SPREAD * (1 - hit.score / best) for hit in hits)
    letters = re.sub(r"\W", "", query)
    cjk = len(CJK.findall(letters)) / max(1, len(letters))
    at_line = WORDS_AT_LINE + (CJK_AT_LINE - WORDS_AT_LINE) * cjk
    if covered < LINE:
        return covered * at_line / LINE
    return min(1.0, at_line + (covered - LINE - SPREAD) * (1 - at_line) / (1 - LINE - SPREAD))

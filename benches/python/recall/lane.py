"""The real store as one of the compared ways."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from recall_sets import opened

from recall.memory import NONE
from recall.ranking import Listed

BATCH = 256

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from memctx._core import SearchHit, StaticEmbedder
    from memctx.lowlevel import Store
    from recall.encoders import Encoder
    from recall.material import Vectors
    from recall.memory import Memory


def own(path: Path, model: StaticEmbedder) -> Store:
    """Open the store at a path, with the vectors of a model that the core runs itself."""
    store = opened(path, "asking", model=model, replaces_vectors=True)
    while store.embedding().is_replacing:
        time.sleep(0.01)
    return store


def supplied(memory: Memory, path: Path, encoder: Encoder, vectors: Vectors) -> Store:
    """Open the store at a path, with the vectors of an encoder instead of its own."""
    dim = vectors.pieces.shape[1]
    model = (encoder.name, encoder.revision, dim, encoder.is_latin_only)
    store = opened(path, "asking", model=model, replaces_vectors=True)
    rows = {text: row for text, row in zip(memory.texts, vectors.pieces, strict=True) if row.any()}
    while texts := store.unembedded(BATCH):
        known = [(name, rows[text]) for name, text in texts if text in rows]
        store.set_aside([name for name, text in texts if text not in rows])
        if known:
            names, values = zip(*known, strict=True)
            store.supply(names, np.stack(values))
    return store


def worded(path: Path) -> Store:
    """Open the store at a path without vectors: it searches by words alone."""
    store = opened(path, "asking", model=("nothing", "1", 1, False), replaces_vectors=True)
    while texts := store.unembedded(BATCH):
        store.set_aside([name for name, _ in texts])
    return store


def ask(
    memory: Memory, store: Store, limit: int, vectors: Vectors | None = None, **options: Any
) -> Listed:
    """Return the hits of a filled store for a memory's questions.

    `vectors` are for a store that does not make its own: the questions' go with the questions.
    """
    numbers = {segment.id: at for at, segment in enumerate(store.segments())}
    messages = np.full((len(memory.queries), limit), NONE, dtype=np.intp)
    pieces = np.zeros_like(messages)
    for at, query in enumerate(memory.queries):
        given = {} if vectors is None else {"vector": vectors.queries[at]}
        hits = store.search(query, limit=limit, **given, **options)
        messages[at, : len(hits)] = [numbers[hit.segment.id] for hit in hits]
        pieces[at, : len(hits)] = _pieces(memory, messages[at], hits)
    return Listed(messages, pieces)


def _pieces(memory: Memory, messages: NDArray[np.intp], hits: Sequence[SearchHit]) -> list[int]:
    """Return the number of the piece of each hit."""
    found = []
    for message, hit in zip(messages, hits, strict=False):
        start, number = 0, int(memory.first[message])
        while start < hit.passage[0]:
            start += len(memory.texts[number])
            number += 1
        if start != hit.passage[0]:
            raise ValueError(f"the core cuts at {hit.passage[0]}, `recall.pieces` at {start}")
        found.append(number)
    return found

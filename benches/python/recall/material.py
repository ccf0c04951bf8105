"""The sets, read and filled by `recall_sets`, with what takes long to make kept in a folder."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from recall_sets import RecallSet

from recall import words
from recall.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recall.encoders import Encoder
    from recall.words import Words

EVERY = 10**9


@dataclass(frozen=True)
class Material:
    """One set: its memories, and what the text side says."""

    name: str
    memories: list[Memory]
    words: list[Words]


def load(name: str, data: Path, cache: Path) -> Material:
    """A set as arrays, from the cache where it was made before."""
    kept = cache / f"{name}.pickle"
    if kept.exists():
        return Material(name, *pickle.loads(kept.read_bytes()))  # noqa: S301 - written by the lines below
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        recall = RecallSet(data / name, folder / "whole", EVERY)
        memories = []
        for store in recall.stores:
            asked = [question for question in recall.questions if question["store"] == store]
            memories.append(Memory.of(store, recall.stores[store], recall.names[store], asked))
        found = [
            words.ask(memory, folder / "pieces" / str(at)) for at, memory in enumerate(memories)
        ]
    kept.write_bytes(pickle.dumps((memories, found)))
    return Material(name, memories, found)


def vectors(material: Material, encoder: Encoder, cache: Path) -> list[Vectors]:
    """The vectors of each memory's pieces and questions, from the cache where they were made before."""
    texts = [text for memory in material.memories for text in memory.texts]
    queries = [query for memory in material.memories for query in memory.queries]
    digest = hashlib.sha256("\0".join([encoder.revision, *texts, *queries]).encode()).hexdigest()
    kept = cache / f"{material.name}-{encoder.name}.npz"
    made = dict(np.load(kept)) if kept.exists() else {}
    if str(made.get("digest")) != digest:
        made = {"pieces": _unit(encoder, texts), "queries": _unit(encoder, queries)}
        np.savez(kept, digest=np.array(digest), **made)
    at_pieces = np.cumsum([len(memory.texts) for memory in material.memories])[:-1]
    at_queries = np.cumsum([len(memory.queries) for memory in material.memories])[:-1]
    pieces = np.split(made["pieces"], at_pieces)
    asked = np.split(made["queries"], at_queries)
    return [Vectors(*pair) for pair in zip(pieces, asked, strict=True)]


@dataclass(frozen=True)
class Vectors:
    """Of length 1, or of zeros."""

    pieces: NDArray[np.float32]
    queries: NDArray[np.float32]


def _unit(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    made = np.asarray(encoder.embed_many(texts), dtype=np.float32)
    norms = np.linalg.norm(made, axis=1, keepdims=True)
    return made / np.where(norms > 0, norms, 1)

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


def load(name: str, data: Path, cache: Path, most: int = EVERY) -> Material:
    """Return the first memories of a set as arrays, from the cache where they were made before."""
    kept = cache / f"{name}.pickle"
    if kept.exists():
        memories, found = pickle.loads(kept.read_bytes())  # noqa: S301 - written by the lines below
        return Material(name, memories[:most], found[:most])
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
    return Material(name, memories[:most], found[:most])


def vectors(material: Material, encoder: Encoder, cache: Path) -> list[Vectors]:
    """Return the vectors of each memory's pieces and questions, from the cache where they were made before."""
    return [_vectors(material.name, memory, encoder, cache) for memory in material.memories]


def _vectors(name: str, memory: Memory, encoder: Encoder, cache: Path) -> Vectors:
    said = "\0".join([encoder.revision, *memory.texts, *memory.queries])
    digest = hashlib.sha256(said.encode()).hexdigest()
    kept = cache / f"{name}-{memory.name}-{encoder.name}.npz"
    if kept.exists() and str((made := np.load(kept))["digest"]) == digest:
        return Vectors(made["pieces"], made["queries"])
    made = Vectors(_unit(encoder, memory.texts), _unit(encoder, memory.queries))
    np.savez(kept, digest=np.array(digest), pieces=made.pieces, queries=made.queries)
    return made


@dataclass(frozen=True)
class Vectors:
    """Of length 1, or of zeros."""

    pieces: NDArray[np.float32]
    queries: NDArray[np.float32]


def _unit(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    made = np.asarray(encoder.embed_many(texts), dtype=np.float32)
    norms = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / np.where(norms > 0, norms, 1), dtype=np.float32)

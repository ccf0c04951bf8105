"""Text and vector scores of every piece of a memory, for all its questions at once."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recall.material import Vectors
    from recall.memory import Memory
    from recall.words import Words


FEW = 16
"""Pieces that tell little of what a mean cosine is."""


@dataclass(frozen=True)
class Sides:
    """The text side and the vector side; arrays are question by piece, or by question."""

    memory: Memory
    words: Words
    vectors: Vectors
    is_cut: bool = False
    """True if only the first piece of a message has a vector."""
    is_centered: bool = True
    """True if similarity is measured from the mean of all messages, as cosines of models are rarely near 0."""

    @property
    def text(self) -> NDArray[np.float32]:
        """BM25, divided by the question's best."""
        return self.words.scores

    @property
    def certainty(self) -> NDArray[np.float32]:
        """Certainty of the words that each question is answered."""
        return self.words.certainty

    @cached_property
    def cosine(self) -> NDArray[np.float32]:
        cosine = self.vectors.queries @ self.vectors.pieces.T
        if not self.is_cut:
            return cosine
        is_first = np.zeros(len(self.memory.texts), dtype=bool)
        is_first[self.memory.first] = True
        return np.where(is_first, cosine, 0)

    @cached_property
    def mean(self) -> NDArray[np.float32]:
        """The mean cosine of a question to all pieces, in small memories nearer to 0: one product with their sum."""
        pieces = self.vectors.pieces
        return np.asarray(self.vectors.queries @ pieces.sum(0) / (len(pieces) + FEW), np.float32)

    @cached_property
    def top(self) -> NDArray[np.float32]:
        """The best cosine of a question."""
        return np.asarray(self.cosine.max(1), np.float32)

    @cached_property
    def latin(self) -> NDArray[np.float32]:
        """The share of a question's letters that are Latin."""
        return np.array([_latin(query) for query in self.memory.queries], dtype=np.float32)

    @cached_property
    def likeness(self) -> NDArray[np.float32]:
        """Return the similarity of the first pieces of each two messages."""
        heads = self.vectors.pieces[self.memory.first]
        likeness = heads @ heads.T
        if not self.is_centered:
            return likeness
        common = float((heads.mean(0) ** 2).sum())
        return np.asarray(np.maximum(likeness - common, 0) / (1 - common), np.float32)


def _latin(text: str) -> float:
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    return latin / len(letters) if letters else 1.0

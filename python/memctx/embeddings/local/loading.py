"""`LazyEmbedder`, the base of embedders whose model is loaded when the first text needs it; batches of texts."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Model = TypeVar("Model")


class LazyEmbedder(ABC, Generic[Model]):
    """Loads a model once for all threads, and again in a forked child or after it was closed."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._forget()

    @abstractmethod
    def _load_model(self) -> Model:
        """Load the model. Only one thread is here at a time."""

    def warm(self) -> None:
        """Load the model, so that the first text need not wait for it."""
        self._load()

    def close(self) -> None:
        """Release the model; the next text loads it again."""
        self._model = None

    def _load(self) -> Model:
        # A forked child does not have the threads of a model, nor the thread that held the lock.
        if self._process != os.getpid():
            self._forget()
        with self._lock:
            model = self._model
            if model is None:
                model = self._model = self._load_model()
            return model

    def _forget(self) -> None:
        self._model = None
        self._lock = threading.Lock()
        self._process = os.getpid()


def check_texts(texts: object) -> None:
    """Raise `TypeError` for a single text, whose characters would be embedded one by one."""
    if isinstance(texts, str):
        raise TypeError("embed_many takes a list of texts, not a single one")


def group_by_length(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the indices of texts in batches of similar length, the longest first, each within ``most`` if padded.

    A text that is longer than that is alone.

    >>> group_by_length([3, 9, 4, 8], 16)
    [[1], [3, 2], [0]]
    """
    groups: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if groups and (len(groups[-1]) + 1) * longest <= most:
            groups[-1].append(index)
        else:
            groups.append([index])
            longest = lengths[index]
    return groups

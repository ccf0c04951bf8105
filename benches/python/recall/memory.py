"""One memory of a set as arrays: its messages, their pieces, their neighbors, and the questions put to it."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import memctx
from recall.pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memctx._core import Segment
    from memctx.lowlevel import Store

REACH = 2
DAY = 86_400_000.0
NONE = -1


@dataclass(frozen=True)
class Memory:
    """Messages are numbered in the order of the store, pieces in the order of their messages."""

    name: str
    texts: list[str]
    """The pieces."""
    first: NDArray[np.intp]
    """The first piece of each message."""
    owner: NDArray[np.intp]
    """The message of each piece."""
    tokens: NDArray[np.int64]
    piece_tokens: NDArray[np.int64]
    is_user: NDArray[np.bool_]
    days: NDArray[np.float64]
    """The age of each message."""
    beside: NDArray[np.intp]
    """The two messages before and the two behind each in its session, or `NONE`."""
    queries: list[str]
    is_gold: NDArray[np.bool_]
    """Question by message."""
    wanted: NDArray[np.int64]
    """Number of evidence messages of each question, stored or not."""

    @classmethod
    def of(
        cls,
        name: str,
        store: Store,
        names: Mapping[str, str],
        questions: Sequence[Mapping[str, Any]],
    ) -> Memory:
        """Return the arrays of a filled store, whose segments have these names in the set."""
        segments = list(store.segments())
        cuts = [pieces(segment.content) for segment in segments]
        texts = [
            segment.content[start:end]
            for segment, ends in zip(segments, cuts, strict=True)
            for start, end in ends
        ]
        counts = [len(ends) for ends in cuts]
        places = {names[segment.id]: at for at, segment in enumerate(segments)}
        is_gold = np.zeros((len(questions), len(segments)), dtype=bool)
        for row, question in zip(is_gold, questions, strict=True):
            row[[places[gold] for gold in question["gold"] if gold in places]] = True
        now = time.time() * 1000
        return cls(
            name=name,
            texts=texts,
            first=np.cumsum([0, *counts[:-1]]),
            owner=np.repeat(np.arange(len(segments)), counts),
            tokens=np.array([memctx.estimate_tokens(segment.content) for segment in segments]),
            piece_tokens=np.array([memctx.estimate_tokens(text) for text in texts]),
            is_user=np.array([segment.role == "user" for segment in segments]),
            days=np.array([max(0.0, now - segment.timestamp) / DAY for segment in segments]),
            beside=_beside(segments),
            queries=[question["query"] for question in questions],
            is_gold=is_gold,
            wanted=np.array([max(1, len(set(question["gold"]))) for question in questions]),
        )


def _beside(segments: Sequence[Segment]) -> NDArray[np.intp]:
    """Return the neighbors of each in its session, the nearest first on each side."""
    timelines: dict[str, list[int]] = defaultdict(list)
    for at, segment in enumerate(segments):
        timelines[segment.session_id].append(at)
    beside = np.full((len(segments), 2 * REACH), NONE, dtype=np.intp)
    for timeline in timelines.values():
        for place, at in enumerate(timeline):
            for step in range(1, REACH + 1):
                if place >= step:
                    beside[at, step - 1] = timeline[place - step]
                if place + step < len(timeline):
                    beside[at, REACH + step - 1] = timeline[place + step]
    return beside

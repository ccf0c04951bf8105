"""Input of all engines: messages, queries, and the nearest messages of each query by exact search."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

import memctx
from cold import talk
from cold.question import Question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

DIM = 384
QUERIES = 200
BATCH = 10_000
DEEP = 100
"""Number of nearest texts that are kept, so that those as near as the tenth are known, too."""
NEAREST = 10
SAME = 1e-5
"""Cosines that differ by no more are the same: engines round."""


@dataclass(frozen=True)
class Batch:
    """Some messages in a row; tokens and vectors are made on request."""

    first: int
    texts: list[str]
    sessions: list[str]
    roles: list[str]
    times: list[int]

    def tokens(self) -> list[list[str]]:
        """Return our tokens of each message."""
        return [memctx.tokenize(text) for text in self.texts]

    def vectors(self) -> NDArray[np.float32]:
        """Return our vector of each message."""
        return memctx.lowlevel.HashEmbedder(DIM).embed_many(self.texts)


class Material:
    """A folder with the messages of the largest size; smaller ones are their beginning."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._talk = folder / "talk.jsonl"

    def make(self, sizes: Sequence[int]) -> None:
        """Write the missing files."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._length() < max(sizes):
            self._write(max(sizes))
        for size in sizes:
            if not self._near(size).exists():
                self._search(size)

    def batches(self, size: int) -> Iterator[Batch]:
        """Yield batches of the first messages."""
        first = 0
        with self._talk.open(encoding="utf-8") as lines:
            wanted = islice(lines, size)
            while rows := [json.loads(line) for line in islice(wanted, BATCH)]:
                yield Batch(
                    first=first,
                    texts=[text for _, _, text in rows],
                    sessions=[talk.session(episode, size) for episode, _, _ in rows],
                    roles=[role for _, role, _ in rows],
                    times=[talk.moment(first + at, size) for at in range(len(rows))],
                )
                first += len(rows)

    def recall(self, size: int, found: Sequence[Sequence[int]]) -> float:
        """Return the share of the nearest that was found, for the queries in order; ties with the tenth count."""
        with np.load(self._near(size)) as kept:
            numbers, cosines = kept["numbers"], kept["cosines"]
        shares = []
        for mine, near, values in zip(found, numbers, cosines, strict=False):
            least = values[NEAREST - 1] - SAME
            good = {
                int(number) for number, value in zip(near, values, strict=True) if value >= least
            }
            shares.append(len(good.intersection(mine[:NEAREST])) / NEAREST)
        return float(np.mean(shares))

    def _length(self) -> int:
        if not self._talk.exists():
            return 0
        with self._talk.open("rb") as lines:
            return sum(1 for _ in lines)

    def _write(self, size: int) -> None:
        part = self._talk.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            for said in talk.messages(size):
                row = (said.episode, said.role, said.text)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        part.rename(self._talk)

    def _near(self, size: int) -> Path:
        return self._folder / f"near-{size}.npz"

    def _search(self, size: int) -> None:
        """Search exactly in single precision, a batch at a time."""
        asked = np.stack([question.vector for question in questions()])
        numbers = np.empty((len(asked), 0), np.int64)
        cosines = np.empty((len(asked), 0), np.float32)
        for batch in self.batches(size):
            rows = batch.vectors()
            here = np.arange(batch.first, batch.first + len(rows))
            numbers = np.hstack([numbers, np.broadcast_to(here, (len(asked), len(rows)))])
            cosines = np.hstack([cosines, asked @ rows.T])
            best = np.argsort(-cosines, axis=1, kind="stable")[:, :DEEP]
            numbers = np.take_along_axis(numbers, best, 1)
            cosines = np.take_along_axis(cosines, best, 1)
        np.savez(self._near(size), numbers=numbers, cosines=cosines)


def questions(among: int = 20_000) -> list[Question]:
    """Return the queries, alternately short and long, about the first messages, which every size has."""
    asked = talk.questions(QUERIES, among)
    vectors = memctx.lowlevel.HashEmbedder(DIM).embed_many(text for text, _ in asked)
    return [
        Question(text, kind, list(dict.fromkeys(memctx.tokenize(text))), vector)
        for (text, kind), vector in zip(asked, vectors, strict=True)
    ]

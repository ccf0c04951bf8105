"""How well vectors alone find the evidence of the development sets."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from train.student import MAX_PIECES, Student, in_buckets
from train.teachers import DEVICE

if TYPE_CHECKING:
    from pathlib import Path

    from train.corpus import Pieces

BEST = 10
DETAILED = frozenset(("needles_dev", "facts"))
"""Sets whose questions are of several types."""


class Check:
    """The development sets, cut into pieces."""

    def __init__(self, folder: Path, pieces: Pieces) -> None:
        self._sets = {
            path.name: _Set(path, pieces)
            for path in sorted(folder.iterdir())
            if (path / "queries.jsonl.gz").exists()
        }

    @torch.no_grad()
    def run(self, student: Student, dim: int = 256, *, is_static: bool = False) -> dict[str, float]:
        """Return the share of the evidence among the ten best of each set, in percent."""
        found: dict[str, float] = {}
        for name, one in self._sets.items():
            for kind, share in one.run(student, dim, is_static=is_static).items():
                found[f"{name} {kind}".strip()] = share
        return found


class _Set:
    def __init__(self, folder: Path, pieces: Pieces) -> None:
        self._name = folder.name
        messages, self._questions = (
            _read(folder / f"{name}.jsonl.gz") for name in ("messages", "queries")
        )
        self._places: dict[str, dict[str, int]] = defaultdict(dict)
        for at, message in enumerate(messages):
            self._places[message["store"]][message["id"]] = at
        self._messages = len(messages)
        texts = [message["content"] for message in messages] + [
            one["query"] for one in self._questions
        ]
        parts, self._owner = [], []
        for at, ids in enumerate(pieces.cut(texts)):
            count = max(1, -(-len(ids) // MAX_PIECES))
            size = max(1, -(-len(ids) // count))
            for start in range(0, max(1, len(ids)), size):
                parts.append(ids[start : start + size])
                self._owner.append(at)
        self._texts = len(texts)
        table = np.zeros((len(parts), MAX_PIECES), np.int32)
        for row, ids in zip(table, parts, strict=True):
            row[: len(ids)] = ids
        self._ids = torch.from_numpy(table).to(DEVICE)
        self._lengths = torch.tensor([len(ids) for ids in parts], device=DEVICE)

    def run(self, student: Student, dim: int, *, is_static: bool) -> dict[str, float]:
        sums = torch.cat(
            [
                in_buckets(student, ids, lengths, is_static=is_static)
                for ids, lengths in zip(
                    self._ids.split(8_000), self._lengths.split(8_000), strict=True
                )
            ]
        ).float()
        whole = torch.zeros(self._texts, sums.shape[1], device=DEVICE)
        whole.index_add_(0, torch.tensor(self._owner, device=DEVICE), sums)
        vectors = F.normalize(whole[:, :dim], dim=1)
        found: dict[str, list[float]] = defaultdict(list)
        for question, vector in zip(self._questions, vectors[self._messages :], strict=True):
            places = self._places[question["store"]]
            numbers = torch.tensor(list(places.values()), device=DEVICE)
            best = set(
                numbers[(vectors[numbers] @ vector).topk(min(BEST, len(numbers))).indices].tolist()
            )
            share = sum(places.get(gold) in best for gold in question["gold"]) / len(
                question["gold"]
            )
            found[""].append(share)
            if self._name in DETAILED:
                kind = question["type"]
                if ">" in kind:
                    asked, told = kind.split(">")
                    found["same" if asked == told else "across"].append(share)
                found[kind].append(share)
        return {kind: round(100 * float(np.mean(shares)), 1) for kind, shares in found.items()}


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]

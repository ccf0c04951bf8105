"""The chosen texts and pairs as tensors."""

from __future__ import annotations

import lzma
import os
from collections import defaultdict
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
import sentencepiece
import torch

from prepare.normalize import Normalizer, read_fold
from train.student import MAX_PIECES
from train.teachers import DEVICE

if TYPE_CHECKING:
    from pathlib import Path

_normalize: Normalizer


def _normalized(texts: list[str]) -> list[str]:
    return [_normalize(text) for text in texts]


class Pieces:
    """Cuts texts into pieces as the core does: nothing unknown, no mere beginnings of words."""

    def __init__(self, model: Path, fold: Path) -> None:
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(model))
        self._fold = read_fold(fold.read_text("utf-8"))
        self._left_out = {0, self._pieces.piece_to_id("\u2581")}

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self._pieces)

    def names(self) -> list[str]:
        """Return every piece."""
        return [self._pieces.id_to_piece(at) for at in range(len(self))]

    def cut(self, texts: list[str]) -> list[list[int]]:
        """Return the numbers of the pieces of texts."""
        global _normalize  # noqa: PLW0603 - inherited by the workers
        _normalize = Normalizer(self._fold)
        threads = os.cpu_count() or 1
        parts = [texts[at : at + 10_000] for at in range(0, len(texts), 10_000)]
        with get_context("fork").Pool(threads) as pool:
            normalized = [text for part in pool.imap(_normalized, parts) for text in part]
        found = self._pieces.encode(normalized, num_threads=threads)
        return [[at for at in ids if at not in self._left_out] for ids in found]


def rows(found: list[list[int]], most: int = MAX_PIECES) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first pieces of each text as a row, and how many there are."""
    lengths = np.array([min(len(ids), most) for ids in found], np.int64)
    table = np.zeros((len(found), most), np.uint16)
    for row, ids in zip(table, found, strict=True):
        row[: min(len(ids), most)] = ids[:most]
    return torch.from_numpy(table.astype(np.int32)).to(DEVICE), torch.from_numpy(lengths).to(DEVICE)


@dataclass
class Corpus:
    """Every text once, and the pairs of each group."""

    texts: list[str]
    languages: np.ndarray
    pairs: dict[str, torch.Tensor]

    @classmethod
    def read(cls, folder: Path, share: float = 1.0) -> Corpus:
        """Read the chosen texts, or a share of the pairs with their texts only."""
        languages, texts = [], []
        with lzma.open(folder / "texts.tsv.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                language, _, text = line.rstrip("\n").partition("\t")
                languages.append(language)
                texts.append(text)
        groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
        with lzma.open(folder / "pairs.tsv.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                name, a, b = line.rstrip("\n").split("\t")
                groups[name].append((int(a), int(b)))
        pairs = {name: np.array(found) for name, found in sorted(groups.items())}
        if share < 1:
            return cls._part(texts, np.array(languages), pairs, share)
        return cls(
            texts,
            np.array(languages),
            {n: torch.from_numpy(p).to(DEVICE) for n, p in pairs.items()},
        )

    @classmethod
    def _part(
        cls, texts: list[str], languages: np.ndarray, pairs: dict[str, np.ndarray], share: float
    ) -> Corpus:
        chosen = {name: found[:: max(1, round(1 / share))] for name, found in pairs.items()}
        kept = np.unique(np.concatenate([found.ravel() for found in chosen.values()]))
        numbers = {int(old): new for new, old in enumerate(kept)}
        again = {
            name: torch.tensor([[numbers[a], numbers[b]] for a, b in found.tolist()], device=DEVICE)
            for name, found in chosen.items()
        }
        return cls([texts[at] for at in kept], languages[kept], again)

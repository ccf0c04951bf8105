"""One step of training: the texts of a batch and the loss of their vectors."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from train import losses
from train.losses import contrast, distance, divergence, itself, shares, unit
from train.teachers import DEVICE

if TYPE_CHECKING:
    from collections.abc import Callable

    from train.corpus import Corpus
    from train.targets import Targets

DIMS = (256, 128)
"""Vectors shall be good at each of these lengths."""
TRANSLATIONS = {"everyday": 5.0, "documents": 3.0, "words": 1.5}
LEAST_LIKE = {"everyday": 0.3, "documents": 0.35, "words": 0.15, "paraphrase": 0.4}
"""Least cosine by the multilingual teacher of a pair that is used."""
PAIRS = {
    "question-answer": 3.0,
    "title-body": 2.0,
    "paraphrase": 1.5,
    "code-doc": 1.5,
    "reply": 0.7,
}
"""How often pairs of a kind are drawn, in each language."""
ALIKE = 0.82
"""Cosine by the multilingual teacher from which a text is no wrong answer."""
SAME = 0.9
"""The same by the English teachers, for translations."""


@dataclass(frozen=True)
class Sizes:
    """Texts or pairs of each part of a batch."""

    english: int = 3072
    translations: int = 1024
    mixed: int = 2048
    chinese: int = 1024
    pairs: int = 1024

    def scaled(self, share: float) -> Sizes:
        """Return smaller ones."""
        return Sizes(*(max(32, round(size * share)) for size in vars(self).values()))


@dataclass(frozen=True)
class Weights:
    """Weights of the losses."""

    near: float = 3.0
    alike: float = 1.0
    translated: float = 1.0
    use: float = 1.0
    chinese: float = 1.0
    contrast: float = 0.3


@dataclass
class Lesson:
    """Draws batches and weighs their losses."""

    corpus: Corpus
    targets: Targets
    sizes: Sizes
    weights: Weights
    rng: np.random.Generator
    sums: dict[str, torch.Tensor] = field(
        default_factory=lambda: defaultdict(lambda: torch.zeros((), device=DEVICE))
    )

    def __post_init__(self) -> None:
        translations, pairs = {}, {}
        for name, every in self.corpus.pairs.items():
            kind = name.split(":")[0]
            found = every[self._likeness(every) >= LEAST_LIKE.get(kind, -1.0)]
            if kind in TRANSLATIONS:
                found = found[self.targets.english.row[found[:, 0]] >= 0]
            if len(found) >= min(500, self.sizes.pairs):
                (translations if kind in TRANSLATIONS else pairs)[name] = found
        self._translations, self._of_translations = translations, _drawn(translations, TRANSLATIONS)
        self._pairs, self._of_pairs = pairs, _drawn(pairs, PAIRS)
        self._translated = torch.cat(list(translations.values()))
        self._is_english = torch.from_numpy(np.isin(self.corpus.languages, ("en", "code"))).to(
            DEVICE
        )

    def counts(self) -> dict[str, int]:
        """Return the number of pairs of each group."""
        return {name: len(found) for name, found in (self._translations | self._pairs).items()}

    def step(
        self, encode: Callable[[torch.Tensor], torch.Tensor], *, is_hard: bool
    ) -> torch.Tensor:
        """Return the loss of one batch; a hard one has many near texts."""
        targets, sizes = self.targets, self.sizes
        english = (
            targets.english.draw(sizes.english, max(1, sizes.english // 96))
            if is_hard
            else _some(targets.english.numbers, sizes.english)
        )
        two = [
            self._group(self._translations, self._of_translations, sizes.translations)
            for _ in range(2)
        ]
        pairs = self._group(self._pairs, self._of_pairs, sizes.pairs)
        mixed = (
            targets.every.draw(sizes.mixed, max(1, sizes.mixed // 64)) if is_hard else self._mixed()
        )
        chinese = (
            targets.chinese.draw(sizes.chinese, max(1, sizes.chinese // 64))
            if is_hard
            else _some(targets.chinese.numbers, sizes.chinese)
        )
        translated = torch.cat(two)
        parts = [targets.english.numbers[english], translated[:, 0], translated[:, 1]]
        parts += [mixed, targets.chinese.numbers[chinese], pairs[:, 0], pairs[:, 1]]
        vectors = encode(torch.cat(parts)).float().split([len(part) for part in parts])
        loss = self._english(vectors[0], english) + self._translations_of(
            vectors[1], vectors[2], translated
        )
        loss = loss + self._mixed_languages(vectors[3], mixed) + self._chinese(vectors[4], chinese)
        return loss + self._pairs_of(vectors[5], vectors[6], pairs)

    def _english(self, found: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        own = itself(len(rows), DEVICE)
        wanted = shares(self.targets.english.vectors[rows], losses.TEMPERATURE, own)
        space = self.targets.space[rows].float()
        loss = torch.zeros((), device=DEVICE)
        for dim in DIMS:
            vectors = unit(found, dim)
            loss = loss + self.weights.near * self._add("near", distance(vectors, unit(space, dim)))
            loss = loss + self.weights.alike * self._add(
                "alike", divergence(vectors @ vectors.T, wanted, own)
            )
        return loss / len(DIMS)

    def _translations_of(
        self, english: torch.Tensor, other: torch.Tensor, pairs: torch.Tensor
    ) -> torch.Tensor:
        rows = self.targets.english.row[pairs[:, 0]]
        own = itself(len(rows), DEVICE)
        taught = self.targets.english.vectors[rows]
        likeness = (taught @ taught.T).float()
        across = torch.softmax(likeness / losses.TEMPERATURE, 1)
        within = torch.softmax((likeness / losses.TEMPERATURE).masked_fill(own, losses.NEVER), 1)
        space = self.targets.space[rows].float()
        loss = torch.zeros((), device=DEVICE)
        for dim in DIMS:
            a, b, wanted = unit(english, dim), unit(other, dim), unit(space, dim)
            near = self._add("translation near", distance(b, wanted)) + 0.5 * distance(a, wanted)
            loss = loss + self.weights.near * near
            alike = (
                divergence(b @ a.T, across)
                + divergence(a @ b.T, across)
                + divergence(b @ b.T, within, own)
            )
            loss = loss + self.weights.translated * 0.5 * self._add("translation alike", alike)
            loss = loss + self.weights.contrast * self._add(
                "translation found", contrast(a, b, (likeness > SAME) & ~own)
            )
        return loss / len(DIMS)

    def _mixed_languages(self, found: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        # English among English has better teachers.
        english = self._is_english[numbers]
        left_out = (english[:, None] & english[None]) | itself(len(numbers), DEVICE)
        wanted = shares(self.targets.every.vectors[numbers], 0.06, left_out)
        return self.weights.use * self._like("use", found, wanted, left_out)

    def _chinese(self, found: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        own = itself(len(rows), DEVICE)
        wanted = shares(self.targets.chinese.vectors[rows], losses.TEMPERATURE, own)
        return self.weights.chinese * self._like("chinese", found, wanted, own)

    def _like(
        self, name: str, found: torch.Tensor, wanted: torch.Tensor, left_out: torch.Tensor
    ) -> torch.Tensor:
        loss = torch.zeros((), device=DEVICE)
        for dim in DIMS:
            vectors = unit(found, dim)
            loss = loss + self._add(name, divergence(vectors @ vectors.T, wanted, left_out))
        return loss / len(DIMS)

    def _pairs_of(self, a: torch.Tensor, b: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        left, right = (self.targets.every.vectors[pairs[:, side]] for side in (0, 1))
        alike = (
            ((left @ right.T) > ALIKE)
            | (pairs[:, 0][:, None] == pairs[:, 0])
            | (pairs[:, 1][:, None] == pairs[:, 1])
        )
        alike = alike & ~itself(len(pairs), DEVICE)
        loss = torch.zeros((), device=DEVICE)
        for dim in DIMS:
            loss = loss + self._add("pairs", contrast(unit(a, dim), unit(b, dim), alike))
        return self.weights.contrast * loss / len(DIMS)

    def _mixed(self) -> torch.Tensor:
        pairs = self._translated[
            torch.randint(len(self._translated), (self.sizes.mixed // 4,), device=DEVICE)
        ]
        return torch.unique(
            torch.cat([pairs.ravel(), _some(self.targets.every.numbers, self.sizes.mixed // 2)])
        )

    def _group(
        self, groups: dict[str, torch.Tensor], chances: np.ndarray, count: int
    ) -> torch.Tensor:
        pairs = groups[list(groups)[self.rng.choice(len(groups), p=chances)]]
        return pairs[torch.randint(len(pairs), (min(count, len(pairs)),), device=DEVICE)]

    def _likeness(self, pairs: torch.Tensor) -> torch.Tensor:
        vectors = self.targets.every.vectors
        return torch.cat(
            [
                (vectors[part[:, 0]].float() * vectors[part[:, 1]].float()).sum(1)
                for part in pairs.split(100_000)
            ]
        )

    def _add(self, name: str, loss: torch.Tensor) -> torch.Tensor:
        self.sums[name] = self.sums[name] + loss.detach() / len(DIMS)
        return loss


def _some(numbers: torch.Tensor, count: int) -> torch.Tensor:
    return torch.unique(torch.randint(len(numbers), (count,), device=DEVICE))


def _drawn(groups: dict[str, torch.Tensor], weights: dict[str, float]) -> np.ndarray:
    chances = np.array([weights[name.split(":")[0]] for name in groups])
    return chances / chances.sum()

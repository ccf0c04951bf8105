"""Targets: what the teachers together say of each text.

English and code are taught by three models together, Chinese by two, and every language by the multilingual one. The
student's space is that of the English teachers, turned so that its first dimensions hold most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from train.teachers import DEVICE, HALF, Bert, Use

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from train.corpus import Corpus

DIM = 256
ENGLISH = {"minilm": 1.0, "bge-en": 1.0, "use": 0.5}
CHINESE = {"bge-zh": 2.0, "use": 1.0}
"""The weights of the teachers' similarities."""
PART = 50_000


@dataclass
class Taught:
    """Texts that a group of teachers knows, and their vectors."""

    numbers: torch.Tensor
    """Of the texts in the corpus."""
    row: torch.Tensor
    """Of each text of the corpus here, or -1."""
    vectors: torch.Tensor
    draw: Callable[[int, int], torch.Tensor]
    """Draws so many rows from so many clusters of near texts."""


@dataclass
class Targets:
    """The vectors of all teachers."""

    every: Taught
    """The multilingual teacher's."""
    english: Taught
    chinese: Taught
    space: torch.Tensor
    """The English teachers' vectors in the student's space, by row of `english`."""
    into_space: torch.Tensor
    """From the multilingual teacher's space into the student's."""
    use: Use


def load(folder: Path) -> dict[str, Bert | Use]:
    """Load the teachers from a folder with a folder for each."""

    def bert(name: str, heads: int, *, takes_first: bool) -> Bert:
        (model,), (tokenizer,) = (
            sorted((folder / name).glob(end)) for end in ("*.onnx", "*tokenizer.json")
        )
        return Bert(model, tokenizer, heads, takes_first=takes_first)

    return {
        "minilm": bert("minilm", 12, takes_first=False),
        "bge-en": bert("bge-en", 12, takes_first=True),
        "bge-zh": bert("bge-zh", 8, takes_first=True),
        "use": Use(folder / "use" / "weights.npz", folder / "use" / "sp.model"),
    }


def teach(
    corpus: Corpus, teachers: dict[str, Bert | Use], say: Callable[..., None], cache: Path | None
) -> Targets:
    """Return the targets of a corpus; the teachers' vectors are kept in a file, if there is a cache."""
    known = {
        "use": np.arange(len(corpus.texts)),
        "english": np.flatnonzero(np.isin(corpus.languages, ("en", "code"))),
        "chinese": np.flatnonzero(corpus.languages == "zh"),
    }
    kept = torch.load(cache, map_location=DEVICE) if cache and cache.exists() else {}
    whole = kept["use"] if kept else teachers["use"].encode(corpus.texts)
    say("taught", "use", len(whole))

    def joined(name: str, weights: dict[str, float]) -> torch.Tensor:
        numbers = known[name]
        texts = [corpus.texts[at] for at in numbers]
        parts = []
        for teacher, weight in weights.items():
            vectors = (
                whole[torch.from_numpy(numbers).to(DEVICE)]
                if teacher == "use"
                else teachers[teacher].encode(texts)
            )
            if teacher.startswith("bge"):
                # Their vectors share one large direction that says nothing.
                vectors = _unit(
                    vectors, vectors[:: max(1, len(vectors) // 200_000)].float().mean(0)
                )
            parts.append(vectors * weight**0.5)
            say("taught", name, teacher, len(vectors))
        return (torch.cat(parts, 1) / sum(weights.values()) ** 0.5).to(HALF)

    english = kept["english"] if kept else joined("english", ENGLISH)
    chinese = kept["chinese"] if kept else joined("chinese", CHINESE)
    if cache and not kept:
        torch.save({"use": whole, "english": english, "chinese": chinese}, cache)
    space, share = _turned(english)
    say(f"the student's space keeps {share:.3f} of the English teachers'")
    numbers = torch.from_numpy(known["english"]).to(DEVICE)
    return Targets(
        every=_taught(known["use"], whole, len(corpus.texts), 1_500),
        english=_taught(known["english"], english, len(corpus.texts), 1_000),
        chinese=_taught(known["chinese"], chinese, len(corpus.texts), 500),
        space=space,
        into_space=_map(whole[numbers], space),
        use=teachers["use"],
    )


def _unit(vectors: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    return torch.cat(
        [F.normalize(part.float() - mean, dim=1).to(HALF) for part in vectors.split(PART)]
    )


def _turned(vectors: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Return vectors in the space of their largest directions, and the share of their length that is kept."""
    square = torch.zeros(vectors.shape[1], vectors.shape[1], device=DEVICE, dtype=torch.float64)
    for part in vectors.split(PART):
        square += (part.float().T @ part.float()).double()
    values, directions = torch.linalg.eigh(square)
    basis = directions.flip(1)[:, :DIM].float()
    found = torch.cat([(part.float() @ basis).to(HALF) for part in vectors.split(PART)])
    return found, float(values.flip(0)[:DIM].sum() / values.sum())


def _map(given: torch.Tensor, wanted: torch.Tensor, ridge: float = 1.0) -> torch.Tensor:
    """Return the linear map between two spaces with the least squares."""
    left = torch.zeros(given.shape[1], given.shape[1], device=DEVICE)
    right = torch.zeros(given.shape[1], wanted.shape[1], device=DEVICE)
    for a, b in zip(given.split(PART), wanted.split(PART), strict=True):
        left += a.float().T @ a.float()
        right += a.float().T @ b.float()
    return torch.linalg.solve(left + ridge * torch.eye(len(left), device=DEVICE), right)


def _taught(numbers: np.ndarray, vectors: torch.Tensor, texts: int, clusters: int) -> Taught:
    row = torch.full((texts,), -1, device=DEVICE)
    row[torch.from_numpy(numbers).to(DEVICE)] = torch.arange(len(numbers), device=DEVICE)
    return Taught(torch.from_numpy(numbers).to(DEVICE), row, vectors, _clusters(vectors, clusters))


def _clusters(vectors: torch.Tensor, count: int) -> Callable[[int, int], torch.Tensor]:
    """Return a function that draws rows from a few clusters, so that near texts meet."""
    count = max(1, min(count, len(vectors) // 100))
    centers = vectors[torch.randperm(len(vectors), device=DEVICE)[:count]].float()
    for _ in range(3):
        nearest = torch.cat([(part.float() @ centers.T).argmax(1) for part in vectors.split(PART)])
        sums = torch.zeros_like(centers)
        for part, near in zip(vectors.split(PART), nearest.split(PART), strict=True):
            sums.index_add_(0, near, part.float())
        centers = F.normalize(sums, dim=1)
    order = torch.argsort(nearest)
    sizes = torch.bincount(nearest, minlength=count)
    first = torch.cumsum(sizes, 0) - sizes
    large = torch.where(sizes >= min(20, int(sizes.max())))[0]

    def draw(rows: int, groups: int) -> torch.Tensor:
        chosen = large[torch.randint(len(large), (groups,), device=DEVICE)].repeat_interleave(
            rows // groups
        )
        at = first[chosen] + (torch.rand(len(chosen), device=DEVICE) * sizes[chosen]).long()
        return torch.unique(order[at])

    return draw

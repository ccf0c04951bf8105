"""Losses: nearness to the teachers' vectors, to their similarities, and of the two sides of pairs."""

from __future__ import annotations

import torch
import torch.nn.functional as F

TEMPERATURE = 0.05
NEVER = -1e4


def unit(vectors: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the first dimensions at length one."""
    return F.normalize(vectors[:, :dim], dim=1, eps=1e-6)


def distance(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return one less the mean cosine."""
    return 1 - (found * wanted).sum(1).mean()


def shares(
    vectors: torch.Tensor, temperature: float, left_out: torch.Tensor | None
) -> torch.Tensor:
    """Return how a teacher shares each text's similarity among the others of a batch."""
    likeness = (vectors @ vectors.T).float() / temperature
    if left_out is not None:
        likeness = likeness.masked_fill(left_out, NEVER)
    return torch.softmax(likeness, 1)


def divergence(
    likeness: torch.Tensor, wanted: torch.Tensor, left_out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return how far the student's shares are from the teacher's."""
    likeness = likeness.float() / TEMPERATURE
    if left_out is not None:
        likeness = likeness.masked_fill(left_out, NEVER)
    return F.kl_div(torch.log_softmax(likeness, 1), wanted, reduction="batchmean")


def contrast(a: torch.Tensor, b: torch.Tensor, alike: torch.Tensor) -> torch.Tensor:
    """Return how badly each side of a pair finds the other; what is `alike` to a side is no wrong answer."""
    likeness = (a @ b.T / TEMPERATURE).masked_fill(alike, NEVER)
    numbers = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(likeness, numbers) + F.cross_entropy(likeness.T, numbers)) / 2


def itself(count: int, device: torch.device) -> torch.Tensor:
    """Return a mask of each text with itself."""
    return torch.eye(count, dtype=torch.bool, device=device)

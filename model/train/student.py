"""The encoder that is trained: piece vectors, a few transformer layers, a weighed sum.

The layers' last products start at zero and the weights of the sum at one, so that an untrained body is exactly the sum
of the piece vectors.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

MAX_PIECES = 96
"""Pieces that attend to each other; a longer text is cut into parts whose sums are added."""
BASE = 1_000.0


class Layer(nn.Module):
    """Attention and a feed-forward network, each behind a norm and added to its input."""

    def __init__(self, dim: int, heads: int, wide: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_feed = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention, self.attended = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.feed, self.fed = nn.Linear(dim, wide), nn.Linear(wide, dim)
        for part in (self.attention, self.feed):
            nn.init.normal_(part.weight, std=0.05)
            nn.init.zeros_(part.bias)
        for part in (self.attended, self.fed):
            nn.init.zeros_(part.weight)
            nn.init.zeros_(part.bias)

    def forward(
        self, values: torch.Tensor, mask: torch.Tensor, turns: torch.Tensor
    ) -> torch.Tensor:
        """Return the values of each piece after the layer."""
        count, longest, dim = values.shape
        parts = self.attention(self.before_attention(values))
        query, key, value = parts.view(count, longest, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(
            _turned(query, turns), _turned(key, turns), value, attn_mask=mask.to(value.dtype)
        )
        values = values + self.attended(seen.transpose(1, 2).reshape(count, longest, dim))
        return values + self.fed(F.relu(self.feed(self.before_feed(values))))


class Student(nn.Module):
    """A table of pieces under a few layers."""

    def __init__(
        self, pieces: int, dim: int = 256, layers: int = 2, heads: int = 4, wide: int = 1024
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(pieces, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, wide) for _ in range(layers))
        self.gate_norm, self.gate = nn.LayerNorm(dim), nn.Linear(dim, 1)
        self.heads = heads
        nn.init.zeros_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def forward(
        self, ids: torch.Tensor, lengths: torch.Tensor, *, is_static: bool = False
    ) -> torch.Tensor:
        """Return the sums of texts, not yet of length one; a static one leaves out the layers."""
        counts = torch.arange(ids.shape[1], device=ids.device)[None] < lengths[:, None]
        values = self.table(ids) * counts[..., None]
        if is_static:
            return values.sum(1)
        mask = torch.zeros(len(ids), 1, 1, ids.shape[1], device=ids.device)
        mask = mask.masked_fill(~counts[:, None, None], -1e4).expand(
            -1, self.heads, ids.shape[1], -1
        )
        turns = rotations(ids.shape[1], values.shape[-1] // self.heads, ids.device)
        for layer in self.layers:
            values = layer(values, mask, turns)
        weights = 2 * torch.sigmoid(self.gate(self.gate_norm(values)).float()) * counts[..., None]
        return (values.float() * weights).sum(1)


def rotations(longest: int, width: int, device: torch.device) -> torch.Tensor:
    """Return the cosines and sines that turn queries and keys by their positions."""
    speeds = BASE ** (-torch.arange(0, width, 2, device=device).float() / width)
    angles = torch.arange(longest, device=device).float()[:, None] * speeds[None]
    return torch.stack([torch.cos(angles), torch.sin(angles)])


def _turned(values: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    cosines, sines = turns.to(values.dtype)
    first, second = values.chunk(2, -1)
    return torch.cat([first * cosines - second * sines, first * sines + second * cosines], -1)


def in_buckets(
    student: Student, ids: torch.Tensor, lengths: torch.Tensor, *, is_static: bool = False
) -> torch.Tensor:
    """Run texts in groups of like length, so that little is padded."""
    order = torch.argsort(lengths)
    parts = order.tensor_split(max(1, min(8, len(order) // 64)))
    longest = torch.stack([lengths[part[-1]] for part in parts]).tolist()
    found = [
        student(ids[part, : max(8, -(-most // 8) * 8)].long(), lengths[part], is_static=is_static)
        for part, most in zip(parts, longest, strict=True)
    ]
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return torch.cat(found)[back]

"""Files of encoders, written and run by numpy: what the core is compared with."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NAMES = {"int8": "I8", "float32": "F32", "uint8": "U8"}
BASE = 1000.0


def write(path: Path, header: Mapping[str, str], tensors: Mapping[str, NDArray[Any]]) -> Path:
    """Write tensors as a safetensors file."""
    entries: dict[str, Any] = {"__metadata__": dict(header)}
    parts = [np.ascontiguousarray(each).tobytes() for each in tensors.values()]
    at = 0
    for (name, each), part in zip(tensors.items(), parts, strict=True):
        entries[name] = {
            "dtype": NAMES[str(each.dtype)],
            "shape": list(each.shape),
            "data_offsets": [at, at + len(part)],
        }
        at += len(part)
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    return path


def read(path: Path) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    """Return the header and the tensors of a file."""
    bytes_ = path.read_bytes()
    (size,) = struct.unpack("<Q", bytes_[:8])
    entries = json.loads(bytes_[8 : 8 + size])
    header = entries.pop("__metadata__")
    types = {name: np.dtype(kind) for kind, name in NAMES.items()}
    body = bytes_[8 + size :]
    return header, {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(
            entry["shape"]
        )
        for name, entry in entries.items()
    }


@dataclass(frozen=True)
class Reference:
    """The forward pass in single precision, with the weights of a file."""

    header: Mapping[str, str]
    tensors: Mapping[str, NDArray[Any]]
    is_rounded: bool = True
    """True if what is multiplied with weights is rounded to 8 bits, as in the core."""

    def embed(self, ids: Sequence[int]) -> Floats:
        """Return the vector of some pieces."""
        most = int(self.header["max_pieces"])
        parts = max(1, -(-len(ids) // most))
        size = -(-len(ids) // parts)
        total = sum(
            (self._sum(ids[at : at + size]) for at in range(0, len(ids), size)),
            np.zeros(self.tensors["table"].shape[1], np.float32),
        )
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def _sum(self, ids: Sequence[int]) -> Floats:
        x = self._matrix("table", "table.scale")[list(ids)]
        for number in range(int(self.header["layers"])):
            x = self._layer(f"layers.{number}.", x)
        gate = self._norm("gate.norm", x) @ self.tensors["gate.weight"] + self.tensors["gate.bias"]
        return np.asarray((x * (2 / (1 + np.exp(-gate)))[:, None]).sum(0), np.float32)

    def _layer(self, name: str, x: Floats) -> Floats:
        heads, (length, dim) = int(self.header["heads"]), x.shape
        all_ = self._linear(name + "attention", self._norm(name + "before_attention", x))
        q, k, v = all_.reshape(length, 3, heads, dim // heads).transpose(1, 2, 0, 3)
        scores = _turned(q) @ _turned(k).transpose(0, 2, 1) / np.sqrt(dim // heads)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ v).transpose(1, 0, 2).reshape(length, dim)
        x = x + self._linear(name + "attended", mixed)
        wide = np.maximum(self._linear(name + "feed", self._norm(name + "before_feed", x)), 0)
        return np.asarray(x + self._linear(name + "fed", wide), np.float32)

    def _linear(self, name: str, x: Floats) -> Floats:
        weight = self._matrix(name + ".weight", name + ".scale")
        if self.is_rounded:
            scale = np.abs(x).max(-1, keepdims=True) / 127
            x = np.round(x / np.where(scale > 0, scale, 1)) * scale
        return np.asarray(x @ weight.T + self.tensors[name + ".bias"], np.float32)

    def _norm(self, name: str, x: Floats) -> Floats:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
        return np.asarray(x * self.tensors[name + ".weight"] + self.tensors[name + ".bias"])

    def _matrix(self, values: str, scale: str) -> Floats:
        return np.asarray(self.tensors[values].astype(np.float32) * self.tensors[scale][:, None])


def _turned(x: Floats) -> Floats:
    """Turn queries or keys (head, place, value) by their places."""
    length, size = x.shape[1:]
    angles = np.arange(length)[:, None] / BASE ** (np.arange(0, size, 2) / size)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = np.split(x, 2, axis=-1)
    return np.asarray(np.concatenate([a * cos - b * sin, a * sin + b * cos], -1), np.float32)

"""The file of an encoder: 8-bit weights, pieces and folded characters, as the core reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save_file

from prepare.normalize import read_fold
from train.student import MAX_PIECES, Student

if TYPE_CHECKING:
    from pathlib import Path

MAX_CHARS = 1_000
"""Characters of a text that count, from the first."""
FULL_NORM = 1.6
"""Length of the sum of a text that says something: most questions have it, most small talk has not."""


def quantized(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 8-bit values and the scale of each."""
    scale = np.abs(values).max(1) / 127
    scale[scale == 0] = 1.0
    return np.round(values / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def write(
    student: Student, pieces: Path, fold: Path, path: Path, name: str, *, is_static: bool = False
) -> None:
    """Write a student, or its table alone, with the pieces and the folded characters it was trained with."""
    weights = {
        key: values.detach().float().cpu().numpy() for key, values in student.state_dict().items()
    }
    layers = 0 if is_static else len(student.layers)
    tensors: dict[str, np.ndarray] = {}
    tensors["table"], tensors["table.scale"] = quantized(weights["table.weight"])
    names, scores = zip(
        *(line.split("\t") for line in pieces.read_text("utf-8").splitlines()), strict=True
    )
    tensors["pieces"] = np.frombuffer("\n".join(names).encode(), np.uint8)
    tensors["scores"] = np.array(scores, np.float32)
    folded = "".join(one + other for one, other in read_fold(fold.read_text("utf-8")).items())
    tensors["fold"] = np.frombuffer(folded.encode(), np.uint8)
    for at in range(layers):
        for part in ("before_attention", "before_feed"):
            for kind in ("weight", "bias"):
                tensors[f"layers.{at}.{part}.{kind}"] = weights[f"layers.{at}.{part}.{kind}"]
        for part in ("attention", "attended", "feed", "fed"):
            key = f"layers.{at}.{part}"
            tensors[f"{key}.weight"], tensors[f"{key}.scale"] = quantized(weights[f"{key}.weight"])
            tensors[f"{key}.bias"] = weights[f"{key}.bias"]
    for kind in ("weight", "bias"):
        tensors[f"gate.norm.{kind}"] = weights[f"gate_norm.{kind}"]
        tensors[f"gate.{kind}"] = weights[f"gate.{kind}"].reshape(-1)
    if is_static:
        tensors["gate.weight"] = np.zeros_like(tensors["gate.weight"])
        tensors["gate.bias"] = np.zeros_like(tensors["gate.bias"])
    header = {
        "format": "memctx-encoder 1",
        "name": name,
        "layers": str(layers),
        "heads": str(student.heads),
    }
    header |= {"max_chars": str(MAX_CHARS), "max_pieces": str(MAX_PIECES)} | {
        "full_norm": str(FULL_NORM)
    }
    save_file(tensors, path, header)

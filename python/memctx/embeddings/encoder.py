"""`Encoder`: a model that is loaded, from texts to vectors of length 1."""

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

    from memctx.embeddings.folder import Folder

# A longer word is one unknown token anyway: what is further into a text than this cannot count.
LONGEST_TOKEN = 100
# The least length to divide by.
TINY = 1e-12
# Outputs by the names that exporters give them, the best first.
POOLED = "sentence_embedding"
HIDDEN = ("last_hidden_state", "token_embeddings")
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
# What is an error is raised; nothing need be written to the terminal too.
ONLY_FATAL = 4


class Encoder:
    """A session of ONNX Runtime and a tokenizer. It may be used by several threads."""

    def __init__(self, folder: Folder, model: str | bytes, threads: int) -> None:
        self._folder = folder
        self._tokenizer = _tokenizer(folder)
        self._session = _session(folder, model, threads)
        self._inputs = {each.name: each.type for each in self._session.get_inputs()}
        outputs = {each.name: each.shape for each in self._session.get_outputs()}
        self._output = next(name for name in (POOLED, *HIDDEN, *outputs) if name in outputs)
        width = outputs[self._output][-1]
        # Some exporters leave the last axis open too.
        self.dim: int = width if isinstance(width, int) else len(self.vectors([self.tokens("")])[0])
        _living.add(self)

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, as far as they count."""
        text = text[: self._folder.limit * LONGEST_TOKEN]
        text = text.lower() if self._folder.is_lowered else text
        try:
            ids: list[int] = self._tokenizer.encode(text).ids
        except TypeError:  # half a character, which no tokenizer takes for text
            ids = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        return ids

    def vectors(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """One vector for each row of tokens."""
        import numpy as np  # noqa: PLC0415 - whoever only asks for a name needs none

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
        except Exception as error:  # the runtime's own, which derive from nothing in common
            raise EmbeddingError(f"{self._folder.weights} cannot be run: {error}") from error
        vectors: NDArray[np.float32] = found if found.ndim == 2 else self._pooled(found, mask)  # noqa: PLR2004 - a matrix
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), TINY)
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"{self._folder.weights} gives what is no number")
        return vectors.astype(np.float32, copy=False)

    def _pooled(self, hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - as above

        if self._folder.pooling == "cls":
            return hidden[:, 0]
        if self._folder.pooling == "max":
            masked: NDArray[np.float32] = np.where(mask[:, :, None], hidden, -np.inf).max(axis=1)
            return masked
        counted = mask.astype(np.float32)[:, None, :]
        mean: NDArray[np.float32] = np.matmul(counted, hidden)[:, 0] / counted.sum(axis=2)
        return mean


_living: WeakSet[Encoder] = WeakSet()


def _keep() -> None:
    """In a child, never let go of the parent's sessions: that would wait for threads which only the parent has."""
    for encoder in _living:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(encoder))
    _living.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep)


def _tokenizer(folder: Folder) -> Any:  # noqa: ANN401 - of a package that may not be there
    tokenizers: Any = import_module("tokenizers")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
    except Exception as error:  # the package raises nothing narrower
        raise EmbeddingError(f"{folder.tokenizer} cannot be read: {error}") from error
    tokenizer.enable_truncation(folder.limit)
    tokenizer.no_padding()
    return tokenizer


def _runtime() -> Any:  # noqa: ANN401 - as above
    """ONNX Runtime, which is kept from telling its makers about models, unless the environment says it may.

    What it would tell is sent by a thread of its own, which also keeps children of a fork from coming to their end.
    """
    may_tell = os.environ.setdefault(NO_TELEMETRY, "1") == "0"  # read by it when it is imported
    runtime: Any = import_module("onnxruntime")
    if not may_tell:
        runtime.disable_telemetry_events()
    return runtime


def _session(folder: Folder, model: str | bytes, threads: int) -> Any:  # noqa: ANN401 - as above
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = ONLY_FATAL
    # Threads that wait for the next operator would otherwise keep a core busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if isinstance(model, bytes):
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(folder.weights.parent)
        )
    try:
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's own, which derive from nothing in common
        raise EmbeddingError(f"{folder.weights} cannot be loaded: {error}") from error

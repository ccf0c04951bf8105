"""`RemoteEmbedder`: a model behind an HTTP API, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from memctx.embeddings.cutting import TOKEN_BYTES, batches, cut
from memctx.embeddings.endpoint import RefusedError
from memctx.embeddings.vectors import matrix_of, vector_of
from memctx.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memctx.embeddings.cutting import Batch
    from memctx.embeddings.endpoint import Endpoint

# Goes up whenever the same text would get another vector from us: cut elsewhere, asked for otherwise.
FORMAT = 1
# Bytes below which no text is too long for any model.
ALWAYS_FITS = 256
PROBE = "dimension"


class RemoteEmbedder(ABC):
    """What the embedders of all APIs have in common: batches, cutting, checks, and the dimension.

    Vectors come back with length 1. A text longer than the model takes is cut; where the API still finds it too long,
    it is cut to a quarter until it fits.

    Args:
        model: The model that is asked.
        endpoint: Where it is asked.
        dimensions: How many numbers the API is told to send; the model's own number if None.
        dim: How many the user says it sends.
        known_dim: How many it sends otherwise, if that is known; if it is not, the first answer tells.
        tokens: How long a text may be.
        batch: How much goes into one request.
        timeout: Seconds for one request of `embed_many`.
        query_timeout: Seconds for the one request of `embed`.
        settings: What else changes vectors, for `revision`.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the API's or the user's
        self,
        model: str,
        endpoint: Endpoint,
        *,
        dimensions: int | None,
        dim: int | None,
        known_dim: int | None,
        tokens: int,
        batch: Batch,
        timeout: float,
        query_timeout: float,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        check_count("dimensions", dimensions)
        check_count("dim", dim)
        check_count("max_tokens", tokens)
        check_count("batch_size", batch.texts)
        for name, seconds in (("timeout", timeout), ("query_timeout", query_timeout)):
            if not seconds > 0:
                raise ConfigError(f"{name} must be a number of seconds above 0, not {seconds!r}")
        if dimensions is not None and dim not in {None, dimensions}:
            raise ConfigError(f"dim is {dim}, but dimensions asks for {dimensions}")
        self._model = model
        self._endpoint = endpoint
        self._dimensions = dimensions
        self._dim = dimensions or dim or known_dim
        self._size = tokens * TOKEN_BYTES
        self._batch = batch
        self._timeout = timeout
        self._query_timeout = query_timeout
        self._settings = dict(settings or {})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"  # and no key

    @property
    def name(self) -> str:
        """The model that is asked."""
        return self._model

    @property
    def revision(self) -> str:
        """What changes the vectors besides the model; where it is served does not."""
        dimensions = {} if self._dimensions is None else {"dimensions": str(self._dimensions)}
        told = {**dimensions, **self._settings}
        return " ".join([str(FORMAT), *(f"{name}={value!r}" for name, value in told.items())])

    @property
    def dim(self) -> int:
        """How many numbers a vector has; a model that nobody told this of is asked for a vector once."""
        return self._dim or len(self.embed(PROBE))

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a query. This is tried once only: whoever asks has no time."""
        rows = self._ask_query(self._cut(text))
        if len(rows) != 1:
            raise EmbeddingError(
                f"{self.name} gave {len(rows)} vectors for a query", can_retry=True
            )
        vector = vector_of(rows[0], self._dim, self.name)
        self._dim = len(vector)  # later ones must be as long
        return vector

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts that are stored, in their order."""
        import numpy as np  # noqa: PLC0415 - importing memctx must not import numpy

        if isinstance(texts, str):
            raise ConfigError("embed_many takes a list of texts, not a single one")
        if not texts:
            return np.empty((0, self.dim), np.float32)
        cut_texts = [self._cut(text) for text in texts]
        parts = [self._matrix(part) for part in batches(cut_texts, self._batch)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def warm(self) -> None:
        """Do in advance what the first query would have to wait for."""
        self._endpoint.warm()

    def close(self) -> None:
        """Close connections. Whatever is asked afterwards fails."""
        self._endpoint.close()

    @abstractmethod
    def _ask_query(self, text: str) -> list[object]:
        """What the API answers to a query: one vector."""

    @abstractmethod
    def _ask_texts(self, texts: Sequence[str]) -> list[object]:
        """What the API answers to texts, in their order."""

    def _post(self, path: str, body: Mapping[str, object], *, is_query: bool) -> dict[str, Any]:
        timeout = self._query_timeout if is_query else self._timeout
        return self._endpoint.post(path, body, timeout=timeout, can_retry=not is_query)

    def _matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        matrix = matrix_of(self._ask_fitting(texts), len(texts), self._dim, self.name)
        self._dim = matrix.shape[1]  # as above
        return matrix

    def _ask_fitting(self, texts: Sequence[str]) -> list[object]:
        """The answer to texts; a single one is cut until it is short enough."""
        while True:
            try:
                return self._ask_texts(texts)
            except RefusedError:
                size = len(texts[0].encode())
                if len(texts) > 1 or size <= ALWAYS_FITS:
                    raise
                texts = [cut(texts[0], size // 4)]

    def _cut(self, text: str) -> str:
        if not text.strip():
            raise EmbeddingError("a text that is empty has no vector")
        return cut(text, self._size)


def check_count(setting: str, value: int | None) -> None:
    """Complain about what cannot be a number of things."""
    if value is not None and value < 1:
        raise ConfigError(f"{setting} must be at least 1, not {value!r}")


def check_model(model: str) -> str:
    """Complain about what cannot be the name of a model."""
    if not model.strip():
        raise ConfigError(f"model must be the name of a model, not {model!r}")
    return model

"""`RemoteEmbedder`: base of the embedders behind an HTTP API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.embeddings.remote.endpoint import RejectedError
from memctx.embeddings.vectors import check_matrix, check_vector
from memctx.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memctx.embeddings.remote.endpoint import Endpoint

# Incremented whenever the same text gets another vector: truncated elsewhere, requested otherwise.
FORMAT = 1
# Bytes of UTF-8 in a token: English and code have more, Chinese has about as many.
TOKEN_BYTES = 3
# Bytes below which a text fits every model.
ALWAYS_FITS = 256
PROBE = "dimension"


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The size of one request."""

    texts: int
    chars: int


class RemoteEmbedder(ABC):
    """Batching, truncation, checks and the dimension, for the embedders of all APIs.

    Vectors are returned with length 1. A text longer than the model's limit is truncated; if the API still rejects
    it, it is cut to a quarter until it fits.

    Args:
        model: The model that is asked.
        endpoint: The connection.
        dimensions: The vector length that the API is asked for; the model's own if None.
        dim: The vector length that the user states.
        known_dim: The model's own vector length, if it is known; otherwise the first response tells.
        max_tokens: The longest text.
        batch: The limits of one request.
        settings: Further settings that change vectors, for `revision`.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the API's or the user's
        self,
        model: str,
        endpoint: Endpoint,
        *,
        dimensions: int | None,
        dim: int | None,
        known_dim: int | None,
        max_tokens: int,
        batch: BatchLimits,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        for name, value in (
            ("dimensions", dimensions),
            ("dim", dim),
            ("max_tokens", max_tokens),
            ("batch_size", batch.texts),
        ):
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, not {value!r}")
        if dimensions is not None and dim not in {None, dimensions}:
            raise ConfigError(f"dim is {dim}, but dimensions asks for {dimensions}")
        self._model = model
        self._endpoint = endpoint
        self._dimensions = dimensions
        self._dim = dimensions or dim or known_dim
        self._max_bytes = max_tokens * TOKEN_BYTES
        self._batch = batch
        self._settings = dict(settings or {})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"  # without the key

    @property
    def name(self) -> str:
        """The model that is asked."""
        return self._model

    @property
    def revision(self) -> str:
        """The settings besides the model that change vectors; the server does not."""
        dimensions = {} if self._dimensions is None else {"dimensions": str(self._dimensions)}
        settings = {**dimensions, **self._settings}
        return " ".join([str(FORMAT), *(f"{name}={value!r}" for name, value in settings.items())])

    @property
    def dim(self) -> int:
        """The length of the vectors; an unknown model is asked for one vector."""
        return self._dim or len(self.embed(PROBE))

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query. A failed request is not retried, since a turn waits for it."""
        rows = self._request_query(self._truncate(text))
        if len(rows) != 1:
            raise EmbeddingError(
                f"{self.name} returned {len(rows)} vectors for a query", is_retryable=True
            )
        vector = check_vector(rows[0], self._dim, self.name)
        self._dim = len(vector)  # the length of all later ones
        return vector

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of stored texts, in their order."""
        import numpy as np  # noqa: PLC0415 - importing memctx must not import numpy

        if isinstance(texts, str):
            raise ConfigError("embed_many takes a list of texts, not a single one")
        if not texts:
            return np.empty((0, self.dim), np.float32)
        truncated = [self._truncate(text) for text in texts]
        parts = [self._embed_batch(part) for part in split_batches(truncated, self._batch)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def warm(self) -> None:
        """Prepare the connection, so that the first query need not."""
        self._endpoint.warm()

    def close(self) -> None:
        """Close connections. Later requests fail."""
        self._endpoint.close()

    @abstractmethod
    def _request_query(self, text: str) -> list[object]:
        """Return the API's response to a query: one vector."""

    @abstractmethod
    def _request_texts(self, texts: Sequence[str]) -> list[object]:
        """Return the API's response to texts: their vectors, in their order."""

    def _post(self, path: str, body: Mapping[str, object], *, is_query: bool) -> dict[str, Any]:
        return self._endpoint.post(path, body, is_query=is_query)

    def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        matrix = check_matrix(self._request_fitting(texts), len(texts), self._dim, self.name)
        self._dim = matrix.shape[1]  # the length of all later ones
        return matrix

    def _request_fitting(self, texts: Sequence[str]) -> list[object]:
        """Request vectors; a single text that is rejected is shortened until it is accepted."""
        while True:
            try:
                return self._request_texts(texts)
            except RejectedError:
                size = len(texts[0].encode())
                if len(texts) > 1 or size <= ALWAYS_FITS:
                    raise
                texts = [truncate(texts[0], size // 4)]

    def _truncate(self, text: str) -> str:
        if not text.strip():
            raise EmbeddingError("an empty text has no vector")
        return truncate(text, self._max_bytes)


def truncate(text: str, size: int) -> str:
    """Return as much of a text as fits into ``size`` bytes of UTF-8, whole characters only.

    >>> truncate("支付回调", 7)
    '支付'
    """
    encoded = text.encode("utf-8", "replace")  # half of a surrogate pair cannot be sent
    return encoded[:size].decode("utf-8", "ignore")


def split_batches(texts: Sequence[str], limits: BatchLimits) -> Iterator[Sequence[str]]:
    """Yield the texts in batches within the limits; a text above the limit is a batch of its own.

    >>> list(split_batches(["one", "two", "three", "four"], BatchLimits(texts=2, chars=8)))
    [['one', 'two'], ['three'], ['four']]
    """
    start = chars = 0
    for end, text in enumerate(texts):
        if end > start and (end - start >= limits.texts or chars + len(text) > limits.chars):
            yield texts[start:end]
            start, chars = end, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]

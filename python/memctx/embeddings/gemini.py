"""`GeminiEmbedder`: vectors of Google's models."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from memctx.embeddings.cutting import Batch
from memctx.embeddings.endpoint import Endpoint
from memctx.embeddings.key import key_of
from memctx.embeddings.remote import RemoteEmbedder, check_model
from memctx.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

URL = "https://generativelanguage.googleapis.com/v1beta"
DIMS = {"gemini-embedding-001": 3072, "gemini-embedding-2": 3072}
TOKENS = 2_048
LONGER = {"gemini-embedding-2": 8_192}
CHARS = 100_000
# This one does not look at task types; it is told in words what a text is for.
TOLD_IN_WORDS = ("gemini-embedding-2",)


class GeminiEmbedder(RemoteEmbedder):
    """Vectors of a Gemini model, which is told what is a query and what is a text to be found.

    It goes through httpx2 (``pip install 'memctx[remote]'``).

    >>> GeminiEmbedder(dimensions=768, api_key="from-the-environment-otherwise").dim
    768

    Args:
        model: The model that is asked.
        dimensions: Ask for shorter vectors than the model's own.
        dim: How long vectors are, for models that memctx does not know; otherwise the first answer tells.
        api_key: By default ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``.
        base_url: Another address than Google's, with the version at the end.
        max_tokens: How long a text may be; by default as long as the model takes.
        batch_size: How many texts go into one request at most, 100 being the API's limit.
        timeout: Seconds for one request.
        query_timeout: Seconds for the request of a query. Who waits for it usually gives up long before.
        retries: How often a request for texts is repeated that failed for a reason that may pass. Where the server
            says when to come back, that is kept to. Queries are never repeated.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = "gemini-embedding-001",
        *,
        dimensions: int | None = None,
        dim: int | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        max_tokens: int | None = None,
        batch_size: int = 32,
        timeout: float = 60.0,
        query_timeout: float = 10.0,
        retries: int = 3,
    ) -> None:
        model = check_model(model.removeprefix("models/"))
        key = key_of(api_key, "GEMINI_API_KEY", "GOOGLE_API_KEY")
        super().__init__(
            model,
            # In a header: an address, with a key in it as the API allows too, would be logged.
            Endpoint(base_url or URL, model, {"x-goog-api-key": str(key)}, retries),
            dimensions=dimensions,
            dim=dim,
            known_dim=DIMS.get(model),
            tokens=LONGER.get(model, TOKENS) if max_tokens is None else max_tokens,
            batch=Batch(batch_size, CHARS),
            timeout=timeout,
            query_timeout=query_timeout,
        )
        self._path = f"/models/{quote(model, safe='')}"
        self._is_told_in_words = model.startswith(TOLD_IN_WORDS)

    def _ask_query(self, text: str) -> list[object]:
        document = self._post(
            f"{self._path}:embedContent", self._content(text, is_query=True), is_query=True
        )
        return [self._values(document.get("embedding"))]

    def _ask_texts(self, texts: Sequence[str]) -> list[object]:
        requests = [self._content(text, is_query=False) for text in texts]
        document = self._post(
            f"{self._path}:batchEmbedContents", {"requests": requests}, is_query=False
        )
        found: object = document.get("embeddings")
        items = cast("list[object]", found) if isinstance(found, list) else []
        return [self._values(item) for item in items]

    def _content(self, text: str, *, is_query: bool) -> dict[str, object]:
        """The request for one text; the API has them in their order."""
        told: dict[str, object] = {}
        if self._is_told_in_words:
            text = (
                f"task: search result | query: {text}"
                if is_query
                else f"title: none | text: {text}"
            )
        else:
            told["taskType"] = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        if self._dimensions is not None:
            told["outputDimensionality"] = self._dimensions
        return {
            "model": f"models/{self.name}",
            "content": {"parts": [{"text": text}]},
            **told,
        }

    def _values(self, item: object) -> object:
        """The numbers of an embedding."""
        values = cast("dict[str, object]", item).get("values") if isinstance(item, dict) else None
        if not isinstance(values, list):
            raise EmbeddingError(f"what {self.name} sent is no embedding", can_retry=True)
        return cast("list[object]", values)

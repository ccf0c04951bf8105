"""`VoyageEmbedder`: vectors of Voyage's models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.embeddings.cutting import Batch
from memctx.embeddings.endpoint import Endpoint
from memctx.embeddings.key import key_of
from memctx.embeddings.remote import RemoteEmbedder, check_model
from memctx.embeddings.rows import rows_in

if TYPE_CHECKING:
    from collections.abc import Sequence

URL = "https://api.voyageai.com/v1"
DIMS = {
    "voyage-4-large": 1024,
    "voyage-4": 1024,
    "voyage-4-lite": 1024,
    "voyage-3-large": 1024,
    "voyage-3.5": 1024,
    "voyage-3.5-lite": 1024,
    "voyage-3": 1024,
    "voyage-3-lite": 512,
    "voyage-code-3": 1024,
    "voyage-code-2": 1536,
    "voyage-finance-2": 1024,
    "voyage-law-2": 1024,
    "voyage-multilingual-2": 1024,
}
TOKENS = 32_000
SHORTER = {"voyage-law-2": 16_000, "voyage-code-2": 16_000}
# 120,000 tokens in one request of the model that takes the fewest.
CHARS = 120_000


class VoyageEmbedder(RemoteEmbedder):
    """Vectors of a model of Voyage, which is told what is a query and what is a text to be found.

    It goes through httpx2 (``pip install 'memctx[remote]'``).

    >>> VoyageEmbedder("voyage-4-lite", dimensions=512, api_key="from-the-environment-otherwise")
    VoyageEmbedder('voyage-4-lite')

    Args:
        model: The model that is asked.
        dimensions: Ask for vectors of another length than the model's own: 256, 512, 1024 or 2048, for most.
        dim: How long vectors are, for models that memctx does not know; otherwise the first answer tells.
        api_key: By default ``VOYAGE_API_KEY``.
        base_url: Another address than Voyage's.
        max_tokens: How long a text may be; by default as long as the model takes.
        batch_size: How many texts go into one request at most.
        timeout: Seconds for one request.
        query_timeout: Seconds for the request of a query. Who waits for it usually gives up long before.
        retries: How often a request for texts is repeated that failed for a reason that may pass. Where the server
            says when to come back, that is kept to. Queries are never repeated.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = "voyage-4",
        *,
        dimensions: int | None = None,
        dim: int | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        max_tokens: int | None = None,
        batch_size: int = 64,
        timeout: float = 60.0,
        query_timeout: float = 10.0,
        retries: int = 3,
    ) -> None:
        key = key_of(api_key, "VOYAGE_API_KEY")
        super().__init__(
            check_model(model),
            Endpoint(base_url or URL, model, {"authorization": f"Bearer {key}"}, retries),
            dimensions=dimensions,
            dim=dim,
            known_dim=DIMS.get(model),
            tokens=SHORTER.get(model, TOKENS) if max_tokens is None else max_tokens,
            batch=Batch(batch_size, CHARS),
            timeout=timeout,
            query_timeout=query_timeout,
        )

    def _ask_query(self, text: str) -> list[object]:
        return self._ask([text], is_query=True)

    def _ask_texts(self, texts: Sequence[str]) -> list[object]:
        return self._ask(list(texts), is_query=False)

    def _ask(self, texts: list[str], *, is_query: bool) -> list[object]:
        body: dict[str, object] = {
            "model": self.name,
            "input": texts,
            "input_type": "query" if is_query else "document",
            "truncation": True,
            "encoding_format": "base64",
        }
        if self._dimensions is not None:
            body["output_dimension"] = self._dimensions
        return rows_in(self._post("/embeddings", body, is_query=is_query), self.name)

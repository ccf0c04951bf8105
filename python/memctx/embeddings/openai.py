"""`OpenAIEmbedder`: vectors of any model that is served as OpenAI serves its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memctx.embeddings.cutting import Batch
from memctx.embeddings.endpoint import Endpoint
from memctx.embeddings.key import key_of
from memctx.embeddings.remote import RemoteEmbedder, check_model
from memctx.embeddings.rows import rows_in

if TYPE_CHECKING:
    from collections.abc import Sequence

URL = "https://api.openai.com/v1"
DIMS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
TOKENS = 8191
# 300,000 tokens in one request, and hardly a character is more than one.
CHARS = 300_000


class OpenAIEmbedder(RemoteEmbedder):
    """Vectors of a model of OpenAI, or of any server with such an API: Ollama, vLLM, llama.cpp and others.

    It goes through httpx2 (``pip install 'memctx[remote]'``). Vectors are asked for as base64, which is read in a
    fraction of the time; a server that sends numbers is understood too.

    >>> embedder = OpenAIEmbedder("nomic-embed-text", base_url="http://127.0.0.1:11434/v1", dim=768)
    >>> embedder.name, embedder.dim
    ('nomic-embed-text', 768)

    Args:
        model: The model that is asked.
        dimensions: Ask for shorter vectors, where the model can be asked for them.
        dim: How long vectors are, for models that memctx does not know; otherwise the first answer tells.
        api_key: By default ``OPENAI_API_KEY``. Another server than OpenAI's may need none.
        base_url: Another server than OpenAI's, with the ``/v1`` that most have at the end. By default
            ``OPENAI_BASE_URL``, if it is set.
        query_prefix: What the model wants before a query, such as ``search_query: ``.
        text_prefix: What the model wants before a text to be found, such as ``search_document: ``.
        max_tokens: How long a text may be; it is cut where it is about to be longer.
        batch_size: How many texts go into one request at most.
        timeout: Seconds for one request.
        query_timeout: Seconds for the request of a query. Who waits for it usually gives up long before.
        retries: How often a request for texts is repeated that failed for a reason that may pass. Where the server
            says when to come back, that is kept to. Queries are never repeated.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        dim: int | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        query_prefix: str = "",
        text_prefix: str = "",
        max_tokens: int = TOKENS,
        batch_size: int = 64,
        timeout: float = 60.0,
        query_timeout: float = 10.0,
        retries: int = 3,
    ) -> None:
        url = base_url or os.environ.get("OPENAI_BASE_URL") or URL
        key = key_of(api_key, "OPENAI_API_KEY", is_needed=url.startswith(URL))
        prefixes = {"query_prefix": query_prefix, "text_prefix": text_prefix}
        super().__init__(
            check_model(model),
            Endpoint(url, model, {"authorization": f"Bearer {key}"} if key else {}, retries),
            dimensions=dimensions,
            dim=dim,
            known_dim=DIMS.get(model),
            tokens=max_tokens,
            batch=Batch(batch_size, CHARS),
            timeout=timeout,
            query_timeout=query_timeout,
            settings={name: prefix for name, prefix in prefixes.items() if prefix},
        )
        self._query_prefix = query_prefix
        self._text_prefix = text_prefix

    def _ask_query(self, text: str) -> list[object]:
        return self._ask([self._query_prefix + text], is_query=True)

    def _ask_texts(self, texts: Sequence[str]) -> list[object]:
        return self._ask([self._text_prefix + text for text in texts], is_query=False)

    def _ask(self, texts: list[str], *, is_query: bool) -> list[object]:
        body: dict[str, object] = {
            "model": self.name,
            "input": texts,
            "encoding_format": "base64",
        }
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        return rows_in(self._post("/embeddings", body, is_query=is_query), self.name)

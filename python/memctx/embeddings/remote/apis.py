"""The embedding APIs: OpenAI and compatible servers, Voyage, and Gemini.

All of them use httpx2 (``pip install 'memctx[remote]'``).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from memctx.embeddings.remote.embedder import BatchLimits, RemoteEmbedder
from memctx.embeddings.remote.endpoint import Endpoint, find_key
from memctx.embeddings.vectors import parse_rows
from memctx.errors import EmbeddingError
from memctx.providers.options import ClientOptions, check_model_name

if TYPE_CHECKING:
    from collections.abc import Sequence

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_DIMS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
OPENAI_TOKENS = 8191
# A request may have 300,000 tokens, and few characters are more than one.
OPENAI_CHARS = 300_000

VOYAGE_URL = "https://api.voyageai.com/v1"
VOYAGE_DIMS = {
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
VOYAGE_TOKENS = 32_000
VOYAGE_SHORTER = {"voyage-law-2": 16_000, "voyage-code-2": 16_000}
# A request may have 120,000 tokens with the model that takes the fewest.
VOYAGE_CHARS = 120_000

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_DIMS = {"gemini-embedding-001": 3072, "gemini-embedding-2": 3072}
GEMINI_TOKENS = 2_048
GEMINI_LONGER = {"gemini-embedding-2": 8_192}
GEMINI_CHARS = 100_000
# Ignores task types; the purpose of a text is stated in its prompt instead.
GEMINI_PROMPTED = ("gemini-embedding-2",)


class OpenAIEmbedder(RemoteEmbedder):
    """Vectors of a model of OpenAI, or of any server of the same API: Ollama, vLLM, llama.cpp and others.

    Vectors are requested as base64, which parses in a fraction of the time; numbers are accepted too.

    >>> from memctx.embeddings import ClientOptions
    >>> local = ClientOptions(base_url="http://127.0.0.1:11434/v1")
    >>> embedder = OpenAIEmbedder("nomic-embed-text", options=local, dim=768)
    >>> embedder.name, embedder.dim
    ('nomic-embed-text', 768)

    Args:
        model: The model that is asked.
        options: Key (by default ``OPENAI_API_KEY``; servers other than OpenAI's may need none), address with the
            ``/v1`` that most have at the end (by default ``OPENAI_BASE_URL``, if it is set), timeouts (60 s, 10 s for
            queries) and retries (3; queries are never retried).
        dimensions: A shorter vector length to request, where the model offers it.
        dim: The vector length of a model that memctx does not know; otherwise the first response tells.
        query_prefix: The prefix that the model expects before a query, such as ``search_query: ``.
        text_prefix: The prefix that the model expects before a stored text, such as ``search_document: ``.
        max_tokens: The longest text; a longer one is truncated.
        batch_size: The most texts in one request.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = "text-embedding-3-small",
        *,
        options: ClientOptions | None = None,
        dimensions: int | None = None,
        dim: int | None = None,
        query_prefix: str = "",
        text_prefix: str = "",
        max_tokens: int = OPENAI_TOKENS,
        batch_size: int = 64,
    ) -> None:
        options = options or ClientOptions()
        check_model_name("model", model)
        url = options.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        key = find_key(options, "OPENAI_API_KEY", is_required=url.startswith(OPENAI_URL))
        prefixes = {"query_prefix": query_prefix, "text_prefix": text_prefix}
        super().__init__(
            model,
            Endpoint(url, model, {"authorization": f"Bearer {key}"} if key else {}, options),
            dimensions=dimensions,
            dim=dim,
            known_dim=OPENAI_DIMS.get(model),
            max_tokens=max_tokens,
            batch=BatchLimits(batch_size, OPENAI_CHARS),
            settings={name: prefix for name, prefix in prefixes.items() if prefix},
        )
        self._query_prefix = query_prefix
        self._text_prefix = text_prefix

    def _request_query(self, text: str) -> list[object]:
        return self._request([self._query_prefix + text], is_query=True)

    def _request_texts(self, texts: Sequence[str]) -> list[object]:
        return self._request([self._text_prefix + text for text in texts], is_query=False)

    def _request(self, texts: list[str], *, is_query: bool) -> list[object]:
        body: dict[str, object] = {
            "model": self.name,
            "input": texts,
            "encoding_format": "base64",
        }
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        return parse_rows(self._post("/embeddings", body, is_query=is_query), self.name)


class VoyageEmbedder(RemoteEmbedder):
    """Vectors of a Voyage model, with the input types of queries and documents.

    >>> from memctx.embeddings import ClientOptions
    >>> VoyageEmbedder("voyage-4-lite", options=ClientOptions(api_key="..."), dimensions=512)
    VoyageEmbedder('voyage-4-lite')

    Args:
        model: The model that is asked.
        options: Key (by default ``VOYAGE_API_KEY``), address, timeouts (60 s, 10 s for queries) and retries (3;
            queries are never retried).
        dimensions: A vector length other than the model's own: 256, 512, 1024 or 2048, for most.
        dim: The vector length of a model that memctx does not know; otherwise the first response tells.
        max_tokens: The longest text; by default the model's limit.
        batch_size: The most texts in one request.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = "voyage-4",
        *,
        options: ClientOptions | None = None,
        dimensions: int | None = None,
        dim: int | None = None,
        max_tokens: int | None = None,
        batch_size: int = 64,
    ) -> None:
        options = options or ClientOptions()
        check_model_name("model", model)
        key = find_key(options, "VOYAGE_API_KEY")
        headers = {"authorization": f"Bearer {key}"}
        limit = VOYAGE_SHORTER.get(model, VOYAGE_TOKENS)
        super().__init__(
            model,
            Endpoint(options.base_url or VOYAGE_URL, model, headers, options),
            dimensions=dimensions,
            dim=dim,
            known_dim=VOYAGE_DIMS.get(model),
            max_tokens=limit if max_tokens is None else max_tokens,
            batch=BatchLimits(batch_size, VOYAGE_CHARS),
        )

    def _request_query(self, text: str) -> list[object]:
        return self._request([text], is_query=True)

    def _request_texts(self, texts: Sequence[str]) -> list[object]:
        return self._request(list(texts), is_query=False)

    def _request(self, texts: list[str], *, is_query: bool) -> list[object]:
        body: dict[str, object] = {
            "model": self.name,
            "input": texts,
            "input_type": "query" if is_query else "document",
            "truncation": True,
            "encoding_format": "base64",
        }
        if self._dimensions is not None:
            body["output_dimension"] = self._dimensions
        return parse_rows(self._post("/embeddings", body, is_query=is_query), self.name)


class GeminiEmbedder(RemoteEmbedder):
    """Vectors of a Gemini model, with the task types of queries and documents.

    >>> from memctx.embeddings import ClientOptions
    >>> GeminiEmbedder(options=ClientOptions(api_key="..."), dimensions=768).dim
    768

    Args:
        model: The model that is asked.
        options: Key (by default ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``), address with the version at the end,
            timeouts (60 s, 10 s for queries) and retries (3; queries are never retried).
        dimensions: A shorter vector length than the model's own.
        dim: The vector length of a model that memctx does not know; otherwise the first response tells.
        max_tokens: The longest text; by default the model's limit.
        batch_size: The most texts in one request; the API allows 100.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = "gemini-embedding-001",
        *,
        options: ClientOptions | None = None,
        dimensions: int | None = None,
        dim: int | None = None,
        max_tokens: int | None = None,
        batch_size: int = 32,
    ) -> None:
        options = options or ClientOptions()
        model = model.removeprefix("models/")
        check_model_name("model", model)
        # In a header: an address with the key, which the API allows too, would be logged.
        headers = {"x-goog-api-key": str(find_key(options, "GEMINI_API_KEY", "GOOGLE_API_KEY"))}
        limit = GEMINI_LONGER.get(model, GEMINI_TOKENS)
        super().__init__(
            model,
            Endpoint(options.base_url or GEMINI_URL, model, headers, options),
            dimensions=dimensions,
            dim=dim,
            known_dim=GEMINI_DIMS.get(model),
            max_tokens=limit if max_tokens is None else max_tokens,
            batch=BatchLimits(batch_size, GEMINI_CHARS),
        )
        self._path = f"/models/{quote(model, safe='')}"
        self._is_prompted = model.startswith(GEMINI_PROMPTED)

    def _request_query(self, text: str) -> list[object]:
        body = self._content(text, is_query=True)
        document = self._post(f"{self._path}:embedContent", body, is_query=True)
        return [self._values(document.get("embedding"))]

    def _request_texts(self, texts: Sequence[str]) -> list[object]:
        body = {"requests": [self._content(text, is_query=False) for text in texts]}
        document = self._post(f"{self._path}:batchEmbedContents", body, is_query=False)
        found: object = document.get("embeddings")
        items = cast("list[object]", found) if isinstance(found, list) else []
        return [self._values(item) for item in items]

    def _content(self, text: str, *, is_query: bool) -> dict[str, object]:
        """Return the request for one text; the API keeps their order."""
        settings: dict[str, object] = {}
        if not self._is_prompted:
            settings["taskType"] = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        elif is_query:
            text = f"task: search result | query: {text}"
        else:
            text = f"title: none | text: {text}"
        if self._dimensions is not None:
            settings["outputDimensionality"] = self._dimensions
        return {
            "model": f"models/{self.name}",
            "content": {"parts": [{"text": text}]},
            **settings,
        }

    def _values(self, item: object) -> object:
        """Return the numbers of an embedding."""
        values = cast("dict[str, object]", item).get("values") if isinstance(item, dict) else None
        if not isinstance(values, list):
            raise EmbeddingError(f"{self.name} sent no embedding", is_retryable=True)
        return cast("list[object]", values)

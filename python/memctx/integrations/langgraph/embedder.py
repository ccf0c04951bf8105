"""`LangChainEmbedder`: an embedding of LangChain as memctx calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph.store.base import ensure_embeddings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from langgraph.store.base import IndexConfig

    from memctx.protocols import Matrix, Vector


class LangChainEmbedder:
    """The ``embed`` of a store's index: an object of LangChain, a function, synchronous or not, or a provider's name.

    Vectors are kept under its class and model: another model of the same name needs another directory.
    """

    revision = "1"

    def __init__(self, index: IndexConfig) -> None:
        embed = index["embed"]
        self._embeddings = ensure_embeddings(embed)
        self._is_async = hasattr(self._embeddings, "afunc")
        kind = embed if hasattr(embed, "__qualname__") else type(embed)
        model = getattr(embed, "model", None) or getattr(embed, "model_name", None) or ""
        named = f"{kind.__module__}.{kind.__qualname__}"
        self.name = embed if isinstance(embed, str) else f"langchain:{named}:{model}"
        self.dim = index.get("dims", 0)

    def embed(self, text: str) -> Vector | Awaitable[Vector]:
        """Return the vector of a query."""
        if self._is_async:
            return self._embeddings.aembed_query(text)
        return self._embeddings.embed_query(text)

    def embed_many(self, texts: Sequence[str]) -> Matrix | Awaitable[Matrix]:
        """Return the vectors of stored texts, in their order."""
        if self._is_async:
            return self._embeddings.aembed_documents(list(texts))
        return self._embeddings.embed_documents(list(texts))

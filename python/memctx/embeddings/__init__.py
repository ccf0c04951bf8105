"""Embedders: vectors of texts and queries.

>>> from memctx.embeddings import embedder_of
>>> embedder = embedder_of("hash")
>>> embedder.embed_many(["the webhook listens on 8443", "支付回调"]).shape
(2, 384)
"""

from memctx import checks
from memctx._lazy import lazy_exports
from memctx.config.embedder_names import register

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.embeddings.local.packaged import packaged_encoder
    from memctx.embeddings.local.tables import HashedEmbedder, static_embedder
    from memctx.embeddings.local.transformer import TransformerEmbedder
    from memctx.embeddings.remote.apis import GeminiEmbedder, OpenAIEmbedder, VoyageEmbedder
    from memctx.embeddings.resolution import Chosen, choose, embedder_of
    from memctx.embeddings.resolution import Resolution as Resolution
    from memctx.embeddings.resolution import read_metadata as read_metadata
    from memctx.embeddings.service import EmbeddingService as EmbeddingService
    from memctx.embeddings.service import wait_for_vectors as wait_for_vectors
    from memctx.embeddings.vectors import check_matrix as check_matrix
    from memctx.embeddings.vectors import check_vector as check_vector
    from memctx.embeddings.vectors import resolve_awaitable as resolve_awaitable
    from memctx.protocols import Embedder, Matrix, Vector
    from memctx.providers.options import ClientOptions

__all__ = [
    "Chosen",
    "ClientOptions",
    "Embedder",
    "GeminiEmbedder",
    "HashedEmbedder",
    "Matrix",
    "OpenAIEmbedder",
    "TransformerEmbedder",
    "Vector",
    "VoyageEmbedder",
    "choose",
    "embedder_of",
    "packaged_encoder",
    "register",
    "static_embedder",
]

# The module of each name, imported when the name is first used: settings need none of them.
_LATER = {
    "Chosen": "memctx.embeddings.resolution",
    "ClientOptions": "memctx.providers.options",
    "Embedder": "memctx.protocols",
    "EmbeddingService": "memctx.embeddings.service",
    "GeminiEmbedder": "memctx.embeddings.remote.apis",
    "HashedEmbedder": "memctx.embeddings.local.tables",
    "Matrix": "memctx.protocols",
    "OpenAIEmbedder": "memctx.embeddings.remote.apis",
    "Resolution": "memctx.embeddings.resolution",
    "TransformerEmbedder": "memctx.embeddings.local.transformer",
    "Vector": "memctx.protocols",
    "VoyageEmbedder": "memctx.embeddings.remote.apis",
    "check_matrix": "memctx.embeddings.vectors",
    "check_vector": "memctx.embeddings.vectors",
    "choose": "memctx.embeddings.resolution",
    "embedder_of": "memctx.embeddings.resolution",
    "packaged_encoder": "memctx.embeddings.local.packaged",
    "read_metadata": "memctx.embeddings.resolution",
    "resolve_awaitable": "memctx.embeddings.vectors",
    "static_embedder": "memctx.embeddings.local.tables",
    "wait_for_vectors": "memctx.embeddings.service",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


checks.guard(globals(), [name for name in __all__ if name in globals()])

"""Embedders: what turns texts and queries into vectors.

>>> embedder = embedder_of("hash")
>>> embedder.embed_many(["the webhook listens on 8443", "支付回调"]).shape
(2, 384)
"""

from memctx.embeddings.choice import Chosen, choose, embedder_of
from memctx.embeddings.hashed import HashedEmbedder
from memctx.embeddings.names import register
from memctx.embeddings.protocol import Embedder, Matrix, Vector
from memctx.embeddings.transformer import TransformerEmbedder

__all__ = [
    "Chosen",
    "Embedder",
    "HashedEmbedder",
    "Matrix",
    "TransformerEmbedder",
    "Vector",
    "choose",
    "embedder_of",
    "register",
]

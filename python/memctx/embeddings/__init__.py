"""Embedders: what turns texts and queries into vectors.

>>> embedder = embedder_of("hash")
>>> embedder.embed_many(["the webhook listens on 8443", "支付回调"]).shape
(2, 384)
"""

from memctx.embeddings.choice import Chosen, choose, embedder_of
from memctx.embeddings.gemini import GeminiEmbedder
from memctx.embeddings.hashed import HashedEmbedder
from memctx.embeddings.names import register
from memctx.embeddings.openai import OpenAIEmbedder
from memctx.embeddings.protocol import Embedder, Matrix, Vector
from memctx.embeddings.static import static_embedder
from memctx.embeddings.transformer import TransformerEmbedder
from memctx.embeddings.voyage import VoyageEmbedder

__all__ = [
    "Chosen",
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
    "register",
    "static_embedder",
]

"""Servers on this machine that embed as the three APIs do, and the embedders that ask them."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from extractors.server import serving
from memctx.embeddings.gemini import GeminiEmbedder
from memctx.embeddings.openai import OpenAIEmbedder
from memctx.embeddings.voyage import VoyageEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from extractors.server import Act, Call, Handler
    from memctx.embeddings.remote import RemoteEmbedder

    Rows = Callable[[list[str]], list[Any]]

APIS = {"openai": OpenAIEmbedder, "gemini": GeminiEmbedder, "voyage": VoyageEmbedder}
KEY = "sk-heron-7c1f0b6e5d"
DIM = 8

__all__ = ["APIS", "DIM", "KEY", "serving"]


def embedder_at(api: str, url: str, **settings: Any) -> RemoteEmbedder:
    """An embedder of a model that nobody knows."""
    arguments = {"dim": DIM, "api_key": KEY, "base_url": f"{url}/v1", **settings}
    embedder: RemoteEmbedder = APIS[api]("model", **arguments)
    return embedder


def numbers_of(text: str) -> NDArray[np.float32]:
    """A text's vector as the servers make it, of any length but 1."""
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    return rng.normal(size=DIM).astype(np.float32)


def unit_of(text: str) -> NDArray[np.float32]:
    """The same as it should come out."""
    numbers = numbers_of(text).astype(np.float64)
    unit: NDArray[np.float32] = (numbers / np.linalg.norm(numbers)).astype(np.float32)
    return unit


def texts_in(call: Call | Handler) -> list[str]:
    """The texts of a request, whichever API it is for."""
    body = call.body
    if "input" in body:
        texts: list[str] = body["input"]
        return texts
    requests = body.get("requests", [body])
    return [request["content"]["parts"][0]["text"] for request in requests]


def plain(texts: list[str]) -> list[Any]:
    return [numbers_of(text).tolist() for text in texts]


def embeds(rows: Rows = plain, *, is_base64: bool = False, is_shuffled: bool = False) -> Act:
    """Answer with vectors as the API in use does."""

    def act(handler: Handler) -> None:
        answer = rows(texts_in(handler))
        if handler.path.endswith(":embedContent"):
            document: Any = {"embedding": {"values": answer[0]}}
        elif handler.path.endswith(":batchEmbedContents"):
            document = {"embeddings": [{"values": row} for row in answer]}
        else:
            if is_base64:
                assert handler.body["encoding_format"] == "base64"
                packed = [np.asarray(row, "<f4").tobytes() for row in answer]
                answer = [base64.b64encode(row).decode() for row in packed]
            data = [{"index": place, "embedding": row} for place, row in enumerate(answer)]
            document = {"object": "list", "data": data[::-1] if is_shuffled else data}
        handler.send(json.dumps(document).encode())

    return act

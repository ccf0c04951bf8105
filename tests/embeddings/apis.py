"""Servers of the three embedding APIs on this machine, and embedders for them."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from facts.extractors.server import serving
from memctx.embeddings import ClientOptions, GeminiEmbedder, OpenAIEmbedder, VoyageEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from facts.extractors.server import Act, Call, Handler
    from memctx.embeddings.remote.embedder import RemoteEmbedder

    Rows = Callable[[list[str]], list[Any]]

APIS = {"openai": OpenAIEmbedder, "gemini": GeminiEmbedder, "voyage": VoyageEmbedder}
KEY = "sk-heron-7c1f0b6e5d"
DIM = 8

__all__ = ["APIS", "DIM", "KEY", "serving"]


def embedder_at(api: str, url: str, **settings: Any) -> RemoteEmbedder:
    """Return an embedder of an unknown model, with connection settings or others."""
    arguments = {"dim": DIM, "api_key": KEY, "base_url": f"{url}/v1", **settings}
    return make(api, "model", **arguments)


def make(api: str, model: str, **settings: Any) -> RemoteEmbedder:
    """Return an embedder of a model."""
    names = {field.name for field in fields(ClientOptions)}
    options = ClientOptions(**{name: settings.pop(name) for name in names & settings.keys()})
    embedder: RemoteEmbedder = APIS[api](model, options=options, **settings)
    return embedder


def numbers_of(text: str) -> NDArray[np.float32]:
    """Return the vector that the servers make of a text, not normalized."""
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    return rng.normal(size=DIM).astype(np.float32)


def unit_of(text: str) -> NDArray[np.float32]:
    """Return the normalized vector of a text."""
    numbers = numbers_of(text).astype(np.float64)
    unit: NDArray[np.float32] = (numbers / np.linalg.norm(numbers)).astype(np.float32)
    return unit


def texts_in(call: Call | Handler) -> list[str]:
    """Return the texts of a request of any API."""
    body = call.body
    if "input" in body:
        texts: list[str] = body["input"]
        return texts
    requests = body.get("requests", [body])
    return [request["content"]["parts"][0]["text"] for request in requests]


def plain(texts: list[str]) -> list[Any]:
    return [numbers_of(text).tolist() for text in texts]


def embeds(rows: Rows = plain, *, is_base64: bool = False, is_shuffled: bool = False) -> Act:
    """Return an action that responds with vectors in the format of the API."""

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

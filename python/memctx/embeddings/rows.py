"""Reading lists of embeddings as OpenAI's API has them, and those that are made like it."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, cast

from memctx.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Mapping


def rows_in(document: Mapping[str, Any], name: str) -> list[object]:
    """The vectors of an answer in the order of the texts, which is that of their indices.

    >>> rows_in({"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]}, "model")
    [[1.0], [2.0]]
    """
    data = document.get("data")
    items = cast("list[object]", data) if isinstance(data, list) else []
    rows: dict[object, object] = {}
    for place, item in enumerate(items):
        if isinstance(item, dict):
            fields = cast("dict[str, object]", item)
            rows[number_of(fields.get("index", place))] = decoded(fields.get("embedding"))
    if not items or rows.keys() != set(range(len(items))):
        raise EmbeddingError(f"what {name} sent is no list of embeddings", can_retry=True)
    return [rows[place] for place in range(len(items))]


def number_of(value: object) -> int | None:
    """An index; None if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def decoded(value: object) -> object:
    """The numbers of an embedding that was sent as a text; anything else as it is."""
    if not isinstance(value, str):
        return value
    import numpy as np  # noqa: PLC0415 - importing memctx must not import numpy

    try:
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
    except (binascii.Error, ValueError):
        return None

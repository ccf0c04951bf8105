"""Vectors of embedders: awaited, parsed from API responses, and checked."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from memctx.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")

# A shorter vector has no direction in single precision.
MIN_LENGTH = 1e-20


@overload
def resolve_awaitable(value: Awaitable[Result]) -> Result: ...
@overload
def resolve_awaitable(value: Result | Awaitable[Result]) -> Result: ...
def resolve_awaitable(value: Result | Awaitable[Result]) -> Result:
    """Return the value, or its result on the background event loop if it is awaitable.

    >>> async def vector():
    ...     return [0.6, 0.8]
    >>> resolve_awaitable(vector()) == resolve_awaitable([0.6, 0.8])
    True
    """
    if not isinstance(value, Awaitable):
        return value
    from memctx.providers.background import background_loop  # noqa: PLC0415 - imports asyncio

    return background_loop().wait_for(cast("Awaitable[Result]", value))


def check_vector(value: object, dim: int | None, name: str) -> NDArray[np.float32]:
    """Return a value as a read-only vector of length 1.

    >>> check_vector([3, 4], 2, "model").tolist()
    [0.6000000238418579, 0.800000011920929]

    Raises:
        EmbeddingError: It is no vector of finite numbers, all zeros, or of another dimension.
    """
    import numpy as np  # noqa: PLC0415 - importing memctx must not import numpy

    try:
        given = np.asarray(value)
    except (TypeError, ValueError):  # rows of several lengths
        given = np.asarray(None)
    if given.dtype.kind not in "fiu":
        raise EmbeddingError(f"{name} returned no vector of numbers")
    with np.errstate(over="ignore"):  # too large numbers become infinite, which is checked below
        numbers = given.astype(np.float32)
    if numbers.ndim != 1 or (dim is not None and len(numbers) != dim):
        size = "x".join(str(size) for size in numbers.shape) or "a single number"
        expected = "some numbers" if dim is None else f"{dim} numbers"
        raise EmbeddingError(f"{name} returned a vector of {size}, expected {expected}")
    exact = numbers.astype(np.float64)
    length = float(np.sqrt(exact @ exact))
    if not np.isfinite(length):
        raise EmbeddingError(f"{name} returned a vector with a number that is not finite")
    if length < MIN_LENGTH:
        raise EmbeddingError(f"{name} returned a vector of zeros")
    unit = (exact / length).astype(np.float32)
    unit.flags.writeable = False
    return unit


def check_matrix(value: object, count: int, dim: int | None, name: str) -> NDArray[np.float32]:
    """Return a value as ``count`` rows of length 1 and of one dimension.

    >>> check_matrix([[3, 4], [0, 2]], 2, None, "model").tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 1.0]]

    Raises:
        EmbeddingError: It is no such list.
    """
    import numpy as np  # noqa: PLC0415 - as above

    if not isinstance(value, Iterable):
        raise EmbeddingError(f"{name} returned no list of vectors")
    rows = list(cast("Iterable[object]", value))
    if len(rows) != count:
        message = f"{name} returned {len(rows)} vectors for {count} texts"
        raise EmbeddingError(message, is_retryable=True)
    if not rows:
        return np.empty((0, dim or 0), np.float32)
    vectors = [check_vector(rows[0], dim, name)]
    vectors += [check_vector(row, len(vectors[0]), name) for row in rows[1:]]
    return np.stack(vectors)


def parse_rows(document: Mapping[str, Any], name: str) -> list[object]:
    """Return the vectors of an OpenAI-compatible response, in the order of their indices.

    >>> parse_rows({"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]}, "model")
    [[1.0], [2.0]]
    """
    data = document.get("data")
    items = cast("list[object]", data) if isinstance(data, list) else []
    rows: dict[object, object] = {}
    for position, item in enumerate(items):
        if isinstance(item, dict):
            fields = cast("dict[str, object]", item)
            rows[_parse_index(fields.get("index", position))] = _decode(fields.get("embedding"))
    if not items or rows.keys() != set(range(len(items))):
        raise EmbeddingError(f"{name} sent no list of embeddings", is_retryable=True)
    return [rows[index] for index in range(len(items))]


def _parse_index(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _decode(value: object) -> object:
    """Decode an embedding in base64; return any other value as it is."""
    if not isinstance(value, str):
        return value
    import numpy as np  # noqa: PLC0415 - as above

    try:
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
    except (binascii.Error, ValueError):
        return None

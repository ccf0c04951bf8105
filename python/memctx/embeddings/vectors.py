"""Checks of what a model gave out as vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from memctx.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A shorter one has no direction that single precision could tell.
SHORTEST = 1e-20


def vector_of(value: object, dim: int | None, name: str) -> NDArray[np.float32]:
    """A vector of length 1, read-only; an error if the value is none, or of another dimension.

    >>> vector_of([3, 4], 2, "model").tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    import numpy as np  # noqa: PLC0415 - importing memctx must not import numpy

    try:
        given = np.asarray(value)
    except (TypeError, ValueError):  # rows of several lengths
        given = np.asarray(None)
    if given.dtype.kind not in "fiu":
        raise EmbeddingError(f"{name} gave something that is no vector of numbers")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is noticed below
        numbers = given.astype(np.float32)
    if numbers.ndim != 1 or (dim is not None and len(numbers) != dim):
        shape = "x".join(str(size) for size in numbers.shape) or "a single number"
        wanted = "some numbers" if dim is None else f"{dim} numbers"
        raise EmbeddingError(f"{name} gave a vector of {shape}, where {wanted} were expected")
    exact = numbers.astype(np.float64)
    length = float(np.sqrt(exact @ exact))
    if not np.isfinite(length):
        raise EmbeddingError(f"{name} gave a vector that holds something that is no finite number")
    if length < SHORTEST:
        raise EmbeddingError(f"{name} gave a vector of zeros, which is near to nothing")
    unit = (exact / length).astype(np.float32)
    unit.flags.writeable = False
    return unit


def matrix_of(value: object, count: int, dim: int | None, name: str) -> NDArray[np.float32]:
    """Rows of length 1, as many as there were texts and all of one dimension; an error if the value is none such.

    >>> matrix_of([[3, 4], [0, 2]], 2, None, "model").tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 1.0]]
    """
    import numpy as np  # noqa: PLC0415 - as above

    if not isinstance(value, Iterable):
        raise EmbeddingError(f"{name} gave something that is no list of vectors")
    rows = list(cast("Iterable[object]", value))
    if len(rows) != count:
        raise EmbeddingError(f"{name} gave {len(rows)} vectors for {count} texts", can_retry=True)
    if not rows:
        return np.empty((0, dim or 0), np.float32)
    vectors = [vector_of(rows[0], dim, name)]
    vectors += [vector_of(row, len(vectors[0]), name) for row in rows[1:]]
    return np.stack(vectors)

"""Vectors in the binary format of pgvector's ``halfvec``: 16-bit floats in network byte order."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from memctx.errors import DimensionMismatchError, VectorError
from memctx.postgres.driver import Dumper, Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memctx.postgres.driver import Connection

_LARGEST = float(np.finfo(np.float16).max)


class HalfVectors:
    """Rows of an array, as a parameter of type ``halfvec[]``."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self.rows = rows


def check(vector: object, dim: int) -> NDArray[np.float32]:
    """Return vectors as a 2-D array; raise for values that are not finite and for another length."""
    found = np.atleast_2d(np.asarray(vector, dtype=np.float32))
    if found.ndim != 2 or found.shape[1] != dim:  # noqa: PLR2004 - rows and columns
        raise DimensionMismatchError(f"vectors must have {dim} dimensions, not shape {found.shape}")
    if not np.isfinite(found).all():
        raise VectorError("a vector holds a value that is not finite")
    return np.clip(found, -_LARGEST, _LARGEST)


def decode(rows: Sequence[bytes]) -> NDArray[np.float32]:
    """Return vectors as the server sends them as one array, a row for each."""
    halves = np.frombuffer(b"".join(rows), dtype=">f2").reshape(len(rows), -1)
    return halves[:, 2:].astype(np.float32)  # behind the length and a field that is not used


def register(connection: Connection) -> str | None:
    """Teach a connection to send `HalfVectors`; return the schema of pgvector, None if it is not installed."""
    row = connection.execute(
        "SELECT n.nspname, t.oid, t.typarray FROM pg_extension e"
        " JOIN pg_namespace n ON n.oid = e.extnamespace"
        " JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = 'halfvec'"
        " WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        return None
    schema, element, array = row

    class ArrayDumper(Dumper):
        format = Format.BINARY
        oid = array

        def dump(self, obj: HalfVectors) -> bytes:
            count, dim = obj.rows.shape
            layout = np.dtype(
                [("size", ">i4"), ("dim", ">i2"), ("unused", ">i2"), ("values", ">f2", dim)]
            )
            elements = np.zeros(count, layout)
            elements["size"] = layout.itemsize - 4
            elements["dim"] = dim
            elements["values"] = obj.rows
            # One dimension, no nulls, numbered from 1.
            return struct.pack(">iiIii", 1, 0, element, count, 1) + elements.tobytes()

    connection.adapters.register_dumper(HalfVectors, ArrayDumper)
    return str(schema)

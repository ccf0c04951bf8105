"""LanceDB: its text index, its vector index in 8 bits, its own hybrid query.

It gets tokens and vectors ready. Of its kinds of index IVF_SQ is the one that is built soonest and finds most of the
nearest here, once ten times as many as wanted are compared again in single precision.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

# It warns with every query that its columns will change one day, and that takes time.
os.environ.setdefault("LANCEDB_LOG", "error")

import lancedb
import pyarrow as pa
from lancedb.index import IvfSq
from lancedb.query import MatchQuery

from cold.engine import TOP, Footprint, plain_numbers, size_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cold.material import Batch
    from cold.question import Question

NAME = "LanceDB (IVF_SQ)"
PACKAGES = ("lancedb", "pyarrow")
IS_GIVEN_TOKENS = True
COMPARED_AGAIN = 10

numbers = plain_numbers

_TABLE = "talk"
_SCHEMA = pa.schema(
    [
        ("number", pa.int64()),
        ("session", pa.string()),
        ("role", pa.string()),
        ("time", pa.int64()),
        ("text", pa.string()),
        ("tokens", pa.string()),
        ("vector", pa.list_(pa.float32(), 384)),
    ]
)


class Builder:
    """One version for each batch; then the pieces are joined and both indexes built."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._table = lancedb.connect(str(folder)).create_table(_TABLE, schema=_SCHEMA)

    def add(
        self, batch: Batch, tokens: list[list[str]], vectors: NDArray[np.float32] | None
    ) -> None:
        assert vectors is not None
        flat = pa.array(vectors.reshape(-1))
        columns: list[Any] = [
            range(batch.first, batch.first + len(batch.texts)),
            batch.sessions,
            batch.roles,
            batch.times,
            batch.texts,
            [" ".join(words) for words in tokens],
        ]
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=False)
        ]
        arrays.append(pa.FixedSizeListArray.from_arrays(flat, 384))
        self._table.add(pa.Table.from_arrays(arrays, schema=_SCHEMA))

    def finish(self) -> None:
        self._table.optimize(cleanup_older_than=timedelta(0))
        self._table.create_fts_index(
            "tokens",
            base_tokenizer="whitespace",
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        self._table.create_index("vector", config=IvfSq(distance_type="cosine"))


class Searcher:
    """The table, opened."""

    def __init__(self, folder: Path) -> None:
        self._table = lancedb.connect(str(folder)).open_table(_TABLE)

    def search(self, question: Question) -> list[tuple[str, str]]:
        rows = (
            self._table.search(query_type="hybrid")
            .vector(question.vector)
            .text(MatchQuery(" ".join(question.tokens), "tokens"))
            .distance_type("cosine")
            .refine_factor(COMPARED_AGAIN)
            .select(["number", "text"])
            .limit(TOP)
            .to_arrow()
        )
        found = map(str, rows["number"].to_pylist())
        return list(zip(found, rows["text"].to_pylist(), strict=True))

    def nearest(self, question: Question) -> list[str]:
        query = self._table.search(question.vector).distance_type("cosine")
        rows = query.refine_factor(COMPARED_AGAIN).select(["number"]).limit(TOP).to_arrow()
        return [str(number) for number in rows["number"].to_pylist()]


def footprint(folder: Path, size: int) -> Footprint:
    everything = size_of(folder)
    index = sum(size_of(found) for found in folder.glob("*/_indices"))
    vectors = size * 384 * 4
    return Footprint(everything - index - vectors, vectors, index)

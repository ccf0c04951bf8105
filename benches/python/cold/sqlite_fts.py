"""SQLite: FTS5 for the words, sqlite-vec for the vectors, fused in Python.

It gets tokens and vectors ready. Its own tokenizers cannot cut Chinese, so the tokens go in with spaces between them.
Vectors are searched exactly, one by one, in single precision: sqlite-vec knows no index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import sqlite_vec

from cold.engine import CANDIDATES, TOP, Footprint, plain_numbers
from cold.fusion import fused

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cold.material import Batch
    from cold.question import Question

NAME = "SQLite FTS5 + sqlite-vec"
PACKAGES = ("apsw", "sqlite-vec")
IS_GIVEN_TOKENS = True

numbers = plain_numbers

_TABLES = """
CREATE TABLE said (number INTEGER PRIMARY KEY, session TEXT, role TEXT, time INTEGER, text TEXT);
CREATE VIRTUAL TABLE words USING fts5(tokens, content='', tokenize="ascii tokenchars '/:._@+-'");
CREATE VIRTUAL TABLE near USING vec0(vector float[384] distance_metric=cosine);
"""
_WORDS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
_NEAR = "SELECT rowid FROM near WHERE vector MATCH ? AND k = ?"
_FILE = "talk.db"
_MAPPED = 16 << 30


def _opened(folder: Path) -> apsw.Connection:
    database = apsw.Connection(str(folder / _FILE))
    database.enable_load_extension(True)  # noqa: FBT003 - that is its signature
    database.load_extension(sqlite_vec.loadable_path())
    database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    database.execute(f"PRAGMA mmap_size = {_MAPPED}")
    return database


class Builder:
    """One transaction for each batch."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._database = _opened(folder)
        self._database.execute("PRAGMA cache_size = -262144")
        self._database.execute(_TABLES)

    def add(
        self, batch: Batch, tokens: list[list[str]], vectors: NDArray[np.float32] | None
    ) -> None:
        assert vectors is not None
        numbers = range(batch.first, batch.first + len(batch.texts))
        rows = zip(numbers, batch.sessions, batch.roles, batch.times, batch.texts, strict=True)
        words = zip(numbers, map(" ".join, tokens), strict=True)
        near = zip(numbers, (vector.tobytes() for vector in vectors), strict=True)
        with self._database:
            self._database.executemany("INSERT INTO said VALUES (?, ?, ?, ?, ?)", rows)
            self._database.executemany("INSERT INTO words (rowid, tokens) VALUES (?, ?)", words)
            self._database.executemany("INSERT INTO near (rowid, vector) VALUES (?, ?)", near)

    def finish(self) -> None:
        self._database.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._database.close()


class Searcher:
    """One connection that maps the file."""

    def __init__(self, folder: Path) -> None:
        self._database = _opened(folder)

    def search(self, question: Question) -> list[tuple[str, str]]:
        query = " OR ".join(f'"{token}"' for token in question.tokens)
        found = [number for (number,) in self._database.execute(_WORDS, (query, CANDIDATES))]
        best = fused(found, self._near(question, CANDIDATES))
        marks = ", ".join("?" * len(best))
        query = f"SELECT number, text FROM said WHERE number IN ({marks})"  # noqa: S608 - marks are question marks
        texts = dict(self._database.execute(query, best))
        return [(str(number), texts[number]) for number in best]

    def nearest(self, question: Question) -> list[str]:
        return [str(number) for number in self._near(question, TOP)]

    def _near(self, question: Question, count: int) -> list[int]:
        bound = (question.vector.tobytes(), count)
        return [number for (number,) in self._database.execute(_NEAR, bound)]


def footprint(folder: Path, size: int) -> Footprint:
    database = _opened(folder)
    sizes: dict[str, int] = dict(
        database.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
    )
    database.close()
    vectors = size * 384 * 4
    return Footprint(sizes["said"], vectors, sum(sizes.values()) - sizes["said"] - vectors)

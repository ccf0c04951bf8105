"""Models, vectors and candidates of searches on a server."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

import numpy as np

from memctx.errors import ConfigError
from memctx.postgres import halfvec
from memctx.postgres.arguments import texts
from memctx.postgres.driver import one, sql
from memctx.postgres.keys import segment_key
from memctx.postgres.records import Candidate, CandidateFilter, Missing, segment_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from numpy.typing import ArrayLike, NDArray

    from memctx.postgres.driver import Connection, Cursor
    from memctx.postgres.keys import Identity

_WORK = 4_000
"""Rows of which a search by words compares the words."""
_WIDEST = 1_000
"""Most neighbors that pgvector looks at before it filters."""


class Model(NamedTuple):
    """A registered model, and the place of pgvector's types."""

    id: int
    dim: int
    schema: str

    def distance(self) -> sql.Composed:
        """Return the expression of the distance to a parameter, as the index has it."""
        return sql.SQL(
            "(v.embedding::{0}.halfvec({1})) OPERATOR({0}.<=>) (%(vector)s::{0}.halfvec[])[1]::{0}.halfvec({1})"
        ).format(sql.Identifier(self.schema), sql.Literal(self.dim))


def register_model(
    connection: Connection, space: Identity, name: str, revision: str, dim: int
) -> int:
    """Return the id of a model, which is made known if it is not."""
    row = connection.execute(
        "SELECT id, dim FROM memctx.models WHERE namespace = %s AND name = %s AND revision = %s",
        [space.id, name, revision],
    ).fetchone()
    if row is not None:
        if row[1] != dim:
            raise ConfigError(
                f"dim must be {row[1]} for the model {name!r}, revision {revision!r}, not {dim}"
            )
        return int(row[0])
    row = one(
        connection.execute(
            "SELECT memctx.register_model(%s::int, %s::text, %s::text, %s::int)",
            [space.id, name, revision, dim],
        )
    )
    return int(row[0])


def read_model(connection: Connection, space: Identity, model: int, schema: str) -> Model:
    """Return a model that is registered."""
    row = connection.execute(
        "SELECT dim FROM memctx.models WHERE namespace = %s AND id = %s::int", [space.id, model]
    ).fetchone()
    if row is None:
        raise ConfigError(f"model must be an id that register_model returned, not {model}")
    return Model(model, row[0], schema)


def put_vectors(
    connection: Connection,
    space: Identity,
    model: Model,
    rows: Sequence[tuple[str, str, ArrayLike]],
) -> None:
    """Store the vectors of segments that are there; those stored already are left alone."""
    passages = [halfvec.check(vectors, model.dim) for _, _, vectors in rows]
    names = {session_id: space.session(session_id) for session_id, _, _ in rows}
    counts = [len(each) for each in passages]
    sessions = [names[session_id] for session_id, _, _ in rows]
    ids = [segment_key(segment) for _, segment, _ in rows]
    connection.execute(
        "SELECT memctx.put_vectors(%s::int, %s::int, %b::uuid[], %b::uuid[], %b::uuid[], %s::int[], %s)",
        [
            space.id,
            model.id,
            list(names.values()),
            [each for each, count in zip(sessions, counts, strict=True) for _ in range(count)],
            [each for each, count in zip(ids, counts, strict=True) for _ in range(count)],
            [number for count in counts for number in range(count)],
            halfvec.HalfVectors(np.concatenate(passages)),
        ],
    )


def missing_vectors(
    connection: Connection, space: Identity, model: Model, limit: int, session_id: str | None
) -> list[Missing]:
    """Return segments without vectors of a model, of one session if it is named."""
    session = None if session_id is None else space.session(session_id)
    rows = connection.execute(
        "SELECT n.name, s.line FROM memctx.terms t"
        " JOIN memctx.segments s ON s.namespace = t.namespace AND s.session = t.session AND s.seq = t.seq"
        " JOIN memctx.sessions n ON n.namespace = t.namespace AND n.session = t.session"
        " WHERE t.namespace = %(space)s AND (%(session)s::uuid IS NULL OR t.session = %(session)s)"
        " AND NOT EXISTS (SELECT FROM memctx.vectors v"
        "   WHERE v.model = %(model)s AND v.namespace = t.namespace AND v.session = t.session AND v.id = t.id)"
        " LIMIT %(limit)s::int",
        {"space": space.id, "model": model.id, "limit": limit, "session": session},
        binary=True,
    ).fetchall()
    return [Missing(name, segment_id(line), line) for name, line in rows]


class Query(NamedTuple):
    """A search, with hashes and vectors made by the caller."""

    terms: Sequence[int]
    vector: NDArray[np.float32] | None
    model: Model | None
    filter: CandidateFilter
    limit: int
    seconds: float
    """Time that the server has."""


def candidates(connection: Connection, space: Identity, query: Query) -> list[Candidate]:
    """Return the union of the best segments by words and by vectors, those by words first."""
    given = _parameters(space, query)
    settings = {
        "statement_timeout": str(max(1, int(query.seconds * 1_000))),
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": str(min(_WIDEST, max(40, query.limit))),
    }
    # Both searches in one round trip, lines and vectors in another.
    with connection.pipeline(), connection.transaction():
        connection.execute(
            "SELECT set_config(name, value, true) FROM unnest(%s::text[], %s::text[]) AS s (name, value)",
            [list(settings), list(settings.values())],
        )
        cursors: list[Cursor] = []
        if given["terms"]:
            cursors.append(connection.execute(_BY_TERMS, given, binary=True))
        if query.vector is not None and query.model is not None:
            statement = _by_vector(query, query.model)
            cursors.append(connection.execute(statement, given, binary=True))
        found: dict[tuple[UUID, UUID], int] = {}
        for cursor in cursors:
            found.update(((session, key), seq) for session, key, seq in cursor.fetchall())
        if not found:
            return []
        return _read(connection, space, found, query.model)


_BY_TERMS = (
    "SELECT session, id, seq FROM memctx.find_by_terms(%(space)s::int, %(terms)s::bigint[], %(topics)s::bigint[],"
    " %(sessions)s::uuid[], %(roles)s::text[], %(since)s::float8, %(until)s::float8, %(limit)s::int, %(work)s::int)"
)


def _parameters(space: Identity, query: Query) -> dict[str, Any]:
    conditions = query.filter
    return {
        "space": space.id,
        "terms": sorted(set(query.terms)),
        "topics": _optional("topics", conditions.topics, space.topic),
        "sessions": _optional("session_ids", conditions.session_ids, space.session),
        "roles": _optional("roles", conditions.roles, str),
        "since": conditions.since,
        "until": conditions.until,
        "limit": query.limit,
        "work": max(_WORK, 4 * query.limit),
        "model": query.model.id if query.model else None,
        "vector": None if query.vector is None else halfvec.HalfVectors(query.vector),
    }


def _optional(
    name: str, values: Sequence[str] | None, convert: Callable[[str], object]
) -> list[object] | None:
    return None if values is None else [convert(each) for each in texts(name, values)]


def _by_vector(query: Query, model: Model) -> sql.Composed:
    """Return the statement of a search by vectors.

    Conditions are checked while the index is scanned, which goes on until enough segments meet them.
    """
    columns: dict[str, LiteralString] = {
        "session_ids": "t.session = ANY (%(sessions)s::uuid[])",
        "roles": "t.role = ANY (%(roles)s::text[])",
        "since": "t.said_at >= %(since)s::float8",
        "until": "t.said_at <= %(until)s::float8",
        "topics": "t.terms && %(topics)s::bigint[]",
    }
    conditions: list[LiteralString] = [
        text for name, text in columns.items() if getattr(query.filter, name) is not None
    ]
    if query.filter.session_ids is not None:
        conditions.append("v.session = ANY (%(sessions)s::uuid[])")
    join = sql.SQL("")
    if conditions:
        join = sql.SQL(
            " JOIN memctx.terms t ON t.namespace = v.namespace AND t.session = v.session AND t.id = v.id"
        )
    return sql.SQL(
        "SELECT k.session, k.id, t.seq FROM (SELECT v.session, v.id FROM memctx.vectors v{join}"
        " WHERE v.model = {model} AND v.namespace = {space}{conditions} ORDER BY {distance} LIMIT %(limit)s::int) AS k,"
        " LATERAL (SELECT t.seq FROM memctx.terms t"
        "   WHERE t.namespace = {space} AND t.session = k.session AND t.id = k.id LIMIT 1) AS t"
    ).format(
        join=join,
        model=sql.Literal(model.id),
        space=sql.SQL("%(space)s::int"),
        conditions=sql.SQL("").join(sql.SQL(" AND ") + sql.SQL(each) for each in conditions),
        distance=model.distance(),
    )


def _read(
    connection: Connection,
    space: Identity,
    found: dict[tuple[UUID, UUID], int],
    model: Model | None,
) -> list[Candidate]:
    """Return lines and vectors of segments, in the order given."""
    keys = list(found)
    given = [
        [session for session, _ in keys],
        [found[key] for key in keys],
        [key for _, key in keys],
    ]
    lines = connection.execute(
        # Looked up one by one, whatever the statistics are.
        "SELECT g.n, n.name, s.line FROM unnest(%b::uuid[], %b::bigint[], %b::uuid[]) WITH ORDINALITY"
        " AS g (session, seq, id, n),"
        " LATERAL (SELECT s.line FROM memctx.segments s"
        "   WHERE s.namespace = %s AND s.session = g.session AND s.seq = g.seq LIMIT 1) AS s,"
        " LATERAL (SELECT n.name FROM memctx.sessions n"
        "   WHERE n.namespace = %s AND n.session = g.session LIMIT 1) AS n"
        " ORDER BY g.n",
        [*given, space.id, space.id],
        binary=True,
    )
    vectors: dict[int, NDArray[np.float32]] = {}
    if model is not None:
        rows = connection.execute(
            "SELECT g.n, v.embedding FROM unnest(%b::uuid[], %b::uuid[]) WITH ORDINALITY AS g (session, id, n),"
            " LATERAL (SELECT v.embedding, v.passage FROM memctx.vectors v WHERE v.model = %s AND v.namespace = %s"
            "   AND v.session = g.session AND v.id = g.id ORDER BY v.passage OFFSET 0) AS v"
            " ORDER BY g.n, v.passage",
            [given[0], given[2], model.id, space.id],
            binary=True,
        ).fetchall()
        matrix = halfvec.decode([embedding for _, embedding in rows]) if rows else None
        if matrix is not None:
            start = 0
            for number, passages in groupby(rows, key=itemgetter(0)):
                end = start + sum(1 for _ in passages)
                vectors[number] = matrix[start:end]
                start = end
    return [Candidate(name, line, vectors.get(number)) for number, name, line in lines.fetchall()]

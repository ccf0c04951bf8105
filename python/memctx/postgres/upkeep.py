"""Erasure, checks and figures of a namespace on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, LiteralString

from memctx.postgres.driver import one, sql
from memctx.postgres.log import payload
from memctx.postgres.records import Erased, Erasure, Verified

if TYPE_CHECKING:
    from memctx.postgres.driver import Connection
    from memctx.postgres.keys import Identity

TABLES = ("sessions", "segments", "facts", "terms", "files", "models", "vectors", "queue")
"""Tables with rows of namespaces."""
_SHOWN = 100
"""Problems of one kind that are listed."""


def erase(connection: Connection, space: Identity, session_id: str) -> Erased:
    """Delete a session and leave a tombstone."""
    row = one(
        connection.execute(
            "SELECT segments, facts, files, vectors FROM memctx.erase_session(%s::int, %s::uuid, %s::text, %s::text)",
            [space.id, space.session(session_id), space.channel, payload([session_id])],
        )
    )
    return Erased(*row)


def erasures(connection: Connection, space: Identity, after: int) -> list[Erasure]:
    """Return the tombstones behind a number."""
    rows = connection.execute(
        "SELECT erased, session FROM memctx.sessions WHERE namespace = %s AND erased > %s::bigint ORDER BY erased",
        [space.id, after],
    ).fetchall()
    return [Erasure(*row) for row in rows]


def verify(connection: Connection, space: Identity) -> Verified:
    """Compare rows with their digests, heads and counterparts, in the server."""
    problems: list[str] = []
    for text, statement in _CHECKS.items():
        rows = connection.execute(statement, {"space": space.id, "limit": _SHOWN + 1}).fetchall()
        problems += [text.format(*row) for row in rows[:_SHOWN]]
        if len(rows) > _SHOWN:
            problems.append(f"… and more of this kind: {text.format('…', '…')}")
    row = one(
        connection.execute(
            "SELECT (SELECT count(*) FROM memctx.sessions WHERE namespace = %(space)s AND erased IS NULL),"
            " (SELECT count(*) FROM memctx.segments WHERE namespace = %(space)s),"
            " (SELECT count(*) FROM memctx.facts WHERE namespace = %(space)s)",
            {"space": space.id},
        )
    )
    return Verified(row[0], row[1], row[2], problems)


def _of_log(log: str, statement: LiteralString) -> sql.Composed:
    return sql.SQL(statement).format(log=sql.Identifier(log))


_DIGESTS: Final = (
    "SELECT n.name, l.seq FROM memctx.{log} l"
    " LEFT JOIN memctx.sessions n ON n.namespace = l.namespace AND n.session = l.session"
    " WHERE l.namespace = %(space)s AND l.digest <> sha256(convert_to(l.line, 'UTF8')) LIMIT %(limit)s"
)
_HEADS: Final = (
    "SELECT max(n.name), max(l.seq) FROM memctx.{log} l"
    " LEFT JOIN memctx.sessions n ON n.namespace = l.namespace AND n.session = l.session"
    " WHERE l.namespace = %(space)s GROUP BY l.session HAVING max(l.seq) > coalesce(max(n.{log}), 0)"
    " LIMIT %(limit)s"
)
_CHECKS: dict[str, sql.SQL | sql.Composed] = {
    "session {0!r}, segment {1}: the line has another SHA-256 than when it was stored": _of_log(
        "segments", _DIGESTS
    ),
    "session {0!r}, fact {1}: the line has another SHA-256 than when it was stored": _of_log(
        "facts", _DIGESTS
    ),
    "session {0!r}: segment {1} lies behind the head of its log": _of_log("segments", _HEADS),
    "session {0!r}: fact {1} lies behind the head of its log": _of_log("facts", _HEADS),
    "session {0!r}, segment {1}: no entry in the text index": sql.SQL(
        "SELECT n.name, s.seq FROM memctx.segments s"
        " LEFT JOIN memctx.sessions n ON n.namespace = s.namespace AND n.session = s.session"
        " LEFT JOIN memctx.terms t ON t.namespace = s.namespace AND t.session = s.session AND t.seq = s.seq"
        " WHERE s.namespace = %(space)s AND t.seq IS NULL LIMIT %(limit)s"
    ),
    "session {0!r}, entry {1} of the text index: no segment": sql.SQL(
        "SELECT n.name, t.seq FROM memctx.terms t"
        " LEFT JOIN memctx.sessions n ON n.namespace = t.namespace AND n.session = t.session"
        " LEFT JOIN memctx.segments s ON s.namespace = t.namespace AND s.session = t.session AND s.seq = t.seq"
        " WHERE t.namespace = %(space)s AND s.seq IS NULL LIMIT %(limit)s"
    ),
}


def counts(connection: Connection, space: Identity) -> dict[str, Any]:
    """Return rows, bytes and the state of the queue."""
    row = one(
        connection.execute(
            "SELECT count(*) FILTER (WHERE erased IS NULL), coalesce(sum(segments), 0)::bigint,"
            " coalesce(sum(facts), 0)::bigint, count(*) FILTER (WHERE erased IS NOT NULL)"
            " FROM memctx.sessions WHERE namespace = %s",
            [space.id],
        )
    )
    queue = one(
        connection.execute(
            "SELECT count(*), coalesce(sum(head - done), 0)::bigint,"
            " coalesce(extract(epoch FROM now() - min(queued_at)), 0)::float8"
            " FROM memctx.queue WHERE namespace = %s",
            [space.id],
        )
    )
    sizes = connection.execute(TABLE_SIZES, [list(TABLES)]).fetchall()
    return {
        "sessions": row[0],
        "segments": row[1],
        "facts": row[2],
        "erased_sessions": row[3],
        "queue": {"sessions": queue[0], "segments": queue[1], "oldest_s": queue[2]},
        "table_bytes": dict(sizes),
    }


TABLE_SIZES = (
    "SELECT c.relname, sum(pg_total_relation_size(coalesce(i.inhrelid, c.oid)))::bigint FROM pg_class c"
    " LEFT JOIN pg_inherits i ON i.inhparent = c.oid"
    " WHERE c.relnamespace = 'memctx'::regnamespace AND c.relname = ANY (%s) GROUP BY 1 ORDER BY 1"
)
"""Sizes of tables with their indexes, of all namespaces."""

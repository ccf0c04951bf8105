"""Retention, orphans, vacuum and figures of a schema, run by its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.postgres.driver import one, sql
from memctx.postgres.upkeep import TABLE_SIZES, TABLES

if TYPE_CHECKING:
    from memctx.postgres.driver import Connection
    from memctx.postgres.keys import Identity

_BATCH = 20_000
"""Segments that one transaction of retention deletes."""
_SECONDS_TO_WAIT = 10
"""Seconds for which appends may be held up by a namespace that is dropped."""


def collect(
    connection: Connection, *, before: float | None, namespace: int | None
) -> dict[str, int]:
    """Delete segments of an earlier time, and rows whose segment or session is gone."""
    deleted = {"segments": 0, "vectors": 0, "orphans": 0}
    while before is not None:
        row = one(
            connection.execute(
                # The keys are taken first, so that each batch deletes the same rows of three tables.
                "WITH old AS MATERIALIZED ("
                "  SELECT namespace, session, id, seq FROM memctx.terms"
                "  WHERE said_at < %(before)s AND (%(only)s::int IS NULL OR namespace = %(only)s::int) LIMIT %(batch)s"
                "), v AS (DELETE FROM memctx.vectors d USING old WHERE d.namespace = old.namespace"
                "    AND d.session = old.session AND d.id = old.id RETURNING 1),"
                " s AS (DELETE FROM memctx.segments d USING old WHERE d.namespace = old.namespace"
                "    AND d.session = old.session AND d.seq = old.seq RETURNING 1),"
                " t AS (DELETE FROM memctx.terms d USING old WHERE d.namespace = old.namespace"
                "    AND d.session = old.session AND d.id = old.id RETURNING 1)"
                " SELECT (SELECT count(*) FROM s), (SELECT count(*) FROM v), (SELECT count(*) FROM t)",
                {"before": before, "only": namespace, "batch": _BATCH},
            )
        )
        deleted["segments"] += row[0]
        deleted["vectors"] += row[1]
        if row[2] < _BATCH:
            break
    for statement in _ORPHANS:
        deleted["orphans"] += connection.execute(statement).rowcount
    return deleted


_ORPHANS = (
    (
        "DELETE FROM memctx.terms t WHERE NOT EXISTS (SELECT FROM memctx.segments s"
        " WHERE s.namespace = t.namespace AND s.session = t.session AND s.seq = t.seq)"
    ),
    (
        "DELETE FROM memctx.vectors v WHERE NOT EXISTS (SELECT FROM memctx.terms t"
        " WHERE t.namespace = v.namespace AND t.session = v.session AND t.id = v.id)"
    ),
    (
        "DELETE FROM memctx.queue q WHERE NOT EXISTS (SELECT FROM memctx.sessions s"
        " WHERE s.namespace = q.namespace AND s.session = q.session AND s.erased IS NULL)"
    ),
    (
        "DELETE FROM memctx.files f WHERE NOT EXISTS (SELECT FROM memctx.sessions s"
        " WHERE s.namespace = f.namespace AND s.session = f.session AND s.erased IS NULL)"
    ),
)


def vacuum(connection: Connection, *, is_full: bool) -> None:
    """Vacuum and analyze every table; written again, they hold no deleted byte."""
    options = "FULL, ANALYZE" if is_full else "ANALYZE"
    for table in ("namespaces", *TABLES):
        connection.execute(f"VACUUM ({options}) memctx.{table}".encode())


def drop_namespace(connection: Connection, space: Identity) -> None:
    """Delete a namespace, and the tables of the vectors of its models."""
    # It is taken from its members first, once all that they have begun is committed: what they append later is refused.
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{_SECONDS_TO_WAIT}s'".encode())
        connection.execute("LOCK TABLE memctx.sessions IN EXCLUSIVE MODE")
        connection.execute(
            "UPDATE memctx.namespaces SET role = quote_ident(current_user)::regrole WHERE id = %s",
            [space.id],
        )
    with connection.transaction():
        connection.execute("SELECT FROM memctx.namespaces WHERE id = %s FOR UPDATE", [space.id])
        models = connection.execute(
            "SELECT id FROM memctx.models WHERE namespace = %s", [space.id]
        ).fetchall()
        for (model,) in models:
            connection.execute(
                sql.SQL("DROP TABLE memctx.{}").format(sql.Identifier(f"vectors_{model}"))
            )
        for table in TABLES:
            connection.execute(
                sql.SQL("DELETE FROM memctx.{} WHERE namespace = %s").format(sql.Identifier(table)),
                [space.id],
            )
        connection.execute("DELETE FROM memctx.namespaces WHERE id = %s", [space.id])


def status(connection: Connection) -> dict[str, Any]:
    """Return versions, sizes, rows of namespaces and the lag of replicas."""
    versions = one(
        connection.execute(
            "SELECT (SELECT max(version) FROM memctx.migrations), current_setting('server_version'),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        )
    )
    spaces = connection.execute(
        "SELECT n.name, n.role::text, count(s.session) FILTER (WHERE s.erased IS NULL),"
        " coalesce(sum(s.segments), 0)::bigint, coalesce(sum(s.facts), 0)::bigint, n.erasures,"
        " (SELECT coalesce(sum(head - done), 0)::bigint FROM memctx.queue q WHERE q.namespace = n.id),"
        " extract(epoch FROM max(s.active_at))::float8 * 1000"
        " FROM memctx.namespaces n LEFT JOIN memctx.sessions s ON s.namespace = n.id GROUP BY n.id ORDER BY n.name"
    ).fetchall()
    replicas = connection.execute(
        "SELECT application_name, state, pg_wal_lsn_diff(sent_lsn, replay_lsn)::bigint,"
        " extract(epoch FROM replay_lag)::float8 FROM pg_stat_replication"
    ).fetchall()
    names = ("role", "sessions", "segments", "facts", "erased_sessions", "queued", "active_at")
    return {
        "schema": versions[0],
        "postgresql": versions[1],
        "pgvector": versions[2],
        "table_bytes": dict(connection.execute(TABLE_SIZES, [list(TABLES)]).fetchall()),
        "namespaces": {name: dict(zip(names, rest, strict=True)) for name, *rest in spaces},
        "replicas": [
            {"name": name, "state": state, "lag_bytes": lag, "lag_s": seconds}
            for name, state, lag, seconds in replicas
        ],
    }

"""Extraction queue of a server: sessions with segments that no worker has read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.postgres.records import Claimed, Job

if TYPE_CHECKING:
    from uuid import UUID

    from memctx.postgres.driver import Connection
    from memctx.postgres.keys import Identity


def claim(  # noqa: PLR0913 - parts of a statement
    connection: Connection,
    space: Identity,
    owner: str,
    lease: float,
    limit: int,
    *,
    session: UUID | None = None,
) -> list[Job]:
    """Lease the sessions that wait longest, or the one named; those that another worker holds are passed over."""
    rows = connection.execute(
        "WITH due AS ("
        "  SELECT namespace, session FROM memctx.queue"
        "  WHERE namespace = %(space)s AND (leased_until IS NULL OR leased_until < now()"
        "      OR (session = %(session)s::uuid AND owner = %(owner)s))"
        "    AND (%(session)s::uuid IS NULL OR session = %(session)s)"
        "  ORDER BY queued_at LIMIT %(limit)s::int FOR UPDATE SKIP LOCKED"
        "), taken AS ("
        "  UPDATE memctx.queue q SET owner = %(owner)s, leased_until = now() + %(lease)s * interval '1 second',"
        "    attempts = q.attempts + 1"
        "  FROM due WHERE q.namespace = due.namespace AND q.session = due.session"
        "  RETURNING q.namespace, q.session, q.done, q.head, q.attempts, q.queued_at"
        ") SELECT s.name, t.done, t.head, t.attempts - 1 FROM taken t"
        " JOIN memctx.sessions s ON s.namespace = t.namespace AND s.session = t.session"
        " ORDER BY t.queued_at",
        {"space": space.id, "owner": owner, "lease": lease, "limit": limit, "session": session},
    ).fetchall()
    return [Job(*row) for row in rows]


def claim_session(
    connection: Connection, space: Identity, session_id: str, owner: str, lease: float
) -> Claimed:
    """Lease or renew one session; return whether another worker holds it."""
    session = space.session(session_id)
    if jobs := claim(connection, space, owner, lease, 1, session=session):
        return Claimed(jobs[0], is_elsewhere=False)
    found = connection.execute(
        "SELECT FROM memctx.queue WHERE namespace = %s AND session = %s", [space.id, session]
    ).fetchone()
    return Claimed(None, is_elsewhere=found is not None)


def complete(connection: Connection, space: Identity, job: Job, owner: str) -> bool:
    """Take what a job covers off the queue; return whether the lease still was the owner's."""
    given = {
        "space": space.id,
        "session": space.session(job.session_id),
        "owner": owner,
        "until": job.until,
    }
    with connection.transaction():
        removed = connection.execute(
            "DELETE FROM memctx.queue WHERE namespace = %(space)s AND session = %(session)s"
            " AND owner = %(owner)s AND head <= %(until)s::bigint",
            given,
        )
        if removed.rowcount:
            return True
        # Segments came in the meantime.
        kept = connection.execute(
            "UPDATE memctx.queue SET done = greatest(done, %(until)s::bigint), owner = NULL, leased_until = NULL,"
            "  attempts = 0, queued_at = now()"
            " WHERE namespace = %(space)s AND session = %(session)s AND owner = %(owner)s",
            given,
        )
        return bool(kept.rowcount)


def release(connection: Connection, space: Identity, job: Job, owner: str, delay: float) -> bool:
    """Give a job back after a failure, to be claimed again after a delay."""
    kept = connection.execute(
        "UPDATE memctx.queue SET owner = NULL, leased_until = now() + %s * interval '1 second'"
        " WHERE namespace = %s AND session = %s AND owner = %s",
        [delay, space.id, space.session(job.session_id), owner],
    )
    return bool(kept.rowcount)

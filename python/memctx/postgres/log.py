"""Lines, heads and files of sessions on a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memctx.errors import ConfigError
from memctx.postgres.driver import one, sql
from memctx.postgres.keys import line_digest, segment_key
from memctx.postgres.records import Head, Page, Row, SessionInfo, StoredFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from memctx.postgres.driver import Connection
    from memctx.postgres.keys import Identity
    from memctx.postgres.records import Line, Log

_LONGEST_PAYLOAD = 7_900
"""Bytes of a notification; PostgreSQL takes fewer than 8,000."""
_PAGE_BYTES = 16 * 1024 * 1024
"""Bytes of lines in one page; a page has at least one line."""

ALL = "*"
"""The payload that stands for more sessions than fit."""


def check_log(log: object) -> None:
    """Refuse the name of no log."""
    if log not in ("segments", "facts"):
        raise ConfigError(f'log must be "segments" or "facts", not {log!r}')


def append(
    connection: Connection, space: Identity, log: Log, lines: Sequence[Line], origin: UUID
) -> int:
    """Append the lines that are not there yet, in one transaction, and return their number."""
    names = {each.session_id: space.session(each.session_id) for each in lines}
    columns: list[object] = [
        [names[each.session_id] for each in lines],
        [line_digest(each.text) for each in lines],
        [each.text for each in lines],
    ]
    head = [
        space.id,
        origin,
        list(names.values()),
        list(names),
        space.channel,
        payload(names),
    ]
    if log == "facts":
        found = one(
            connection.execute(
                "SELECT memctx.append_facts(%s::int, %s::uuid, %b::uuid[], %b::text[], %s::text, %s::text,"
                " %b::uuid[], %b::bytea[], %b::text[])",
                [*head, *columns],
            )
        )
        return int(found[0])
    columns.insert(1, [segment_key(each.id) for each in lines])
    found = one(
        connection.execute(
            "SELECT memctx.append_segments(%s::int, %s::uuid, %b::uuid[], %b::text[], %s::text, %s::text,"
            " %b::uuid[], %b::uuid[], %b::bytea[], %b::text[], %b::text[], %b::float8[], %b::text[])",
            [
                *head,
                *columns,
                [each.role for each in lines],
                [float(each.timestamp) for each in lines],
                [_array(each, space) for each in lines],
            ],
        )
    )
    return int(found[0])


def _array(line: Line, space: Identity) -> str:
    """Return the words and topics of a line as text: arrays of different lengths cannot be one array."""
    terms = [*line.terms, *map(space.topic, line.topics)]
    if not set(map(type, terms)) <= {int}:
        raise TypeError("terms must be whole numbers")
    if terms and not (min(terms) >= -(2**63) and max(terms) < 2**63):
        raise ConfigError("terms must be numbers of 64 bits, with sign")
    return f"{{{str(terms)[1:-1]}}}"


def payload(session_ids: Iterable[str]) -> str:
    """Return the payload of a notification of changed sessions.

    >>> payload(["s1", "s2"])
    '["s1", "s2"]'
    """
    text = json.dumps(list(session_ids))
    return text if len(text) <= _LONGEST_PAYLOAD else ALL


def pull(  # noqa: PLR0913, PLR0917 - the arguments of Server.pull
    connection: Connection,
    space: Identity,
    session_id: str,
    log: Log,
    after: int,
    limit: int,
    without: UUID | None,
) -> Page:
    """Return the lines behind a sequence number."""
    found = connection.execute(
        sql.SQL(
            "SELECT seq, line, is_own, many FROM ("
            "  SELECT *, count(*) OVER () AS many,"
            "    sum(coalesce(octet_length(line), 0)) OVER (ORDER BY seq) - coalesce(octet_length(line), 0) AS before"
            "  FROM ("
            "    SELECT seq, CASE WHEN origin = %(without)s::uuid THEN NULL ELSE line END AS line,"
            "      coalesce(origin = %(without)s::uuid, false) AS is_own"
            "    FROM memctx.{log}"
            "    WHERE namespace = %(space)s AND session = %(session)s AND seq > %(after)s::bigint"
            "    ORDER BY seq LIMIT %(limit)s::int) AS page) AS sized"
            " WHERE before < %(bytes)s ORDER BY seq"
        ).format(log=sql.Identifier(log)),
        {
            "without": without,
            "space": space.id,
            "session": space.session(session_id),
            "after": after,
            "limit": limit + 1,
            "bytes": _PAGE_BYTES,
        },
        binary=True,
    ).fetchall()
    rows = [Row(seq, line, is_own) for seq, line, is_own, _ in found[:limit]]
    return Page(rows, has_more=bool(found) and found[0][3] > len(rows))


def heads(connection: Connection, space: Identity, session_ids: Sequence[str]) -> dict[str, Head]:
    """Return the heads of sessions; one that the server does not know has zeros."""
    keys = {space.session(each): each for each in session_ids}
    rows = connection.execute(
        "SELECT session, segments, facts, erased IS NOT NULL,"
        "  ARRAY(SELECT name FROM memctx.files f WHERE f.namespace = s.namespace AND f.session = s.session"
        "    ORDER BY name),"
        "  ARRAY(SELECT version FROM memctx.files f WHERE f.namespace = s.namespace AND f.session = s.session"
        "    ORDER BY name)"
        " FROM memctx.sessions s WHERE namespace = %s AND session = ANY (%b::uuid[])",
        [space.id, list(keys)],
        binary=True,
    ).fetchall()
    found = {each: Head(0, 0, {}, erased=False) for each in session_ids}
    for key, segments, facts, is_erased, names, versions in rows:
        files = dict(zip(names, versions, strict=True))
        found[keys[key]] = Head(segments, facts, files, erased=is_erased)
    return found


def read_file(
    connection: Connection, space: Identity, session_id: str, name: str
) -> StoredFile | None:
    """Return a file of a session."""
    row = connection.execute(
        "SELECT version, body FROM memctx.files WHERE namespace = %s AND session = %s AND name = %s",
        [space.id, space.session(session_id), name],
        binary=True,
    ).fetchone()
    return None if row is None else StoredFile(row[0], bytes(row[1]))


def write_file(  # noqa: PLR0913, PLR0917 - the arguments of Server.write_file
    connection: Connection,
    space: Identity,
    session_id: str,
    name: str,
    body: bytes,
    expected: int,
) -> int | None:
    """Write a file of a session if it has the expected version; return the new one."""
    key = space.session(session_id)
    row = one(
        connection.execute(
            "SELECT memctx.write_file(%s::int, %s::uuid, %s::text, %s::text, %s::bytea, %s::bigint,"
            " %s::text, %s::text)",
            [space.id, key, session_id, name, body, expected, space.channel, payload([session_id])],
        )
    )
    return None if row[0] is None else int(row[0])


def sessions(
    connection: Connection, space: Identity, after: str | None, limit: int
) -> list[SessionInfo]:
    """Return the sessions in the order of their names, from behind one on."""
    rows = connection.execute(
        "SELECT name, segments, facts, extract(epoch FROM active_at)::float8 * 1000 FROM memctx.sessions"
        ' WHERE namespace = %s AND name COLLATE "C" > %s AND erased IS NULL ORDER BY name COLLATE "C" LIMIT %s::int',
        [space.id, after or "", limit],
        binary=True,
    ).fetchall()
    return [SessionInfo(*row) for row in rows]

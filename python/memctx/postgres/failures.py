"""Errors of PostgreSQL as errors of memctx, without passwords and without contents of rows.

A message of the server may quote values and its DETAIL whole rows, so only messages of kinds that never do are
passed on; the others are told by their SQLSTATE. The driver's exception is not chained, for the same reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.errors import (
    LateError,
    ServerError,
    ServerUnavailableError,
)

if TYPE_CHECKING:
    import psycopg

_REMEDIES = {
    "28": "check user and password in the DSN, and pg_hba.conf",
    "3D000": "create the database, or name another one in the DSN",
    "3F000": "the schema memctx is missing: run memctx.postgres.Administration(dsn).migrate()",
    "42501": "run Administration.grant(role), and check its membership in the namespace's role",
    "42P01": "a table is missing: run memctx.postgres.Administration(dsn).migrate()",
    "53": "the server is out of connections, memory or disk",
}
"""Remedies by SQLSTATE, or by its class."""
_QUOTABLE = ("08", "28", "3D", "3F", "42501", "42P01", "42883", "53", "57", "58")
"""SQLSTATEs and classes whose messages name roles, databases and tables, but no values."""
_GONE = ("08", "57P01", "57P02", "57P03", "57P05", "53300")
"""The connection is lost, or the server does not take one now."""
CONFLICTS = ("40001", "40P01")
"""The transaction was rolled back for another; the same one may succeed."""
_LATE = ("57014", "55P03")


def is_disconnect(error: psycopg.Error, *, is_broken: bool) -> bool:
    """Return whether the server or the connection to it is gone."""
    return error.sqlstate.startswith(_GONE) if error.sqlstate else is_broken


def translate(
    error: psycopg.Error, *, doing: str, password: str | None, is_broken: bool
) -> ServerError:
    """Return the exception to raise for one of the driver's."""
    state = error.sqlstate
    if state in _LATE:
        return LateError(f"{doing}: the server did not finish in time; allow more time, or retry")
    text = _describe(error, password)
    if is_disconnect(error, is_broken=is_broken):
        return ServerUnavailableError(f"{doing}: no connection to the PostgreSQL server: {text}")
    remedy = _remedy(state)
    return ServerError(f"{doing}: {text}{f'; {remedy}' if remedy else ''}")


def _describe(error: psycopg.Error, password: str | None) -> str:
    state = error.sqlstate
    name = type(error).__name__
    if state is None:
        # Of the client: "connection refused", "server closed the connection", a wrong password.
        text = " ".join(str(error).split()) or name
    elif state.startswith(_QUOTABLE):
        text = f"{error.diag.message_primary} (SQLSTATE {state})"
    else:
        text = f"refused with SQLSTATE {state} ({name})"
    return text.replace(password, "***") if password else text


def _remedy(state: str | None) -> str | None:
    if state is None:
        return None
    return _REMEDIES.get(state) or _REMEDIES.get(state[:2])

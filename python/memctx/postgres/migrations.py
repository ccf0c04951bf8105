"""Versions of the schema, and the migrations that lead to them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from memctx.errors import ServerError, UnsupportedVersionError
from memctx.postgres.driver import sql

if TYPE_CHECKING:
    from memctx.postgres.driver import Connection

SCHEMA_VERSION = 1
"""Version of the schema that this memctx reads and writes."""
_LOCK = 0x6D656D637478
"""Number of the advisory lock that migrations hold: "memctx"."""
_PGVECTOR = (0, 8)
"""The first version with scans that go on until enough rows pass a filter."""


def migrate(connection: Connection) -> int:
    """Bring the schema to the current version, in one transaction; return the version it had, 0 for none."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s::bigint)", [_LOCK])
        version = _version(connection)
        refuse_newer(version)
        if version == SCHEMA_VERSION:
            return version
        _check_encoding(connection)
        vector = _vector_schema(connection)
        connection.execute("CREATE SCHEMA IF NOT EXISTS memctx")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS memctx.migrations"
            " (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        for number in range(version + 1, SCHEMA_VERSION + 1):
            text = files("memctx.postgres").joinpath(f"schema/{number}.sql").read_text("utf-8")
            quoted = sql.Identifier(vector).as_string(connection)
            connection.execute(text.replace("{vector}", quoted).encode())
            connection.execute("INSERT INTO memctx.migrations (version) VALUES (%s)", [number])
        return version


def check_version(connection: Connection) -> None:
    """Refuse a schema of another version, or none."""
    version = _version(connection)
    refuse_newer(version)
    if version == 0:
        raise ServerError(
            "the database has no schema memctx that this role may use: its owner runs Administration.migrate()"
            " and Administration.grant(role)"
        )
    if version < SCHEMA_VERSION:
        raise ServerError(
            f"the schema memctx has version {version}, this memctx needs {SCHEMA_VERSION}: its owner runs"
            " Administration.migrate()"
        )


def refuse_newer(version: int) -> None:
    """Raise `UnsupportedVersionError` for a schema of a later memctx."""
    if version > SCHEMA_VERSION:
        raise UnsupportedVersionError(
            f"the schema memctx has version {version}, this memctx knows {SCHEMA_VERSION}: install a newer memctx"
        )


def _version(connection: Connection) -> int:
    row = connection.execute("SELECT to_regclass('memctx.migrations') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return 0
    row = connection.execute("SELECT coalesce(max(version), 0) FROM memctx.migrations").fetchone()
    return int(row[0]) if row else 0


def _check_encoding(connection: Connection) -> None:
    row = connection.execute("SHOW server_encoding").fetchone()
    if row is None or row[0] != "UTF8":
        raise ServerError(
            f"the database has the encoding {row and row[0]}: create one with ENCODING 'UTF8'"
        )


def _vector_schema(connection: Connection) -> str:
    """Return the schema of pgvector, which is created if it is not there."""
    row = connection.execute(
        "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    if row is None:
        raise ServerError(
            "the extension pgvector is not installed on the server: install its package, 0.8 or later"
        )
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    row = connection.execute(
        "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
        " WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:  # pragma: no cover - it was created above
        raise ServerError("the extension pgvector cannot be seen by this role")
    schema, version = row
    if tuple(int(part) for part in version.split(".")[:2]) < _PGVECTOR:
        raise ServerError(
            f"pgvector {version} is too old, 0.8 or later is needed: ALTER EXTENSION vector UPDATE"
        )
    return str(schema)

"""A memctx schema, as its owner runs it: migrations, roles, namespaces, retention, figures."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any, Self, TypeVar

from memctx import checks
from memctx.errors import ConfigError, ServerError
from memctx.postgres import cleanup, migrations, upkeep
from memctx.postgres.arguments import instance, number, text
from memctx.postgres.driver import sql
from memctx.postgres.keys import Identity
from memctx.postgres.link import Link

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from memctx.postgres.driver import Connection
    from memctx.postgres.records import Erased

Result = TypeVar("Result")

_NAME = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,198}[^\s\x00-\x1f\x7f])?")
_DAY_MS = 86_400_000

# What the application's role may do. Row-level security narrows each of these to its namespaces; erasing, registering
# a model and searching by words are functions that run as the owner and check the caller themselves.
_GRANTS = (
    "GRANT USAGE ON SCHEMA memctx TO {role}",
    "GRANT SELECT ON memctx.migrations, memctx.namespaces, memctx.models TO {role}",
    "GRANT SELECT, INSERT ON memctx.segments, memctx.facts, memctx.terms, memctx.vectors TO {role}",
    "GRANT SELECT, INSERT, UPDATE (segments, facts, active_at) ON memctx.sessions TO {role}",
    "GRANT SELECT, INSERT, UPDATE (version, body) ON memctx.files TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON memctx.queue TO {role}",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memctx TO {role}",
)


@checks.public_class
class Administration:
    """The owner's side of a server. The DSN names the role that owns, or will own, the schema ``memctx``.

    >>> admin = Administration("postgresql://owner@db.example/memory")  # doctest: +SKIP
    >>> admin.migrate()  # doctest: +SKIP
    >>> admin.create_role("team_a", password="…")  # doctest: +SKIP
    >>> admin.create_namespace("team-a", role="team_a")  # doctest: +SKIP
    """

    def __init__(self, dsn: str, *, timeout: float = 3_600.0) -> None:
        self._link = Link(dsn, timeout=timeout, prepare=lambda _connection: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def migrate(self) -> int:
        """Create the schema or bring it to the current version, and return the version it had before.

        Several may run at once; one of them does the work. A schema of a newer memctx is refused.
        """
        return self._link.run("migrate", migrations.migrate)

    def create_role(self, role: str, *, password: str | None = None) -> None:
        """Create a role that may log in and nothing else, and grant it what memctx needs.

        The password is hashed before it is sent, so that neither the activity view nor a log has it.
        """
        _check_name("role", role)

        def create(connection: Connection) -> None:
            self._check(connection)
            statement = sql.SQL(
                "CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
            ).format(sql.Identifier(role))
            if password is not None:
                hashed = connection.pgconn.encrypt_password(
                    password.encode(), role.encode(), b"scram-sha-256"
                )
                statement += sql.SQL(" PASSWORD {}").format(hashed.decode())
            with connection.transaction():
                connection.execute(statement)
                _grant(connection, role)

        self._link.run("create_role", create)

    def grant(self, role: str) -> None:
        """Grant a role that exists what memctx needs; it sees the namespaces of roles that it is a member of."""
        _check_name("role", role)

        def grant(connection: Connection) -> None:
            self._check(connection)
            _refuse_powerful(connection, role)
            with connection.transaction():
                _grant(connection, role)

        self._link.run("grant", grant)

    def create_namespace(self, name: str, *, role: str) -> int:
        """Create a namespace that belongs to a role and its members, and return its number."""
        _check_name("name", name)
        _check_name("role", role)

        def create(connection: Connection) -> int:
            self._check(connection)
            _require_membership(connection, role)
            row = connection.execute(
                "INSERT INTO memctx.namespaces (name, role, secret) VALUES (%s, quote_ident(%s)::regrole, %s)"
                " ON CONFLICT (name) DO NOTHING RETURNING id",
                [name, role, os.urandom(32)],
            ).fetchone()
            if row is None:
                raise ServerError(f"namespace {name!r} exists already")
            return int(row[0])

        return self._link.run("create_namespace", create)

    def drop_namespace(self, name: str) -> None:
        """Delete a namespace with everything in it; `gc` takes the bytes out of the files of the server."""
        self._in_namespace("drop_namespace", name, cleanup.drop_namespace)

    def namespaces(self) -> dict[str, str]:
        """Return the roles of the namespaces, by name."""

        def read(connection: Connection) -> dict[str, str]:
            self._check(connection)
            rows = connection.execute(
                "SELECT name, role::text FROM memctx.namespaces ORDER BY name"
            ).fetchall()
            return dict(rows)

        return self._link.run("namespaces", read)

    def erase(self, namespace: str, session_id: str) -> Erased:
        """Delete everything of a session for good, as `Server.erase` does."""
        text("session_id", session_id)
        return self._in_namespace(
            "erase",
            namespace,
            lambda connection, space: upkeep.erase(connection, space, session_id),
        )

    def gc(
        self,
        *,
        older_than_days: float | None = None,
        namespace: str | None = None,
        rewrite: bool = False,
    ) -> dict[str, int]:
        """Delete what is too old and what belongs to nothing, vacuum and analyze; return the rows deleted.

        Args:
            older_than_days: Age of a segment after which it is deleted; facts and files stay. None keeps all.
            namespace: The only namespace to which the age applies.
            rewrite: Write the tables and indexes again, so that their files hold no deleted byte. It locks each
                table for as long as that takes; a plain vacuum leaves old bytes in free space until it is reused.
        """
        before = None
        if older_than_days is not None:
            number("older_than_days", older_than_days, 0, 1_000_000)
            before = time.time() * 1_000 - older_than_days * _DAY_MS
        if namespace is not None:
            _check_name("namespace", namespace)

        def collect(connection: Connection) -> dict[str, int]:
            self._check(connection)
            only = None if namespace is None else _identity(connection, namespace).id
            deleted = cleanup.collect(connection, before=before, namespace=only)
            cleanup.vacuum(connection, is_full=rewrite)
            return deleted

        return self._link.run("gc", collect)

    def status(self) -> dict[str, Any]:
        """Return versions, sizes of tables, rows and queue depth of namespaces, and the lag of replicas."""

        def read(connection: Connection) -> dict[str, Any]:
            self._check(connection)
            return cleanup.status(connection)

        return self._link.run("status", read)

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._link.close()

    def _check(self, connection: Connection) -> None:
        migrations.check_version(connection)

    def _in_namespace(
        self, doing: str, name: str, work: Callable[[Connection, Identity], Result]
    ) -> Result:
        _check_name("namespace", name)

        def find(connection: Connection) -> Result:
            self._check(connection)
            return work(connection, _identity(connection, name))

        return self._link.run(doing, find)


def _identity(connection: Connection, name: str) -> Identity:
    row = connection.execute(
        "SELECT id, name, secret FROM memctx.namespaces WHERE name = %s", [name]
    ).fetchone()
    if row is None:
        raise ServerError(
            f"namespace {name!r} does not exist, or this role is no member of its role"
        )
    return Identity(row[0], row[1], bytes(row[2]))


def _grant(connection: Connection, role: str) -> None:
    for each in _GRANTS:
        connection.execute(sql.SQL(each).format(role=sql.Identifier(role)))


def _refuse_powerful(connection: Connection, role: str) -> None:
    """Refuse a role that row-level security does not hold."""
    row = connection.execute(
        "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s", [role]
    ).fetchone()
    if row is None:
        raise ServerError(
            f"role {role!r} does not exist: create it with Administration.create_role"
        )
    if row[0]:
        raise ServerError(
            f"role {role!r} is a superuser or has BYPASSRLS, so it would see every namespace: use another role"
        )


def _require_membership(connection: Connection, role: str) -> None:
    """Refuse a role of which the owner is no member: its functions and its upkeep would see none of the rows."""
    _refuse_powerful(connection, role)
    row = connection.execute(
        "SELECT pg_has_role(r.rolname, %(role)s::name, 'MEMBER'), r.rolname FROM pg_roles r"
        " JOIN pg_namespace n ON n.nspowner = r.oid WHERE n.nspname = 'memctx'",
        {"role": role},
    ).fetchone()
    if row is None or not row[0]:
        owner = row[1] if row else "the owner"
        raise ServerError(
            f"{owner}, which owns the schema memctx, must be a member of {role!r}: GRANT {role} TO {owner}"
        )


def _check_name(name: str, value: object) -> None:
    if not _NAME.fullmatch(instance(name, value, str)):
        raise ConfigError(
            f"{name} must have 1 to 200 characters, none of them a control character, and no space at its ends,"
            f" not {value!r}"
        )

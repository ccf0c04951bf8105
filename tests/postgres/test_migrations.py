"""Migrations, and servers that are not as expected: clear errors, and no secret in them."""

from __future__ import annotations

import logging
import secrets
import sys
import threading
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import process
from memctx.errors import (
    ConfigError,
    ServerError,
    ServerUnavailableError,
    UnsupportedVersionError,
)
from memctx.postgres import SCHEMA_VERSION, Administration, Line, Server
from postgres.cluster import rows
from postgres.conftest import close, make_space

if TYPE_CHECKING:
    from pathlib import Path

    from postgres.conftest import Database, Host, Space


def test_an_empty_database_is_migrated_once(empty_database: str) -> None:
    with Administration(empty_database) as admin:
        assert admin.migrate() == 0
        assert admin.migrate() == SCHEMA_VERSION
        assert admin.namespaces() == {}


def test_migrations_at_once_do_the_work_once(empty_database: str) -> None:
    barrier = threading.Barrier(4)

    def migrate(_: int) -> int:
        with Administration(empty_database) as admin:
            barrier.wait()
            return admin.migrate()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(migrate, range(4))) == [0, 1, 1, 1]


def test_a_newer_schema_is_refused(own_database: Database) -> None:
    space = make_space(own_database)
    rows(own_database.superuser_dsn, "INSERT INTO memctx.migrations (version) VALUES (99)")
    for act in (lambda: space.server().heads(["s1"]), own_database.admin.migrate):
        with pytest.raises(UnsupportedVersionError, match="version 99, this memctx knows 1"):
            act()
    close(space)


def test_an_older_schema_is_refused(
    own_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = make_space(own_database)
    monkeypatch.setattr("memctx.postgres.migrations.SCHEMA_VERSION", 2)
    with pytest.raises(ServerError, match=r"has version 1, this memctx needs 2: .*\.migrate\(\)"):
        space.server().heads(["s1"])
    close(space)


def test_a_database_without_the_schema_is_refused(empty_database: str) -> None:
    with (
        Server(empty_database, namespace="x") as server,
        pytest.raises(ServerError, match=r"no schema memctx .* Administration.migrate\(\)"),
    ):
        server.heads(["s1"])


def test_a_server_without_pgvector_is_refused(
    host: Host, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memctx.postgres.driver import Connection  # noqa: PLC0415 - to hide the extension

    execute = Connection.execute

    def hide(self: Connection, query: object, *given: object, **named: object) -> object:
        text = str(query).replace(
            "pg_available_extensions WHERE", "pg_available_extensions WHERE false AND"
        )
        return execute(self, text if isinstance(query, str) else query, *given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Connection, "execute", hide)
    database = host.database(str(psycopg.conninfo.conninfo_to_dict(owner)["user"]))
    with (
        Administration(make_conninfo(owner, dbname=database)) as admin,
        pytest.raises(ServerError, match="pgvector is not installed on the server"),
    ):
        admin.migrate()


def test_a_database_of_another_encoding_is_refused(host: Host) -> None:
    name = f"latin_{secrets.token_hex(4)}"
    rows(host.dsn, f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with (
        Administration(host.with_(dbname=name)) as admin,
        pytest.raises(ServerError, match="encoding LATIN1: create one with ENCODING 'UTF8'"),
    ):
        admin.migrate()


def test_namespaces_need_a_role_that_fits(database: Database, space: Space) -> None:
    with pytest.raises(ServerError, match="exists already"):
        database.admin.create_namespace(space.name, role=space.role)
    with pytest.raises(ServerError, match=r"role 'no_such_role' does not exist: create it"):
        database.admin.create_namespace("x", role="no_such_role")
    foreign = f"foreign_{secrets.token_hex(4)}"
    rows(database.superuser_dsn, f"CREATE ROLE {foreign}")
    with pytest.raises(ServerError, match=rf"must be a member of '{foreign}': GRANT {foreign} TO"):
        database.admin.create_namespace("x", role=foreign)


def test_names_of_roles_are_quoted(database: Database) -> None:
    role = f'We"ird role; {secrets.token_hex(4)}'
    password = "x'y\\z %s" + secrets.token_hex(4)
    database.admin.create_role(role, password=password)
    number = database.admin.create_namespace(f"space of {role}", role=role)
    dsn = make_conninfo(database.owner_dsn, user=role, password=password)
    with Server(dsn, namespace=f"space of {role}") as server:
        assert server.heads(["s1"])["s1"].segments == 0
    assert number > 0


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"password": "wrong-Passw0rd"}, ServerError, "password authentication failed"),
        ({"dbname": "no_such_database"}, ServerError, 'database "no_such_database" does not exist'),
        ({"user": "no_such_user"}, ServerError, "password authentication failed"),
        ({"sslmode": "require"}, ServerError, "does not support SSL"),
        ({"port": "1"}, ServerUnavailableError, "Connection refused"),
        ({"host": "/nonexistent"}, ServerUnavailableError, "No such file"),
    ],
)
def test_servers_that_refuse_are_told_apart(
    space: Space, change: dict[str, str], kind: type[ServerError], message: str
) -> None:
    dsn = make_conninfo(space.dsn, **change)
    with pytest.raises(kind, match=message) as caught:
        space.server(dsn=dsn, timeout=5).heads(["s1"])
    assert type(caught.value) is kind
    shown = "".join(traceback.format_exception(caught.value))
    assert change.get("password", space.password) not in shown


@pytest.mark.parametrize(
    "dsn", ["postgresql://a:hunter2-xyz@[::1/x", "password=hunter2-xyz host", "x\0y", "hunter2-xyz"]
)
def test_invalid_connection_strings_are_not_quoted(dsn: str) -> None:
    with pytest.raises(ConfigError, match="dsn is no connection string") as caught:
        Server(dsn, namespace="x")
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_secrets_are_nowhere_to_be_seen(
    own_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the activity view, the log of the server, our log nor an error has a text, a name or a password."""
    caplog.set_level(logging.DEBUG)
    space = make_space(own_database)
    secret = "nightjar-secret-4471"  # noqa: S105 - a canary
    server = space.server()
    text = f'{{"id":"{uuid.uuid4()}","sessionId":"{secret}","content":"{secret}"}}'
    server.append("segments", [Line.parse("segments", text)], origin=uuid.uuid4())
    server.append("facts", [Line.parse("facts", text)], origin=uuid.uuid4())
    server.write_file(secret, secret, secret.encode(), expected=0)
    shown = str(rows(own_database.superuser_dsn, "SELECT query FROM pg_stat_activity"))
    assert "memctx" in shown
    log = own_database.host.cluster.log.read_text() if own_database.host.cluster else ""
    errors = []
    forged = Line.parse("segments", text)._replace(id=str(uuid.uuid4()))
    rows(own_database.superuser_dsn, "ALTER TABLE memctx.segments ADD CHECK (line = '') NOT VALID")
    with pytest.raises(ServerError, match="SQLSTATE 23514") as caught:
        server.append("segments", [forged], origin=uuid.uuid4())  # the server's DETAIL has the row
    errors.append("".join(traceback.format_exception(caught.value)))
    rows(own_database.superuser_dsn, "DROP TABLE memctx.files")
    with pytest.raises(ServerError, match="42P01") as caught:
        server.read_file(secret, secret)
    errors.append("".join(traceback.format_exception(caught.value)))
    for place in (shown, log, caplog.text, repr(server), *errors):
        for hidden in (secret, space.password):
            assert hidden not in place
    close(space)


def test_a_missing_driver_is_named(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import memctx.postgres\n"
        "try:\n    memctx.postgres.Server\n"
        "except memctx.ConfigError as error:\n    print(error)\n"
    )
    found = process.run([sys.executable, "-c", program], cwd=tmp_path)
    assert "pip install 'memctx[postgres]'" in found.stdout

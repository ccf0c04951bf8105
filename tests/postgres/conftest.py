"""A server for each process of tests, a database for all of them, a namespace with its own role for each test."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memctx.postgres import Administration, Server
from postgres.cluster import PACKAGE, VARIABLE, Cluster, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

_GIVEN = os.environ.get(VARIABLE)
"""Read before tests see a clean environment."""
_numbers = count(1)


@dataclass
class Host:
    """A server, as its superuser knows it."""

    dsn: str
    cluster: Cluster | None

    def with_(self, **parameters: str) -> str:
        """Return the connection string with other parameters."""
        return make_conninfo(**{**conninfo_to_dict(self.dsn), **parameters})  # type: ignore[arg-type]

    def database(self, owner: str) -> str:
        """Create a database, and return its name."""
        name = f"memctx_test_{os.getpid()}_{next(_numbers)}"
        rows(self.dsn, f'CREATE DATABASE {name} OWNER "{owner}"')
        return name


@dataclass
class Database:
    """A database with the schema, whose owner is no superuser."""

    host: Host
    name: str
    owner_dsn: str
    admin: Administration

    @property
    def superuser_dsn(self) -> str:
        return self.host.with_(dbname=self.name)


@dataclass
class Space:
    """A namespace with a role of its own."""

    database: Database
    name: str
    role: str
    password: str
    dsn: str
    opened: list[Server] = field(default_factory=list[Server])

    def server(self, *, timeout: float = 10.0, dsn: str | None = None) -> Server:
        """Open the namespace, until the end of the test."""
        self.opened.append(Server(dsn or self.dsn, namespace=self.name, timeout=timeout))
        return self.opened[-1]

    def sql(self, statement: str, *given: object) -> list[tuple[object, ...]]:
        """Run a statement as the application's role."""
        return rows(self.dsn, statement, *given)


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    if _GIVEN:
        yield Host(_GIVEN, None)
        return
    if find_spec(PACKAGE) is None:  # there is none for Windows
        pytest.skip(f"{PACKAGE} is not installed, and {VARIABLE} names no server")
    cluster = Cluster()
    yield Host(cluster.dsn(), cluster)
    cluster.close()


@pytest.fixture(scope="session")
def owner(host: Host) -> str:
    """Return the connection string of a role that may create roles and nothing more."""
    # Tests of several folders in one process may share a server that was given.
    name, password = f"memctx_owner_{secrets.token_hex(4)}", secrets.token_hex(16)
    rows(host.dsn, f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD '{password}'")
    return host.with_(user=name, password=password)


def _owner_name(owner: str) -> str:
    return str(conninfo_to_dict(owner)["user"])


@pytest.fixture
def empty_database(host: Host, owner: str) -> str:
    """Return the connection string of the owner of a database without the schema."""
    name = host.database(_owner_name(owner))
    rows(host.with_(dbname=name), "CREATE EXTENSION vector")
    return make_conninfo(owner, dbname=name)


def make_database(host: Host, owner: str) -> Database:
    name = host.database(_owner_name(owner))
    rows(host.with_(dbname=name), "CREATE EXTENSION vector")
    dsn = make_conninfo(owner, dbname=name)
    admin = Administration(dsn)
    admin.migrate()
    return Database(host, name, dsn, admin)


@pytest.fixture(scope="session")
def database(host: Host, owner: str) -> Iterator[Database]:
    found = make_database(host, owner)
    yield found
    found.admin.close()


@pytest.fixture
def own_database(host: Host, owner: str) -> Iterator[Database]:
    """A database for one test."""
    found = make_database(host, owner)
    yield found
    found.admin.close()


def make_space(database: Database) -> Space:
    number = next(_numbers)
    role, password = f"memctx_app_{os.getpid()}_{number}", secrets.token_hex(16)
    name = f"space {number}"
    database.admin.create_role(role, password=password)
    database.admin.create_namespace(name, role=role)
    dsn = make_conninfo(database.owner_dsn, user=role, password=password)
    return Space(database, name, role, password, dsn)


def close(space: Space) -> None:
    for server in space.opened:
        server.close()


@pytest.fixture
def space(database: Database) -> Iterator[Space]:
    found = make_space(database)
    yield found
    close(found)


@pytest.fixture
def other_space(database: Database) -> Iterator[Space]:
    found = make_space(database)
    yield found
    close(found)


@pytest.fixture
def server(space: Space) -> Server:
    return space.server()

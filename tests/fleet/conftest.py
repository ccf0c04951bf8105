"""A server of the test's own, which it may stop."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict

from postgres.cluster import Cluster, rows
from postgres.conftest import Host, make_database, make_space

if TYPE_CHECKING:
    from collections.abc import Iterator


class Servers:
    """A server with one namespace."""

    def __init__(self) -> None:
        # Acknowledged is what the server has on disk.
        self.cluster = Cluster({"fsync": "on"})
        host = Host(self.cluster.dsn(), self.cluster)
        password = secrets.token_hex(16)
        rows(host.dsn, f"CREATE ROLE fleet_owner LOGIN CREATEROLE PASSWORD '{password}'")
        database = make_database(host, host.with_(user="fleet_owner", password=password))
        self.space = make_space(database)
        database.admin.close()

    def address(self, port: int) -> str:
        """Return the address of the database behind another port."""
        found = conninfo_to_dict(self.space.dsn)
        return (
            f"postgresql://{found['user']}:{found['password']}@127.0.0.1:{port}/{found['dbname']}"
        )


@pytest.fixture
def servers() -> Iterator[Servers]:
    found = Servers()
    yield found
    found.cluster.close()

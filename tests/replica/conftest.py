"""A namespace on a real server, and hosts that open its sessions with caches of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import conninfo_to_dict

import memctx
from fleet.proxy import Proxy
from postgres.conftest import (  # noqa: F401 - fixtures
    database,
    host,
    make_space,
    other_space,
    owner,
    space,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres.conftest import Space


def address(dsn: str, **changes: object) -> str:
    """Return a connection string as a URL."""
    found = {**conninfo_to_dict(dsn), **changes}
    return f"postgresql://{found['user']}:{found['password']}@{found['host']}:{found['port']}/{found['dbname']}"


class Hosts:
    """Hosts by name, each with a cache."""

    def __init__(self, root: Path, namespace: Space) -> None:
        self.root = root
        self.space = namespace
        self.address = address(namespace.dsn)

    def open(self, name: str, session: str = "s1", **settings: Any) -> memctx.Memory:
        """Open a session on a host."""
        return memctx.open(
            settings.pop("address", self.address),
            session_id=session,
            namespace=self.space.name,
            embedding_model=settings.pop("embedding_model", "hash"),
            postgres={"cache_path": self.cache(name), "timeout": settings.pop("timeout", 10.0)},
            **settings,
        )

    def cache(self, name: str) -> Path:
        """Return the directory of a host's cache."""
        return self.root / name


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Apply `alone` to every test of this folder."""


@pytest.fixture
def hosts(tmp_path: Path, space: Space) -> Hosts:  # noqa: F811 - the fixture
    return Hosts(tmp_path, space)


@pytest.fixture
def proxy(hosts: Hosts) -> Iterator[Proxy]:
    found = conninfo_to_dict(hosts.space.dsn)
    made = Proxy(str(found["host"]), int(str(found["port"])))
    hosts.address = address(hosts.space.dsn, host="127.0.0.1", port=made.port)
    yield made
    made.close()

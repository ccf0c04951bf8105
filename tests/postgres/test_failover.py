"""Connection strings with several hosts, of which one is silent."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memctx.postgres import driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres.conftest import Space


@pytest.fixture
def silent() -> Iterator[int]:
    """Return the port of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def test_a_silent_host_leaves_time_for_the_next(space: Space, silent: int) -> None:
    given = conninfo_to_dict(space.dsn)
    hosts, ports = f"127.0.0.1,{given['host']}", f"{silent},{given['port']}"
    server = space.server(dsn=make_conninfo(space.dsn, host=hosts, port=ports), timeout=6)
    assert server.heads(["s1"])["s1"].segments == 0


@pytest.mark.parametrize(
    ("dsn", "left", "seconds"),
    [
        ("host=db1", 10.0, 10),
        ("host=db1,db2", 10.0, 5),
        ("hostaddr=10.0.0.1,10.0.0.2,10.0.0.3", 9.0, 3),
        ("postgresql://app@db1:5432,db2:5433/memory", 6.0, 3),
        ("host=db1,db2", 1.0, 2),
        ("dbname=memory", 10.0, 10),
    ],
)
def test_the_time_to_connect_is_divided_among_the_hosts(
    dsn: str, left: float, seconds: int
) -> None:
    assert driver.connect_timeout(driver.parse(dsn), left) == seconds


def test_the_time_to_connect_that_a_connection_string_has_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[object] = []

    def connect(**given: object) -> None:
        seen.append(given["connect_timeout"])

    monkeypatch.setattr(driver.Connection, "connect", connect)
    driver.connect(driver.parse("host=db1,db2 connect_timeout=7"), end=0.0, timeout=10.0)
    assert seen == ["7"]

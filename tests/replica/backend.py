"""Plugin that runs the tests of a memory on PostgreSQL: ``pytest -p replica.backend tests/memory``.

Every directory that a test opens becomes the cache of a namespace on a server that the plugin starts. A process that a
test starts opens the directory as it is.
"""

from __future__ import annotations

import functools
import os
import secrets
import threading
from pathlib import Path
from typing import Any

import pytest

import memctx
from memctx import registry
from postgres.cluster import Cluster, rows
from postgres.conftest import Database, Host, Space, make_database, make_space
from replica.conftest import address

DIFFERENT = {
    "test_session_ids_are_data_and_never_paths[nul": "PostgreSQL has no null character",
}
"""Parts of names of tests that a server does not pass, and the reasons."""

_started: list[tuple[Cluster, Database]] = []
_spaces: dict[str, Space] = {}
_open = registry.open
_lock = threading.Lock()


def pytest_configure() -> None:
    """Replace `memctx.open`."""
    registry.open = memctx.open = _open_on_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is different by design."""
    for item in items:
        for name, reason in DIFFERENT.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_unconfigure() -> None:
    """Stop the server."""
    registry.open = memctx.open = _open
    for cluster, database in _started:
        database.admin.close()
        cluster.close()


def _database() -> Database:
    if not _started:
        cluster = Cluster({"max_connections": "300"})
        host = Host(cluster.dsn(), cluster)
        secret = secrets.token_hex(16)
        rows(host.dsn, f"CREATE ROLE backend_owner LOGIN CREATEROLE PASSWORD '{secret}'")
        owner = host.with_(user="backend_owner", password=secret)
        _started.append((cluster, make_database(host, owner)))
    return _started[0][1]


@functools.wraps(_open)
def _open_on_server(path: Any = None, **arguments: Any) -> memctx.Memory:
    if not isinstance(path, str | os.PathLike) or not str(path):
        return _open(path, **arguments)
    folder = str((Path.cwd() / Path(path).expanduser()).resolve())
    with _lock:
        if folder not in _spaces:
            _spaces[folder] = make_space(_database())
    space = _spaces[folder]
    arguments.setdefault("namespace", space.name)
    arguments["postgres"] = {"cache_path": folder, "timeout": 20}
    return _open(address(space.dsn), **arguments)

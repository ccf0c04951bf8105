"""Opening of replicas: one for each cache in a process, shared by its sessions."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import checks, files
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from os import PathLike

    from memctx.config import Config
    from memctx.replica.replica import Replica

SCHEMES = ("postgresql://", "postgres://")

_lock = threading.RLock()
_replicas: dict[str, tuple[Replica, str, int]] = {}
"""Replica, name of its server, and number of sessions by the cache."""


def is_server(path: str | PathLike[str] | None) -> bool:
    """Return whether a path is the address of a server.

    >>> is_server("postgresql://db.internal/agents"), is_server("~/.memctx")
    (True, False)
    """
    return isinstance(path, str) and path.startswith(SCHEMES)


def cache_path(address: str, config: Config) -> Path:
    """Return the directory of the cache: the setting, or one in the user's folder of caches.

    Hosts, database and namespace tell caches apart; the user and the password do not.
    """
    given = config.postgres.cache_path
    if given is not None:
        return Path.cwd() / checks.path(given)
    from hashlib import sha256  # noqa: PLC0415 - slow to import

    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    key = sha256(f"{server_name(address)}\n{config.namespace}".encode()).hexdigest()
    return Path.cwd() / checks.path(home) / "memctx" / key[:16]


def server_name(address: str) -> str:
    """Return the hosts, ports and database of an address, without user and password."""
    from memctx import postgres  # noqa: PLC0415 - needs psycopg, which a store in a directory does without

    return postgres.server_name(address)


def check_server(cache: str | PathLike[str], used_for: str | None, wanted: str) -> None:
    """Raise a `ConfigError` if a cache in use belongs to another server; ``used_for`` is None for an ordinary store."""
    if used_for != wanted:
        raise ConfigError(
            f"postgres.cache_path {cache} is in use for {used_for or 'no server'}; expected another directory for "
            f"{wanted}"
        )


def open_replica(address: str, config: Config, session_id: str) -> Replica:
    """Return the replica of the cache that the settings name, opened on first use; `close_replica` undoes it.

    Raises:
        ConfigError: the cache belongs to another server or namespace in this process, or a server cannot hold the
            session's id.
    """
    from memctx.postgres import Server  # noqa: PLC0415 - with psycopg
    from memctx.replica import metrics  # noqa: PLC0415 - as above
    from memctx.replica.replica import Replica  # noqa: PLC0415 - as above
    from memctx.replica.shipper import check_session_id  # noqa: PLC0415 - as above

    check_session_id(session_id)
    cache = config.storage_path
    key = os.path.realpath(cache)
    name = server_name(address)
    with _lock:
        if key in _replicas:
            replica, used_for, count = _replicas[key]
            check_server(cache, used_for, name)
            if replica.server.namespace != config.namespace:
                raise ConfigError(
                    f"postgres.cache_path {cache} is in use for namespace {replica.server.namespace!r}; expected "
                    f"another directory for {config.namespace!r}"
                )
            _replicas[key] = replica, name, count + 1
            return replica
        files.make_folder(cache)
        server = Server(address, namespace=config.namespace, timeout=config.postgres.timeout)
        replica = Replica(cache, server, timeout=config.postgres.timeout)
        metrics.watch(replica)
        _replicas[key] = replica, name, 1
        return replica


def close_replica(replica: Replica) -> None:
    """Close a replica when its last session is closed."""
    key = os.path.realpath(replica.cache)
    with _lock:
        _, name, count = _replicas[key]
        if count > 1:
            _replicas[key] = replica, name, count - 1
            return
        del _replicas[key]
    replica.close()


def reopen_after_fork() -> None:
    """Give the replicas of a forked child their own locks, threads and connections."""
    global _lock  # noqa: PLW0603 - a thread that is not here may hold the old one
    _lock = threading.RLock()
    for replica, _, _ in _replicas.values():
        replica.reopen()

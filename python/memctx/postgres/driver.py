"""psycopg with connections that hold deadlines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from memctx.errors import ConfigError, ServerError, ServerUnavailableError

try:
    import psycopg as psycopg  # noqa: PLC0414 - for the other modules, which thus say what is missing
    from psycopg import conninfo
    from psycopg import sql as sql  # noqa: PLC0414 - as above
    from psycopg.adapt import Dumper as Dumper  # noqa: PLC0414 - as above
    from psycopg.pq import Format as Format  # noqa: PLC0414 - as above
    from psycopg.pq import TransactionStatus
except ImportError as error:
    raise ConfigError(
        "memctx.postgres needs the package 'psycopg', which is not installed: pip install 'memctx[postgres]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

Value = TypeVar("Value")
Cursor: TypeAlias = "psycopg.Cursor[tuple[Any, ...]]"
Parameters: TypeAlias = "Mapping[str, Any]"
"""Connection parameters by their names in libpq."""

_STEP = 0.05
"""Seconds between two looks at the clock."""
_FINAL = (
    "authentication failed",
    "certificate",
    "does not exist",
    "no password supplied",
    "no pg_hba.conf entry",
    "not permitted",
    "permission denied",
    "does not support SSL",
)
"""Parts of refusals that do not end by themselves; before a connection is made, there is no SQLSTATE."""


class OverdueError(Exception):
    """A call took longer than its deadline; its connection cannot be used any more."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose calls end with a deadline, whatever the server and the network do."""

    _end: float | None = None

    @contextmanager
    def bounded(self, end: float) -> Generator[None]:
        """Hold the calls in a block to a deadline, which is a time of `time.monotonic`."""
        self._end = end
        try:
            yield
        finally:
            self._end = None

    @property
    def is_idle(self) -> bool:
        """True if the connection is open and outside of a transaction."""
        return self.pgconn.transaction_status == TransactionStatus.IDLE

    def wait(self, gen: Generator[Any, Any, Value], *args: Any, **named: Any) -> Value:  # noqa: ANN401 - psycopg's
        """Wait for a generator of psycopg to end."""
        if self._end is None:
            return super().wait(gen, *args, **named)
        named["interval"] = _STEP
        return super().wait(_bounded(gen, self._end), **named)


def _bounded(gen: Generator[Any, Any, Value], end: float) -> Generator[Any, Any, Value]:
    """Pass on a generator of psycopg, which is resumed with nothing ready after each interval."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= end:
                raise OverdueError
            wanted = gen.send(ready)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def parse(dsn: object) -> dict[str, Any]:
    """Return the parameters of a connection string: a URL, or pairs of ``name=value``.

    >>> parse("postgresql://app@db.example/memory?sslmode=verify-full")["sslmode"]
    'verify-full'
    """
    if not isinstance(dsn, str):
        raise TypeError(f"dsn must be a connection string, not {type(dsn).__name__}")
    try:
        return dict(conninfo.conninfo_to_dict(dsn.replace("\0", "\n=")))  # refused, not cut off
    except (psycopg.Error, ValueError):
        # The driver's message would quote the string, and with it the password.
        raise ConfigError(
            "dsn is no connection string of PostgreSQL; expected one like"
            " postgresql://user:password@host:5432/database, special characters in %-escapes"
        ) from None


def server_name(dsn: str) -> str:
    """Return the hosts, ports and database of a connection string, without user and password.

    >>> server_name("postgresql://app:secret@db.example/memory")
    'db.example:5432/memory'
    """
    found = parse(dsn)
    host = found.get("host") or found.get("hostaddr") or "local"
    return f"{host}:{found.get('port') or 5432}/{found.get('dbname') or found.get('user') or ''}"


def connect_timeout(parameters: Parameters, left: float) -> int:
    """Return the seconds that each host has, one after another, so that a silent one leaves time for the next.

    >>> connect_timeout({"host": "db1,db2"}, 10.0)
    5
    """
    hosts = max(str(parameters.get(name, "")).count(",") + 1 for name in ("host", "hostaddr"))
    # psycopg counts whole seconds, and takes less than two as two.
    return max(2, round(left / hosts))


def connect(parameters: Parameters, *, end: float, timeout: float) -> Connection:
    """Open a connection in autocommit mode.

    Raises:
        ServerUnavailableError: if no server answers, or it takes no connections now.
        ServerError: if it refuses user, password, database or encryption.
    """
    given: dict[str, Any] = {
        "application_name": "memctx",
        "keepalives_idle": 30,
        "tcp_user_timeout": int(max(timeout, 1) * 1_000),
        "connect_timeout": connect_timeout(parameters, end - time.monotonic()),
        **parameters,
        "client_encoding": "utf8",
    }
    try:
        return Connection.connect(autocommit=True, **given)
    except psycopg.Error as error:
        text = " ".join(str(error).split())
        if password := parameters.get("password"):
            text = text.replace(str(password), "***")
    if any(part in text for part in _FINAL):
        raise ServerError(f"the PostgreSQL server refuses the connection: {text}")
    raise ServerUnavailableError(f"no connection to the PostgreSQL server: {text}")


def one(cursor: Cursor) -> tuple[Any, ...]:
    """Return the row of a statement that always has one."""
    row = cursor.fetchone()
    if row is None:
        raise ServerError("the server returned no row where one was expected")
    return row

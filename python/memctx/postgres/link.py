"""One connection to a server: made on first use, made again when lost, guarded by a lock and by deadlines."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from memctx.errors import LateError
from memctx.postgres import driver
from memctx.postgres.arguments import number
from memctx.postgres.failures import CONFLICTS, is_disconnect, translate

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.postgres.driver import Connection

Result = TypeVar("Result")

_LONGEST = 86_400.0
"""Seconds that a timeout may have."""
_ATTEMPTS = 4
"""Tries of a statement that loses against others; one of them may be spent on a connection found closed."""
_ABANDONED: list[object] = []
"""Connections of the parent process, which a child must neither use nor close."""


class Link:
    """A connection for one caller at a time."""

    def __init__(self, dsn: str, *, timeout: float, prepare: Callable[[Connection], None]) -> None:
        self.parameters = driver.parse(dsn)
        self.timeout = number("timeout", timeout, 0.001, _LONGEST)
        self._password = self.parameters.get("password")
        self._prepare = prepare
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self.latencies: deque[float] = deque(maxlen=1_000)
        """Seconds of the newest calls, waiting for the lock left out."""
        self.connections = 0
        """Number of connections made so far."""

    def run(
        self,
        doing: str,
        work: Callable[[Connection], Result],
        *,
        deadline: float | None = None,
    ) -> Result:
        """Call a function with the connection and return its result.

        A connection that is found closed is made again, once, so the function must be repeatable. ``deadline`` is in
        seconds from now, `timeout` unless given.

        Raises:
            LateError: if it takes longer.
            ServerUnavailableError: if there is no connection to the server.
            ServerError: if the server refuses.
        """
        end = time.monotonic() + (self.timeout if deadline is None else deadline)
        if not self._lock.acquire(timeout=max(0.0, end - time.monotonic())):
            raise LateError(f"{doing}: another call held the connection all the time")
        try:
            start = time.monotonic()
            result = self._attempt(doing, work, end)
            self.latencies.append(time.monotonic() - start)
            return result
        finally:
            self._lock.release()

    def _attempt(self, doing: str, work: Callable[[Connection], Result], end: float) -> Result:
        has_reconnected = False
        for attempt in range(1, _ATTEMPTS + 1):
            is_used = self._connection is not None
            try:
                connection = self._connect(end)
                with connection.bounded(end):
                    return work(connection)
            except driver.psycopg.Error as error:
                is_broken = self._connection is None or self._connection.broken
                is_gone = is_disconnect(error, is_broken=is_broken)
                if is_gone or is_broken:
                    self.drop()
                if is_gone and is_used and not has_reconnected:
                    has_reconnected = True
                elif error.sqlstate not in CONFLICTS or attempt == _ATTEMPTS:
                    raise translate(
                        error, doing=doing, password=self._password, is_broken=is_broken
                    ) from None
            except driver.OverdueError:
                self.drop()
                raise LateError(
                    f"{doing}: the server did not answer in time; allow more time, or retry"
                ) from None
            except BaseException:
                if self._connection is not None and not self._connection.is_idle:
                    self.drop()
                raise
        raise AssertionError("unreachable")

    def _connect(self, end: float) -> Connection:
        if self._connection is None:
            connection = driver.connect(self.parameters, end=end, timeout=self.timeout)
            try:
                with connection.bounded(end):
                    self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self.connections += 1
        return self._connection

    @property
    def is_connected(self) -> bool:
        """True if there is a connection, as far as is known."""
        return self._connection is not None

    def drop(self) -> None:
        """Close the connection; the next call makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Close the connection, after the call that uses it."""
        with self._lock:
            self.drop()

    def reopen(self) -> None:
        """Forget the connection of the parent process, without closing it."""
        _ABANDONED.append(self._connection)
        self._connection = None
        self._lock = threading.Lock()


def percentile(values: list[float], share: float) -> float | None:
    """Return the value below which a share of all lies; None without values.

    >>> percentile([3.0, 1.0, 2.0], 0.5)
    2.0
    """
    if not values:
        return None
    return sorted(values)[min(len(values) - 1, math.floor(share * len(values)))]

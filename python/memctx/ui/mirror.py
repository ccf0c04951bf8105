"""`Mirror`: keeps all sessions of a namespace on a PostgreSQL server in its local cache, which the page shows."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from memctx import files
from memctx.errors import MemctxError, ServerUnavailableError
from memctx.postgres import Server
from memctx.replica import Transfer, cache_path

if TYPE_CHECKING:
    from memctx.config import Config
    from memctx.postgres import SessionInfo

logger = logging.getLogger("memctx.ui")

SECONDS_BETWEEN_LOOKS = 2.0


class Mirror:
    """The cache of a namespace, followed in a thread. Thread-safe.

    >>> mirror = Mirror("postgresql://team-a@db.internal/agents", config)  # doctest: +SKIP
    >>> mirror.start()  # doctest: +SKIP
    """

    def __init__(self, address: str, config: Config) -> None:
        """Name the server and the namespace of the settings; nothing is asked yet."""
        self.path = cache_path(address, config)
        self.namespace = config.namespace
        self.fault: MemctxError | OSError | None = None
        """The fault of the last attempt to reach the server; None if it was reached."""
        files.make_folder(self.path)
        timeout = config.postgres.timeout
        self._server = Server(address, namespace=config.namespace, timeout=timeout)
        self._transfer = Transfer(self.path, self._server)
        self._lock = threading.Lock()
        self._seen: dict[str, SessionInfo] = {}
        self._is_behind = True
        """True if lines of the cache may wait to be sent."""
        self._is_ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Fetch every session, then follow the server in the background.

        Raises:
            MemctxError: the server refuses, or does not answer and the cache is empty.
        """
        try:
            self.refresh()
        except ServerUnavailableError as error:
            if not any(self.path.glob("*.jsonl")):
                raise
            logger.warning("%s; the page shows what %s has", error, self.path)
        self._thread = threading.Thread(target=self._follow, name="memctx-ui-mirror", daemon=True)
        self._thread.start()

    def refresh(self) -> None:
        """Send what waits in the cache, and fetch what changed on the server since the last call."""
        with self._lock:
            try:
                if self._is_behind:
                    self._transfer.send()
                    self._is_behind = False
                found = {each.session_id: each for each in self._transfer.sessions()}
                changed = [name for name, info in found.items() if self._seen.get(name) != info]
                self._transfer.fetch(changed)
            except (MemctxError, OSError) as error:
                self.fault = error
                raise
            self._seen, self.fault = found, None

    def commit(self) -> None:
        """Wait until the server has every line of the cache.

        Raises:
            ServerUnavailableError: it has not in time; the lines are kept in the cache, and sent by the next call.
        """
        with self._lock:
            try:
                self._transfer.send()
            except ServerUnavailableError as error:
                self.fault, self._is_behind = error, True
                raise ServerUnavailableError(
                    f"The edit is kept in {self.path}, and sent when the server is back: {error}"
                ) from error

    def status(self) -> dict[str, Any]:
        """Return the namespace and the last fault, ready for JSON."""
        return {
            "namespace": self.namespace,
            "fault": None if self.fault is None else str(self.fault),
        }

    def close(self) -> None:
        """Stop following."""
        self._is_ended.set()
        self._server.close()
        if self._thread is not None:
            self._thread.join(SECONDS_BETWEEN_LOOKS)

    def _follow(self) -> None:
        while not self._is_ended.wait(SECONDS_BETWEEN_LOOKS):
            try:
                self.refresh()
            except (MemctxError, OSError) as error:
                logger.debug("the server was not reached: %s", error)

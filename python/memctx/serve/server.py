"""The server side of the resident helper: one process for each store, on a Unix socket."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import signal
import socket
import struct
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx import checks, registry
from memctx.errors import MemctxError
from memctx.serve import client
from memctx.serve.methods import METHODS, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from memctx.serve.methods import Params

logger = logging.getLogger("memctx.serve")

MAX_CONNECTIONS = 128
MAX_MEMORIES = 8
"""Memories kept open without a caller."""
IO_SECONDS = 30.0
"""Longest time to receive the rest of a request, or to send a response."""
POLL_SECONDS = 0.5
DRAIN_SECONDS = 5.0
"""Longest time for the last requests to complete before the helper exits."""


class Server:
    """Answers requests for one store until it is stopped or idle.

    >>> import tempfile
    >>> server = Server(tempfile.mkdtemp(), idle_seconds=0.0)
    >>> server.run()  # False: another one is running
    True
    """

    def __init__(
        self, root: str | None = None, *, idle_seconds: float | None = client.IDLE_SECONDS
    ) -> None:
        """Prepare to serve the store in ``root``, by default that of the environment; None is never idle."""
        self.root = client.store_root(None if root is None else str(checks.path(root)))
        self.path = Path(client.socket_path(self.root))
        limit = checks.seconds("idle_seconds", idle_seconds)
        self._idle_seconds = threading.TIMEOUT_MAX if limit is None else limit
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._connections = 0
        self._active = 0
        self._answered = 0
        self._began = self._last = time.monotonic()

    def run(self, on_ready: Callable[[], object] | None = None) -> bool:
        """Serve until stopped or idle; return False at once if another process serves the store."""
        client.make_folder(str(self.path.parent))
        # Never removed: a process that waits for a removed lock would not see the next one.
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(self.path.with_suffix(".lock"), flags, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self.path.unlink(missing_ok=True)  # of a process that was killed
            with closing(_listen(self.path)) as listener, registry.keep_open(MAX_MEMORIES):
                try:
                    if on_ready is not None:
                        on_ready()
                    self._accept(listener)
                finally:
                    self.path.unlink(missing_ok=True)
                    # One that ended in order may be followed by the next at once.
                    Path(client.marker_path(self.root)).unlink(missing_ok=True)
                    self._drain()
            return True
        finally:
            os.close(lock)

    def stop(self) -> None:
        """Stop accepting requests; `run` returns when those that have begun are answered."""
        self._stopped.set()

    def stop_on_signals(self) -> None:
        """Stop on SIGTERM and SIGINT; to be called in the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle_signal)

    def _handle_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stop()

    def status(self) -> dict[str, Any]:
        """Return the state of the helper."""
        from memctx import __version__  # noqa: PLC0415 - lazy there

        return {
            "memctx": __version__,
            "pid": os.getpid(),
            "store": self.root,
            "seconds": round(time.monotonic() - self._began, 3),
            "requests": self._answered,
            "sessions": [memory.session_id for memory in registry.memories()],
        }

    def _accept(self, listener: socket.socket) -> None:
        listener.settimeout(min(POLL_SECONDS, max(self._idle_seconds, 0.01)))
        while not self._stopped.is_set() and not self._is_idle():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError as error:  # no descriptors left: the next caller may find some
                logger.warning("a connection was not accepted: %s", error)
                self._stopped.wait(POLL_SECONDS)
                continue
            if self._connections >= MAX_CONNECTIONS or not _is_own_user(connection):
                connection.close()
                continue
            with self._lock:
                self._connections += 1
            threading.Thread(
                target=self._serve, args=(connection,), name="memctx-serve", daemon=True
            ).start()

    def _is_idle(self) -> bool:
        with self._lock:
            return not self._active and time.monotonic() - self._last >= self._idle_seconds

    def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._active and time.monotonic() < deadline:
            time.sleep(0.01)

    def _serve(self, connection: socket.socket) -> None:
        """Answer the requests of one connection, in its thread."""
        try:
            # A client that was killed, or sends nothing for long, is no error.
            with closing(connection), suppress(OSError):
                for line in _lines(connection):
                    with self._lock:
                        self._active += 1
                    try:
                        response = self._respond(line)
                        connection.settimeout(IO_SECONDS)
                        connection.sendall(response)
                    finally:
                        with self._lock:
                            self._active -= 1
                            self._answered += 1
                            self._last = time.monotonic()
                    if line is None:
                        return
        finally:
            with self._lock:
                self._connections -= 1

    def _respond(self, line: bytes | None) -> bytes:
        """Return the response to a line; None is one that is too long."""
        number: object = None
        try:
            asked = _parse(line)
            number = asked.get("id")
            answer = {"result": self._call(asked)}
        except RequestError as error:
            answer = {"error": {"code": error.code, "message": str(error)}}
        except (MemctxError, OSError, TypeError) as error:
            answer = {"error": {"code": "failed", "message": str(error)}}
        except Exception:
            logger.exception("a request failed")
            answer = {"error": {"code": "internal", "message": "memory failed; see its log"}}
        head = {"version": client.PROTOCOL, "id": number}
        return json.dumps(head | answer, default=str).encode() + b"\n"

    def _call(self, asked: dict[str, Any]) -> object:
        if asked.get("version") != client.PROTOCOL:
            raise RequestError(
                "version", f"version is {asked.get('version')!r}; expected {client.PROTOCOL}"
            )
        if asked.get("store", self.root) != self.root:
            raise RequestError("store", f"this helper serves {self.root}")
        method, params = asked.get("method"), asked.get("params", {})
        if not isinstance(params, dict):
            raise RequestError("invalid", "params is no object")
        if method in ("hello", "status"):
            return self.status()
        if method == "stop":
            self.stop()
            return self.status()
        if not isinstance(method, str) or method not in METHODS:
            known = ", ".join(sorted({"hello", "status", "stop", *METHODS}))
            raise RequestError("unknown_method", f"no such method; expected one of {known}")
        return METHODS[method](self.root, cast("Params", params))


def _listen(path: Path) -> socket.socket:
    """Return a listening socket that only its user can connect to."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)  # before `listen`: until then no one can connect
        listener.listen(MAX_CONNECTIONS)
    except OSError:
        listener.close()
        raise
    return listener


def _is_own_user(connection: socket.socket) -> bool:
    """Return whether the other end is a process of this user; where the system does not tell, the folder is private."""
    option: int | None = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    form = struct.Struct("3i")  # process, user, group
    found = form.unpack(connection.getsockopt(socket.SOL_SOCKET, option, form.size))
    return bool(found[1] == os.getuid())


def _lines(connection: socket.socket) -> Iterator[bytes | None]:
    """Yield the lines that arrive; None, and no more, after one that is too long."""
    rest = bytearray()
    searched = 0
    while True:
        end = rest.find(b"\n", searched)
        if end >= 0:
            line = bytes(rest[:end])
            del rest[: end + 1]
            searched = 0
            yield line
            continue
        searched = len(rest)
        if searched > client.MAX_LINE:
            yield None
            return
        connection.settimeout(IO_SECONDS if rest else None)
        chunk = connection.recv(1 << 18)
        if not chunk:
            return
        rest += chunk


def _parse(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise RequestError("too_large", f"a request has more than {client.MAX_LINE} bytes")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError("invalid", f"a request is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise RequestError("invalid", "a request is no object")
    return cast("dict[str, Any]", found)

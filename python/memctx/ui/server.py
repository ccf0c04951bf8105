"""`run`: serve the page on loopback, on any free port, until the process is interrupted."""

from __future__ import annotations

import gc
import secrets
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from memctx.errors import ConfigError, MemctxError
from memctx.ui.app import make_app
from memctx.ui.backend import Backend

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "127.0.0.1"
LAST_PORT = 65_535
SHUTDOWN_SECONDS = 3


def run(backend: Backend, on_ready: Callable[[str], object] = print, *, port: int = 0) -> None:
    """Serve a store; ``on_ready`` is called with the address, which is good for one visit.

    >>> from memctx import Config
    >>> run(Backend.of(path, Config(), may_write=False))  # doctest: +SKIP
    http://127.0.0.1:41839/?token=…
    """
    if not isinstance(backend, Backend):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"backend must be a Backend, not {type(backend).__name__}")
    if not 0 <= port <= LAST_PORT:
        raise ConfigError(f"port is {port}; expected 0 for any, or a number up to {LAST_PORT}")
    token = secrets.token_urlsafe(24)
    with socket.create_server((ADDRESS, port)) as listener:
        own = listener.getsockname()[1]
        # asyncio sets this only for sockets that name their protocol; without it a response waits 40 ms for its end.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(
            make_app(backend, token=token, port=own),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        threading.Thread(target=_warm, args=(backend,), name="memctx-ui-warm", daemon=True).start()
        on_ready(f"http://{ADDRESS}:{own}/?token={token}")
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            backend.close()


def _warm(backend: Backend) -> None:
    """Read the log and open the memory before the page asks for them."""
    with suppress(MemctxError, OSError):  # the request that needs them reports it
        backend.index.sessions()
        backend.memories.reader()
    # What exists now lives as long as the page: a full collection would look through it for 20 ms in some request.
    gc.freeze()

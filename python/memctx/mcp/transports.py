"""Transports of the MCP server: stdio, and streamable HTTP behind a bearer token and a check of the origin."""

from __future__ import annotations

import hmac
import os
import signal
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = {"", "0.0.0.0", "::"}  # noqa: S104 - named to be refused
MIN_TOKEN = 16
"""Least characters of a token."""
SHUTDOWN_SECONDS = 3
"""Time that open streams have to end when the server stops."""
MAX_PORT = 65_535
PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Options of the HTTP transport.

    >>> HttpOptions(token="k3VxT9w2Lq8ZpB7n").host
    '127.0.0.1'
    """

    token: str
    """The bearer token that every request must carry."""
    host: str = "127.0.0.1"
    port: int = 0
    """The port; 0 for any free one."""
    origins: tuple[str, ...] = ()
    """Origins of web pages that may connect, beside those of this machine."""

    def __post_init__(self) -> None:
        if len(self.token) < MIN_TOKEN:
            raise ConfigError(
                f"token has {len(self.token)} characters; expected at least {MIN_TOKEN}"
            )
        if self.host in ANY_ADDRESS:
            raise ConfigError(f"host is {self.host!r}; expected the address of one interface")
        if not 0 <= self.port <= MAX_PORT:
            raise ConfigError(f"port is {self.port}; expected 0 to {MAX_PORT}")

    @property
    def url_host(self) -> str:
        """The host as URLs and the header ``Host`` have it."""
        return f"[{self.host}]" if ":" in self.host else self.host


class BearerAuth:
    """ASGI middleware that answers 401 to requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Guard ``app``."""
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it carries the token."""
        if scope["type"] == "lifespan" or self._is_allowed(scope):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        body = b'{"error": "invalid_token", "error_description": "a bearer token is required"}'
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"www-authenticate", b'Bearer error="invalid_token"'),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _is_allowed(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if scope["type"] != "http" or len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


def run_stdio(server: Server[Any], on_signal: Callable[[], object] | None = None) -> None:
    """Serve one client over stdin and stdout, until it closes them.

    At SIGINT or SIGTERM, ``on_signal`` is called and the process ends at once: the thread that reads stdin cannot be
    interrupted, and hosts wait for a server that they stop.

    >>> from memctx.mcp import make_server
    >>> run_stdio(make_server(handle))  # doctest: +SKIP
    """
    if not callable(getattr(server, "run", None)):
        raise TypeError(f"server is {type(server).__name__}; expected that of make_server")
    anyio.run(_serve_stdio, server, on_signal)


def http_app(server: Server[Any], options: HttpOptions) -> ASGIApp:
    """Return the ASGI application: the endpoint ``/mcp``, guarded by token, host and origin.

    The check of the host keeps web pages out that have a name of their own resolved to this machine.

    >>> import memctx, tempfile
    >>> from memctx.mcp import MemoryHandle, make_server
    >>> handle = MemoryHandle(lambda: memctx.open(tempfile.mkdtemp(), session_id="s1"))
    >>> app = http_app(make_server(handle), HttpOptions(token="k3VxT9w2Lq8ZpB7n"))  # for any ASGI server
    """
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - not for stdio

    hosts = dict.fromkeys((*LOOPBACK, options.url_host))
    security = TransportSecuritySettings(
        allowed_hosts=[name for host in hosts for name in (host, f"{host}:*")],
        allowed_origins=[
            *(name for host in hosts for name in (f"http://{host}", f"http://{host}:*")),
            *options.origins,
        ],
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    return BearerAuth(app, options.token)


def run_http(
    server: Server[Any], options: HttpOptions, on_ready: Callable[[str], object] = print
) -> None:
    """Serve clients over HTTP until the process is interrupted; ``on_ready`` is called with the URL.

    >>> from memctx.mcp import make_server
    >>> run_http(make_server(handle), HttpOptions(token="k3VxT9w2Lq8ZpB7n", port=8765))  # doctest: +SKIP
    http://127.0.0.1:8765/mcp
    """
    import uvicorn  # noqa: PLC0415 - not for stdio

    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.create_server((options.host, options.port), family=family) as listener:
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            http_app(server, options),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        on_ready(f"http://{options.url_host}:{port}{PATH}")
        uvicorn.Server(config).run(sockets=[listener])


async def _serve_stdio(server: Server[Any], on_signal: Callable[[], object] | None) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - not for HTTP

    async with anyio.create_task_group() as tasks:
        if sys.platform != "win32":
            tasks.start_soon(_exit_on_signal, on_signal)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _exit_on_signal(on_signal: Callable[[], object] | None) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if on_signal is not None:
                on_signal()
            os._exit(0)

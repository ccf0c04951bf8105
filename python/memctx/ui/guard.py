"""`Guard`: ASGI middleware that lets in only the browser that was given the address, and only its own page.

The address has a token that works once. It is exchanged for a cookie, which every other request must carry. The check
of the host keeps out pages whose name was made to resolve to this machine; the check of the origin keeps out others.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost")
"""Host names under which a browser on this machine finds the page."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
PAGE_HEADER = b"x-memctx-page"
"""Header of requests that change something: no form and no link can send it."""
MAX_BODY = 1_000_000
"""Most bytes of a request."""
# A redirect would be a navigation that another page began, on which browsers withhold the cookie.
DOOR = (
    b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    b'<link rel="icon" href="/icon.svg"><title>memctx</title>'
)
SPENT = "This address has been used, or is of an earlier run. Run `memctx ui` again for a new one."


class Guard:
    """Checks host, origin, token and cookie of every request, and adds the security headers to every response."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        """Guard ``app``, which is served on a loopback port; ``token`` is good for one visit."""
        self._app = app
        self._token: bytes | None = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in NAMES}
        # Cookies are shared by all ports of a host.
        self._cookie = f"memctx-ui-{port}".encode()
        self._key = secrets.token_urlsafe(32).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request; pass others on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope["headers"])
        refusal = self._check(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        if scope["path"] == "/" and b"token=" in scope["query_string"]:
            await self._open_door(scope, headers, send)
            return
        if not self._has_cookie(headers):
            await _answer(send, 401, SPENT)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self._app(scope, receive, send_guarded)

    def _check(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> tuple[int, str] | None:
        """Return status and text of a refusal; None if the request comes from this machine and from our page."""
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return 421, "Unknown host name; open the address that `memctx ui` printed."
        origins = headers.get(b"origin", [])
        if any(origin != b"http://" + host[0] for origin in origins):
            return 403, "Requests of other origins are refused."
        is_door = scope["path"] == "/" and scope["method"] == "GET"
        sites = headers.get(b"sec-fetch-site", [])
        if not is_door and any(site not in {b"same-origin", b"none"} for site in sites):
            return 403, "Requests of other sites are refused."
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            return 405, "Only GET, HEAD and POST are answered."
        return _check_post(headers) if scope["method"] == "POST" else None

    async def _open_door(self, scope: Scope, headers: dict[bytes, list[bytes]], send: Send) -> None:
        """Exchange the token for the cookie."""
        if b"prefetch" in b"".join(headers.get(b"sec-purpose", [])):
            await _answer(send, 503, "The token is not spent on a prefetch.")
            return
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        is_right = self._token is not None and hmac.compare_digest(given.encode(), self._token)
        if not is_right and not self._has_cookie(headers):
            await _answer(send, 403, SPENT)
            return
        cookies: list[tuple[bytes, bytes]] = []
        if is_right:
            self._token = None
            cookie = self._cookie + b"=" + self._key + b"; HttpOnly; SameSite=Strict; Path=/"
            cookies = [(b"set-cookie", cookie)]
        await _answer(send, 200, DOOR, b"text/html; charset=utf-8", cookies)

    def _has_cookie(self, headers: dict[bytes, list[bytes]]) -> bool:
        # Not `SimpleCookie`, which stops at the first cookie that it does not understand: other programs on this
        # machine set what they like.
        pairs = b";".join(headers.get(b"cookie", [])).split(b";")
        cookies = (pair.strip().partition(b"=") for pair in pairs)
        return any(
            name == self._cookie and hmac.compare_digest(value, self._key)
            for name, _, value in cookies
        )


def _check_post(headers: dict[bytes, list[bytes]]) -> tuple[int, str] | None:
    """Return status and text of a refusal; None if our page sent the request: no form can."""
    kind = b"".join(headers.get(b"content-type", [])).partition(b";")[0].strip()
    if b"origin" not in headers or PAGE_HEADER not in headers or kind != b"application/json":
        return 403, "Only the page itself may send this."
    sizes = headers.get(b"content-length", [])
    if len(sizes) != 1 or not sizes[0].isdigit() or int(sizes[0]) > MAX_BODY:
        return 413, f"The request must state its length, at most {MAX_BODY} bytes."
    return None


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        found.setdefault(name.lower(), []).append(value)
    return found


async def _answer(
    send: Send,
    status: int,
    body: str | bytes,
    kind: bytes = b"text/plain; charset=utf-8",
    more: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    content = body.encode() if isinstance(body, str) else body
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(content)).encode()),
        *more,
        *HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})

"""Local Messages API that streams, and fails in every way a real one does."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Streamed:
    """An answer, streamed in pieces."""

    text: str = "All is well."
    stop_reason: str = "end_turn"
    breaks_after: int | None = None
    """Number of pieces before the connection is closed."""
    fails_after: int | None = None
    """Number of pieces before an overloaded error."""
    hangs_after: int | None = None
    """Number of pieces before the stream stalls."""
    is_rude: bool = False
    """True to break the connection in the middle of a chunk."""


@dataclass(frozen=True)
class Refused:
    """An error instead of an answer."""

    status: int
    type: str
    message: str = "no"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Raw:
    """Anything at all with a status of success."""

    body: bytes
    content_type: str = "text/event-stream"


Reply: TypeAlias = Streamed | Refused | Raw
OVERFLOW = Refused(
    400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"
)
OVERLOADED = Refused(529, "overloaded_error")
BUSY = Refused(429, "rate_limit_error", headers=(("retry-after", "0"),))
WRONG_KEY = Refused(401, "authentication_error", "invalid x-api-key")


@dataclass
class Server:
    """Requests and scripted replies of the server."""

    url: str
    replies: list[Reply]
    """Given out one by one, the last again and again."""
    rule: Callable[[dict[str, Any]], Reply] | None = None
    """Decides instead of the replies."""
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    gone: threading.Event = field(default_factory=threading.Event)
    """Set once a client hung up on an answer."""
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, request: dict[str, Any]) -> Reply:
        with self.lock:
            self.requests.append(request)
            if self.rule is not None:
                return self.rule(request)
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def prompts(self) -> list[str]:
        """Return the user messages of the requests."""
        return [request["messages"][0]["content"] for request in self.requests]


@contextmanager
def serving(
    *replies: Reply, rule: Callable[[dict[str, Any]], Reply] | None = None
) -> Iterator[Server]:
    """Run a server on a free port."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    http.daemon_threads = True
    server = Server(
        f"http://127.0.0.1:{http.server_address[1]}", list(replies) or [Streamed()], rule
    )
    http.script = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        http.shutdown()
        http.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        server: Server = self.server.script  # type: ignore[attr-defined]
        length = int(self.headers["content-length"])
        reply = server.reply(json.loads(self.rfile.read(length)))
        self.close_connection = True
        try:
            match reply:
                case Refused():
                    error = {"type": reply.type, "message": reply.message}
                    body = json.dumps({"type": "error", "error": error}).encode()
                    self._head(reply.status, "application/json", *reply.headers)
                    self._chunk(body)
                case Raw():
                    self._head(200, reply.content_type)
                    self._chunk(reply.body)
                case Streamed():
                    self._head(200, "text/event-stream")
                    if not self._stream(reply, server):
                        return
            self._chunk(b"")
        except OSError:
            server.gone.set()

    def _stream(self, reply: Streamed, server: Server) -> bool:
        """Send an answer; False if it was broken off."""
        usage = {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 7}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
        }
        self._event("message_start", message={**message, "stop_reason": None, "usage": usage})
        self._event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        pieces = [reply.text[start : start + 8] for start in range(0, len(reply.text), 8)]
        for number, piece in enumerate([*pieces, None]):
            if number == reply.breaks_after:
                if reply.is_rude:
                    self.wfile.write(b"ff\r\ndata: {")
                else:
                    self._chunk(b"")
                return False
            if number == reply.fails_after:
                self._event("error", error={"type": "overloaded_error", "message": "Overloaded"})
                return True
            if number == reply.hangs_after:
                self._wait(server)
                return False
            if piece is not None:
                delta = {"type": "text_delta", "text": piece}
                self._event("content_block_delta", index=0, delta=delta)
        self._event("content_block_stop", index=0)
        spent = {"output_tokens": len(pieces) + 1}
        self._event("message_delta", delta={"stop_reason": reply.stop_reason}, usage=spent)
        self._event("message_stop")
        return True

    def _wait(self, server: Server) -> None:
        """Say nothing until the client is gone."""
        self.connection.settimeout(0.02)
        while not server.stopping.is_set():
            try:
                if not self.connection.recv(1):
                    server.gone.set()
                    return
            except TimeoutError:
                continue

    def _head(self, status: int, content_type: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("content-type", content_type), *headers):
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()

    def _event(self, name: str, **fields: object) -> None:
        data = json.dumps({"type": name, **fields})
        self._chunk(f"event: {name}\ndata: {data}\n\n".encode())

    def _chunk(self, body: bytes) -> None:
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        self.wfile.flush()

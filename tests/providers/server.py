"""The loopback provider: four APIs over HTTP, each request checked, answered by the scripted model and recorded."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from .anthropic_messages import AnthropicMessages
from .api import Refused, Usage, wire
from .conversation import QUESTION, WINDOW, Model
from .gemini import Gemini
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses

if TYPE_CHECKING:
    from .api import Api, Body, Event, ScriptedModel

TAG = "<recalled-context"


@dataclass(frozen=True)
class Request:
    """A request and its outcome."""

    body: Body
    refused: str | None = None
    answer: str | None = None
    tokens: int = 0
    kept: int = 0
    """The number of leading messages in common with the request before it."""
    before: int = 0
    """The number of messages of the request before it."""
    is_question: bool = False
    has_recalled: bool = False

    @property
    def is_break(self) -> bool:
        """True if it changes earlier messages rather than appends to them."""
        return self.kept < self.before


@dataclass
class Provider:
    """A server on this machine, for as long as it is entered."""

    window: int = WINDOW
    reasoning: bool = False
    model: ScriptedModel = field(default_factory=Model)
    requests: list[Request] = field(default_factory=list[Request])
    url: str = ""

    def __enter__(self) -> Self:
        self._apis: tuple[Api, ...] = (
            AnthropicMessages(),
            OpenAIChat(),
            OpenAIResponses(reasoning=self.reasoning),
            Gemini(),
        )
        self._lock, self._last = threading.Lock(), list[str]()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def refused(self) -> list[str]:
        """The rejected requests, with the reasons."""
        return [request.refused for request in self.requests if request.refused]

    @property
    def breaks(self) -> int:
        """The number of requests that changed earlier messages."""
        return sum(request.is_break for request in self.requests if not request.refused)

    @property
    def answers(self) -> list[str | None]:
        """The model's answer to each question."""
        return [request.answer for request in self.requests if request.is_question]

    def api_of(self, path: str) -> Api | None:
        """Return the API that serves a path."""
        return next((api for api in self._apis if api.serves(path)), None)

    def respond(self, api: Api, body: Body) -> tuple[int, Body]:
        """Check a request, and return the status and the body of its response."""
        with self._lock:
            try:
                tokens = api.check(body, self.window)
            except Refused as refused:
                self.requests.append(Request(body, refused=str(refused)))
                return 400, api.refusal(str(refused))
            asked = api.asked(body)
            head, sent = [wire(part) for part in asked.head], [wire(it) for it in asked.messages]
            pairs = zip(sent, self._last, strict=False)
            kept = next(
                (n for n, (a, b) in enumerate(pairs) if a != b), min(len(sent), len(self._last))
            )
            cached = sum(map(len, head + sent[:kept])) / sum(map(len, head + sent))
            whole = json.dumps(asked.messages, ensure_ascii=False)
            reply = self.model.reply(asked, whole)
            self.requests.append(
                Request(
                    body,
                    answer=reply.text,
                    tokens=tokens,
                    kept=kept,
                    before=len(self._last),
                    is_question=QUESTION in asked.text,
                    has_recalled=TAG in whole,
                )
            )
            self._last = sent
            usage = Usage(tokens, int(tokens * cached) if kept else 0)
            if reply.reported:
                usage = Usage(reply.reported, 0)
            return 200, api.answer(body, reply, usage, len(self.requests))


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the client to acknowledge the head
    provider: Provider

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self._send(404, {"error": {"message": f"no such path: {self.path}", "type": "not_found"}})

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = json.loads(self._read() or b"{}")
        api = self.provider.api_of(path)
        if api is None:
            self._send(404, {"error": {"message": f"no such path: {path}", "type": "not_found"}})
            return
        status, answer = self.provider.respond(api, body)
        if status == 200 and api.is_stream(path, body):
            self._stream(api.events(answer))
        else:
            self._send(status, answer)

    def _read(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def _send(self, status: int, answer: Any) -> None:
        raw = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, events: list[Event]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            written = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {written}\n\n".encode())
        self.close_connection = True

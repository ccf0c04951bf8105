"""`FakeProvider`: a server on this machine that the SDKs of Anthropic and OpenAI can be pointed at."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from memctx import _core
from memctx.errors import MemctxError
from memctx.testing.models import FakeModel, QuotingModel, RequestRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from memctx.messages import FormatName


class FakeProvider:
    """A loopback server with Anthropic's Messages API and OpenAI's Chat Completions API, without streaming.

    It refuses with status 400 what the real ones refuse: missing fields, broken messages, and more tokens than
    ``window``. Whatever it accepts is answered by ``model``, a function of the messages, which quotes them by default.

    >>> import json, urllib.request
    >>> said = {"model": "m", "messages": [{"role": "user", "content": "The webhook listens on port 8443."}]}
    >>> with FakeProvider() as provider:
    ...     url = f"{provider.url}/chat/completions"
    ...     with urllib.request.urlopen(url, json.dumps(said).encode()) as reply:
    ...         json.load(reply)["choices"][0]["message"]["content"]
    'Noted.'
    """

    def __init__(
        self, model: Callable[[Sequence[Any]], str] | None = None, *, window: int | None = None
    ) -> None:
        """Create a server, which listens while it is entered."""
        answer = QuotingModel() if model is None else model
        self._models = {
            "anthropic": FakeModel(answer, window=window, format="anthropic"),
            "openai": FakeModel(answer, window=window, format="openai"),
        }
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self.requests: list[dict[str, Any]] = []
        """The body of each request, refused ones included."""
        self.url = ""
        """The address, for the ``base_url`` of a client."""

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def respond(self, path: str, raw: bytes) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of the response to a request."""
        known = _format_of(path)
        if known is None:
            return 404, _refusal(f"no such path: {path}")
        with self._lock:
            try:
                body: dict[str, Any] = json.loads(raw)
                self.requests.append(body)
                _check_fields(body, known)
                messages = list(body["messages"])
                text = self._models[known](messages)
            except (AttributeError, MemctxError, TypeError, ValueError) as refused:
                return 400, _refusal(str(refused))
            tokens = _core.MessageReader("script", capacity=0).read(messages, known).tokens
            make = _anthropic if known == "anthropic" else _openai
            return 200, make(text, str(body["model"]), tokens, len(self.requests))


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each body waits for the client to acknowledge the head
    provider: FakeProvider

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        """Answer a request."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, answer = self.provider.respond(self.path.partition("?")[0], raw)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _format_of(path: str) -> FormatName | None:
    """Return the format of the messages that an API takes; None if the path is of none."""
    if path.endswith("/messages"):
        return "anthropic"
    return "openai" if path.endswith("/chat/completions") else None


def _check_fields(body: dict[str, Any], known: FormatName) -> None:
    """Raise `RequestRefusedError` if a request lacks a field, or asks for a stream."""
    for name in ("model", "messages", *(("max_tokens",) if known == "anthropic" else ())):
        if not body.get(name):
            raise RequestRefusedError(f"{name}: Field required")
    if body.get("stream"):
        raise RequestRefusedError("stream: this fake does not stream")


def _refusal(words: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": words}}


def _anthropic(text: str, model: str, tokens: int, number: int) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens, "output_tokens": _core.estimate_tokens(text, "script")},
    }


def _openai(text: str, model: str, tokens: int, number: int) -> dict[str, Any]:
    output = _core.estimate_tokens(text, "script")
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": output,
            "total_tokens": tokens + output,
        },
    }

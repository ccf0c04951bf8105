"""A model on this machine: speaks the Messages API and chat completions, and fails in every way a real one does."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Act = Callable[["Handler"], None]


@dataclass
class Call:
    """A client's request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


@dataclass
class Model:
    """A scripted server, one act per call; the last act is repeated."""

    acts: list[Act]
    url: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, call: Call) -> Act:
        with self.lock:
            self.calls.append(call)
            return self.acts[min(len(self.calls), len(self.acts)) - 1]

    def said(self) -> str:
        """Return the user's part of the last prompt."""
        content = self.calls[-1].body["messages"][-1]["content"]
        assert isinstance(content, str)
        return content


class Handler(BaseHTTPRequestHandler):
    """One call."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the client to acknowledge the head
    model: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(self.path, headers, body, time.monotonic())
        self.body = body
        self.model.next(call)(self)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    @property
    def is_chat(self) -> bool:
        return self.path.endswith("/chat/completions")

    def send(
        self,
        content: bytes,
        *,
        status: int = 200,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def drop(self) -> None:
        """Hang up."""
        self.close_connection = True
        self.connection.close()

    def message(self, text: str, stop: str) -> dict[str, Any]:
        """Build an answer in the format of the API in use."""
        if self.is_chat:
            return {
                "id": "chat-1",
                "object": "chat.completion",
                "created": 1,
                "model": self.body["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": stop,
                        "message": {"role": "assistant", "content": text},
                    }
                ],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200},
            }
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.body["model"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 1000, "output_tokens": 200},
        }


def fact(content: str, **others: object) -> dict[str, object]:
    """Build a fact as a model writes it."""
    plain = {"type": "config", "context": "", "messages": [1], "action": "add", "known": 0}
    return {"content": content, **plain, **others}


def facts(*items: object) -> str:
    return json.dumps({"facts": items}, ensure_ascii=False)


def reply(text: str, *, is_cut: bool = False) -> Act:
    """Answer with a text."""

    def act(handler: Handler) -> None:
        stop = ("length" if is_cut else "stop") if handler.is_chat else None
        stop = stop or ("max_tokens" if is_cut else "end_turn")
        handler.send(json.dumps(handler.message(text, stop)).encode())

    return act


def refuse(handler: Handler) -> None:
    """Decline, as the API in use does it."""
    document = handler.message("", "stop" if handler.is_chat else "refusal")
    if handler.is_chat:
        document["choices"][0]["message"] |= {"content": None, "refusal": "I cannot help with that"}
    else:
        document["content"] = []
        document["stop_details"] = {"type": "refusal", "category": "cyber", "explanation": "no"}
    handler.send(json.dumps(document).encode())


def filtered(handler: Handler) -> None:
    """Decline by a filter."""
    stop = "content_filter" if handler.is_chat else "refusal"
    handler.send(json.dumps(handler.message("", stop)).encode())


def status(code: int, kind: str, **headers: str) -> Act:
    """Fail with a status; the body repeats what was sent, as a careless server would."""

    def act(handler: Handler) -> None:
        error = {"type": kind, "code": kind, "message": json.dumps(handler.body)}
        document = {"error": error} if handler.is_chat else {"type": "error", "error": error}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.send(json.dumps(document).encode(), status=code, headers=named)

    return act


def without_schema(act: Act) -> Act:
    """Act only when no schema is sent; what carries one is a bad request."""

    def strict(handler: Handler) -> None:
        has_schema = "response_format" in handler.body or "output_config" in handler.body
        (status(400, "invalid_request_error") if has_schema else act)(handler)

    return strict


def raw(content: bytes, kind: str = "application/json") -> Act:
    """Send what is no answer of any API."""
    return lambda handler: handler.send(content, kind=kind)


def hang(seconds: float) -> Act:
    """Say nothing for a while, then hang up."""

    def act(handler: Handler) -> None:
        time.sleep(seconds)
        handler.drop()

    return act


def trickle(seconds: float) -> Act:
    """Send a byte now and then, so that the connection never looks idle."""

    def act(handler: Handler) -> None:
        handler.send(b"{", length=1000)
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                time.sleep(0.02)
                handler.wfile.write(b" ")
                handler.wfile.flush()
        except OSError:
            pass  # the client had enough
        handler.drop()

    return act


def close(handler: Handler) -> None:
    """Hang up without a word."""
    handler.drop()


def truncated(text: str) -> Act:
    """Hang up in the middle of the answer."""

    def act(handler: Handler) -> None:
        content = json.dumps(handler.message(text, "end_turn")).encode()
        handler.send(content[: len(content) // 2], length=len(content))
        handler.wfile.flush()
        handler.drop()

    return act


@contextmanager
def serving(*acts: Act) -> Generator[Model]:
    """Run a server for as long as the block lasts."""
    model = Model(list(acts))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"model": model}))
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

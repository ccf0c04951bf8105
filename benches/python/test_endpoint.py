"""Turns beside a remote endpoint that answers, is slow, hangs or is dead: none waits longer than it may."""

from __future__ import annotations

import json
import threading
import zlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from statistics import quantiles
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import pytest
from benchmark import Figure, Row

import memctx
from memctx.embeddings import ClientOptions, OpenAIEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark import Benchmark

DIM = 64
SEGMENTS = 2_000
TURNS = 120
TIMEOUT_MS = 150.0
MORE_MS = 5.0
"""Time that a turn may take beyond the time-out."""

questions = count()


class Model(BaseHTTPRequestHandler):
    """Server that embeds as OpenAI's API does, with a set delay."""

    protocol_version = "HTTP/1.1"
    seconds = 0.0
    is_dead = False

    def do_POST(self) -> None:
        if self.is_dead:
            self.close_connection = True
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sleep(self.seconds)
        rows = [_vector(text) for text in body["input"]]
        data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


def _vector(text: str) -> list[float]:
    vector = [0.01] * DIM
    for word in text.split():
        vector[zlib.crc32(word.encode()) % DIM] += 1.0
    return vector


@contextmanager
def serving() -> Iterator[ThreadingHTTPServer]:
    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Ignore clients that hang up after the time-out."""

    server = Server(("127.0.0.1", 0), type("Own", (Model,), {}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def turns(memory: memctx.Memory, number: int) -> tuple[list[float], int]:
    """Return the seconds of turns, each with its own question, and how many searched by words alone."""
    took, alone = [], 0
    for _ in range(number):
        said = f"Which gate did parcel {next(questions)} go to, and who signed for it?"
        start = perf_counter()
        turn = memory.prepare([{"role": "user", "content": said}])
        took.append(perf_counter() - start)
        assert not turn.report.errors
        alone += bool(turn.report.degraded)
        sleep(0.01)
    return took, alone


def p99(seconds: list[float]) -> float:
    return quantiles(seconds, n=100)[98]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    with memctx.open(path, session_id="s", disk={"durability": "os"}) as memory:
        texts = (f"Parcel {n} went to gate {n % 90}, signed by none" for n in range(SEGMENTS))
        memory.archive([{"role": "user", "content": text} for text in texts])
    return path


def opened(store: Path, server: ThreadingHTTPServer) -> memctx.Memory:
    host, port = server.server_address[:2]
    url = f"http://{host!s}:{port}/v1"
    model = OpenAIEmbedder("words", dim=DIM, options=ClientOptions(base_url=url, max_retries=0))
    settings: dict[str, Any] = {"placement": "tail", "context_window": 200_000}
    return memctx.open(
        store,
        session_id="s",
        embedding_model=model,
        embedding={"timeout_ms": TIMEOUT_MS},
        **settings,
    )


def test_endpoint(store: Path, benchmark: Benchmark) -> None:
    with serving() as server, opened(store, server) as memory:
        own: Any = server.RequestHandlerClass
        memory.reembed()
        turns(memory, 10)
        well, alone = turns(memory, TURNS)
        assert alone == 0
        found: dict[str, list[float]] = {}
        for name, seconds in {"slow": 0.4, "hanging": 30.0}.items():
            own.seconds = seconds
            found[name], alone = turns(memory, TURNS)
            assert alone == TURNS
            stats = memory.health()["embedding"]["queries"]
            assert stats["breaker"] in {"open", "half-open"}, stats
            own.seconds = 0.0
            began = perf_counter()
            while turns(memory, 1)[1]:
                assert perf_counter() - began < 60
            benchmark.ledger.notes.append(
                f"{name}: back {perf_counter() - began:.1f} s after the endpoint was"
            )
        own.is_dead = True
        server.shutdown()
        server.server_close()
        found["dead"], alone = turns(memory, TURNS)
        assert alone == TURNS
    limit = Figure.of([(TIMEOUT_MS + MORE_MS) / 1000])
    ends = {"answering": well, **found}
    benchmark.enter(
        *(
            Row(
                f"turn, endpoint {name}, wall p99",
                Figure.of([p99(took)]),
                "time-out + 5 ms",
                limit,
                1.0,
            )
            for name, took in ends.items()
        )
    )

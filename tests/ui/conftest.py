"""The page of a store, served on loopback, and a browser's requests to it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import uvicorn

import memctx
import process
from memctx.config import Config, DiskSettings
from memctx.hosts.hooks.session import SessionRecord, record_import
from memctx.ui import Backend, make_app

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

TOKEN = "one-time-token"  # noqa: S105 - of a server on loopback
SHOP = "claude-code/shop-3cb8c763/c1"
SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> says \u202eeliforp\u202c"
ANSWER = "The locker of Zebulon opens with the code QX-4711"
QUESTION = "Which code opens the locker of Zebulon?"
LONG = "0123456789" * 1_000_000


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Keep the settings of the machine out."""


def talk(count: int) -> list[dict[str, Any]]:
    """Return a conversation with tool calls that outgrows small windows."""
    said: list[dict[str, Any]] = []
    for number in range(count):
        text = f"Customer {number} pays at gate {number + 700}. " + "So it goes. " * 20
        said.append({"role": "user", "content": ANSWER if number == 3 else text})
        if number % 5 == 0:
            call = {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": "read", "arguments": "{}"},
            }
            said.append({"role": "assistant", "content": "I look it up.", "tool_calls": [call]})
            said.append(
                {"role": "tool", "tool_call_id": f"c{number}", "content": f"gate = {number + 700}"}
            )
        said.append(
            {"role": "assistant", "content": f"Noted for customer {number}, who pays there."}
        )
    return [*said, {"role": "user", "content": QUESTION}]


def fill(store: Path) -> Path:
    """Archive two sessions, and state facts of which two contradict each other."""
    with memctx.open(store, session_id=SHOP, embedding_model="hash") as memory:
        *said, question = talk(40)
        odd = [
            {"role": "user", "content": SCRIPT},
            {"role": "assistant", "content": "That is odd."},
        ]
        memory.archive([*said, *odd, question])
        old = memory.facts.add(
            "config", "The payment webhook listens on port 3000", context="setup"
        )
        source = next(iter(memory.store.segments())).id
        memory.facts.supersede(old.id, "The payment webhook listens on port 8443", sources=[source])
        memory.facts.add("decision", "Use Valkey for the session cache")
    with memctx.open(store, session_id="s2", embedding_model="hash") as memory:
        memory.archive(
            [
                {"role": "user", "content": LONG},
                {"role": "user", "content": "支付回调的端口是 9443"},
            ]
        )
        memory.facts.add("config", "The payment webhook listens on port 9443")
    record = SessionRecord(
        "claude-code", "/src/shop", "c1", title="Gates of customers", session_id=SHOP
    )
    record_import(store, record)
    return store


def remove(folder: Path) -> None:
    """Delete a directory into which threads of the server may still write."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Page:
    """A served store, and a client that has the cookie."""

    store: Path
    port: int
    client: httpx2.Client
    cookie: str
    """The header that set the cookie."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, name: str, **parameters: Any) -> Any:
        """Return the answer to a request, which must succeed."""
        found = self.client.get(f"/api/{name}", params=parameters)
        assert found.status_code == 200, found.text
        return found.json()

    def refusal(self, name: str, **parameters: Any) -> tuple[int, str]:
        """Return status and error of a request that must fail."""
        found = self.client.get(f"/api/{name}", params=parameters)
        return found.status_code, found.json()["error"]

    def post(self, name: str, **body: Any) -> httpx2.Response:
        headers = {"Origin": self.origin, "X-Memctx-Page": "1"}
        return self.client.post(f"/api/{name}", json=body, headers=headers)

    def play(self, **body: Any) -> Any:
        """Start a replay and wait for its end."""
        started = self.post("replays/start", **body)
        assert started.status_code == 200, started.text
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = self.get("replay", id=started.json()["id"])
            if found["state"] not in {"waiting", "running"}:
                return found
            time.sleep(0.05)
        raise AssertionError("the replay did not end")


@contextmanager
def serve(store: Path, *, may_write: bool, is_opened: bool = True) -> Generator[Page]:
    """Serve a store in a thread; if it is opened, the client has the cookie and the token is spent."""
    disk = DiskSettings(eviction_days=0.0, max_segments=200_000)  # as the command has it
    config = Config(embedding_model="hash", knowledge_extraction=False, disk=disk)
    with served(Backend.of(store, config, may_write=may_write), is_opened=is_opened) as page:
        yield page


@contextmanager
def served(backend: Backend, *, is_opened: bool = True) -> Generator[Page]:
    """Serve a backend in a thread, and close it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        port = listener.getsockname()[1]
        app = make_app(backend, token=TOKEN, port=port)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                token = {"token": TOKEN} if is_opened else {}
                cookie = client.get("/", params=token).headers.get("set-cookie", "")
                assert bool(cookie) == is_opened
                yield Page(backend.path, port, client, cookie)
        finally:
            server.should_exit = True
            thread.join()
            backend.close()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that no test changes."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("MEMCTX_")]:
            patch.delenv(name)
        return fill(tmp_path_factory.mktemp("ui") / "store")


@pytest.fixture
def page(filled: Path) -> Iterator[Page]:
    """Serve a store read-only."""
    with serve(filled, may_write=False) as found:
        yield found


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Page]:
    """Serve a store of the test's own, for edits."""
    with serve(fill(tmp_path / "store"), may_write=True) as found:
        yield found


def command(store: Path, *words: str) -> Any:
    """Return the JSON that a command prints."""
    run = [sys.executable, "-m", "memctx", *words, "--store", str(store), "--json"]
    environ = {**os.environ, "MEMCTX_EMBEDDING_MODEL": "hash"}
    return json.loads(process.run(run, env=environ).stdout)

"""Clients of the SDK, connected to `memctx mcp` over stdio and over HTTP."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import memctx
import process

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

TOKEN = "test-token-of-the-mcp-server"  # noqa: S105 - of a server on loopback
SESSIONS = {
    "shop": [
        ("user", "The payment webhook of the shop listens on port 8443"),
        ("assistant", "Understood: the webhook is on port 8443"),
    ],
    "garden/east": [("user", "The tulips are watered at dawn")],
}
Transport: TypeAlias = Literal["stdio", "http"]


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Keep the settings of the machine out."""


def fill(store: Path) -> Path:
    """Archive some talk and add a workspace with a note."""
    for session, talk in SESSIONS.items():
        with memctx.open(store, session_id=session, embedding_model="hash") as memory:
            memory.archive([{"role": role, "content": text} for role, text in talk])
    workspace = store.parent / f"{store.name}-workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("The elevator code is in the red folder.\n")
    return store


def command(store: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "memctx", "mcp", "--store", str(store), *options]


def environment(store: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [process.GUARD, os.environ.get("PYTHONPATH")])),
        "MEMCTX_EMBEDDING_MODEL": "hash",
        "MEMCTX_WORKSPACE": str(store.parent / f"{store.name}-workspace"),
        "HOME": str(store.parent),
        "USERPROFILE": str(store.parent),
    }


@dataclass(frozen=True)
class Server:
    """A store, and the address of the HTTP server that serves it."""

    store: Path
    url: str

    @asynccontextmanager
    async def connect(
        self, transport: Transport, mode: Literal["auto", "legacy"] = "auto", *options: str
    ) -> AsyncGenerator[Client]:
        """Connect a client: over stdio to a new process, over HTTP to the running one."""
        if transport == "stdio":
            [python, *arguments] = command(self.store, "--session", "shop", *options)
            started = StdioServerParameters(
                command=python, args=arguments, env=environment(self.store)
            )
            async with Client(started, mode=mode) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server over HTTP that the tests of a module share."""
    store = fill(tmp_path_factory.mktemp("mcp") / "store")
    token = store.parent / "token"
    token.write_text(f"{TOKEN}\n")
    options = ("--session", "shop", "--http", "--port", "0", "--token-file", str(token))
    child = process.start(command(store, *options), env={**os.environ, **environment(store)})
    assert child.stderr is not None
    said = child.stderr.readline()
    assert "serving MCP at http://127.0.0.1:" in said, said
    try:
        yield Server(store, said.split()[-1])
    finally:
        child.terminate()
        child.wait(10)
        child.stderr.close()

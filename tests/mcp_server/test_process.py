"""`memctx mcp` as a process: clean end, failures of the store, tokens, start, and the missing extra."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client

import memctx
import process
from mcp_server.conftest import command, environment, fill
from memctx.cli import main
from memctx.errors import StoreError
from memctx.mcp import MemoryHandle, make_server
from memctx.mcp.server import take_page

if TYPE_CHECKING:
    from pathlib import Path

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_the_server_ends_when_its_client_leaves(tmp_path: Path) -> None:
    """Stdout holds one answer and nothing else; a message that is no JSON does not end the server."""
    store = fill(tmp_path / "store")
    lines = f"this is no JSON\n{json.dumps(INITIALIZE)}\n"
    done = process.run(command(store), env=environment(store), input=lines)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    [result] = [each["result"] for each in answers if each.get("id") == 1]
    assert result["serverInfo"]["name"] == "memctx"
    assert result["serverInfo"]["version"] == memctx.__version__
    assert {"tools", "resources", "prompts"} <= set(result["capabilities"])
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.slow
def test_the_server_ends_at_a_signal_although_stdin_is_open(name: str, tmp_path: Path) -> None:
    """Hosts that leave interrupt their servers first, and wait."""
    store = fill(tmp_path / "store")
    child = process.start(
        command(store), env=environment(store), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(f"{json.dumps(INITIALIZE)}\n")
    child.stdin.flush()
    assert json.loads(child.stdout.readline())["id"] == 1
    child.send_signal(getattr(signal, name))
    assert child.wait(10) == 0
    process.finish(child)


def test_the_start_imports_neither_numpy_nor_the_memory(tmp_path: Path) -> None:
    """The client gets its first answer before the memory is opened."""
    program = (
        "import sys\n"
        "from memctx.mcp import transports\n"
        "transports.run_stdio = lambda *_: None\n"
        "from memctx.cli import main\n"
        f"main(['mcp', '--store', {str(tmp_path)!r}], standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    loaded = process.run([sys.executable, "-c", program]).stdout.split()
    assert "mcp.server.lowlevel" in loaded
    assert {"memctx.memory", "memctx.config", "numpy", "memctx.hosts.openclaw"}.isdisjoint(loaded)


def test_a_token_is_made_and_printed_if_none_is_set(tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    child = process.start(
        command(store, "--http", "--port", "0"), env=environment(store), stdout=subprocess.PIPE
    )
    assert child.stderr is not None
    token, url = child.stderr.readline(), child.stderr.readline()
    with pytest.raises(urllib.error.HTTPError, match="401"):  # it serves, and asks for the token
        urllib.request.urlopen(url.split()[-1], timeout=20)  # noqa: S310 - http, as the command says
    child.terminate()
    _, more = child.communicate(timeout=10)
    assert (child.returncode, more) == (0, "") or sys.platform == "win32"  # it closed the memory
    assert "MEMCTX_MCP_TOKEN is not set" in token
    assert len(token.split()[-1]) >= 32
    assert "http://127.0.0.1:" in url


def test_an_empty_token_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    options = ["mcp", "--http", "--store", str(tmp_path), "--token-file", str(tmp_path / "token")]
    result = CliRunner().invoke(main, options)
    assert result.exit_code == 2
    assert "it is empty; expected a token" in result.output


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("memctx.providers.sdk.find_spec", lambda _: None)
    result = CliRunner().invoke(main, ["mcp", "--store", str(tmp_path)])
    assert result.exit_code == 2
    assert "pip install 'memctx[mcp]'" in result.output


def drive(handle: MemoryHandle, name: str, arguments: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with Client(make_server(handle)) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(run())


def test_a_store_that_cannot_be_opened_is_an_error_result_and_tried_again(tmp_path: Path) -> None:
    attempts: list[int] = []

    def open_memory() -> memctx.Memory:
        attempts.append(1)
        if len(attempts) == 1:
            raise StoreError("the disk is full")
        return memctx.open(tmp_path, session_id="s1", embedding_model="hash")

    handle = MemoryHandle(open_memory)
    failed = drive(handle, "memory_search", {"query": "webhook"})
    assert failed.is_error
    assert "the disk is full" in failed.content[0].text
    assert not drive(handle, "memory_status", {}).is_error
    handle.close()
    assert handle.opened is None


def test_cancellation_reaches_the_thread_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan of sessions without an end stops at its next step."""
    started, ended = threading.Event(), threading.Event()
    memory = memctx.open(tmp_path, session_id="s1", embedding_model="hash")
    memory.archive([{"role": "user", "content": "The tulips are watered at dawn"}])
    segment = next(iter(memory.store.segments()))
    store = memory.store

    def endless() -> Any:
        try:
            while True:
                started.set()
                yield segment
        finally:
            ended.set()

    class Endless:
        def __getattr__(self, name: str) -> Any:
            return endless if name == "segments" else getattr(store, name)

    monkeypatch.setattr(memory, "_store", Endless())
    handle = MemoryHandle(lambda: memory)

    async def run() -> None:
        async with Client(make_server(handle)) as client:
            with anyio.move_on_after(0.2):
                await client.call_tool("memory_sessions", {})
            assert started.is_set()
            assert await asyncio.to_thread(ended.wait, 10)

    asyncio.run(run())
    handle.close()


def test_long_lists_are_paged() -> None:
    items = list(range(120))
    first, cursor = take_page(items, None)
    assert (first, cursor) == (items[:50], "50")


def test_pages_of_resources_hold_every_session(tmp_path: Path) -> None:
    for number in range(60):
        with memctx.open(
            tmp_path, session_id=f"s{number}", embedding_model="hash", disk={"durability": "os"}
        ) as memory:
            memory.archive([{"role": "user", "content": f"Parcel {number} left"}])

    async def read_all() -> set[str]:
        found: set[str] = set()
        cursor = None
        async with Client(make_server(handle)) as client:
            while True:
                page = await client.list_resources(cursor=cursor)
                assert len(page.resources) <= 50
                found |= {each.uri for each in page.resources}
                if (cursor := page.next_cursor) is None:
                    return found

    handle = MemoryHandle(
        lambda: memctx.open(
            tmp_path, session_id="reader", embedding_model="hash", cross_session=True
        )
    )
    found = asyncio.run(read_all())
    handle.close()
    assert len(found) == 63

"""The verb `serve`: the resident helper for hooks and plugins."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from memctx.cli.verbs.outcome import Outcome
from memctx.errors import MemctxError
from memctx.serve import client

if TYPE_CHECKING:
    from memctx.cli.verbs.shell import ShellRequest

WAIT_SECONDS = 10.0


def run_server(
    request: ShellRequest,
    *,
    idle_seconds: float = client.IDLE_SECONDS,
    is_background: bool = False,
    is_stopping: bool = False,
) -> Outcome:
    """Serve a store in this process or in one that stays; or stop the one that does."""
    if not client.is_enabled():
        raise MemctxError(f"no helper can run: ${client.SWITCH} is off, or there are no sockets")
    root = str(request.new_store_path())
    if is_stopping:
        status = client.ask("stop", root=root)
        _wait(root, is_running=False)
        return _outcome(root, status, "stopped" if status else "not running")
    if is_background:
        client.start(root)
        return _outcome(root, _wait(root, is_running=True), "serving")
    from memctx.serve import Server  # noqa: PLC0415 - it needs a system with sockets

    server = Server(root, idle_seconds=idle_seconds)
    server.stop_on_signals()
    is_first = server.run(
        on_ready=lambda: sys.stderr.write(f"memctx: serving {server.root} at {server.path}\n")
    )
    if not is_first:
        return _outcome(root, client.ask("hello", root=root), "already running")
    return _outcome(root, server.status(), "stopped")


def _outcome(root: str, status: dict[str, Any] | None, state: str) -> Outcome:
    path = client.socket_path(root)
    data = {"state": state, "socket": path, "protocol": client.PROTOCOL, "helper": status}
    return Outcome(data, (f"{state}: {path}",))


def _wait(root: str, *, is_running: bool) -> dict[str, Any] | None:
    """Wait until a helper answers, or none does any more; return its status."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        status = client.ask("hello", root=root)
        if (status is not None) == is_running:
            return status
        time.sleep(0.02)
    change = "start" if is_running else "stop"
    raise MemctxError(f"the helper did not {change} within {WAIT_SECONDS:g} s")

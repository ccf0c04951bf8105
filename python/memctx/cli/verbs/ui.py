"""The verb `ui`: serve the page to look into the memory."""

from __future__ import annotations

import signal
import sys
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING

from memctx.cli.verbs.outcome import Outcome
from memctx.errors import ConfigError
from memctx.providers.sdk import require_packages

if TYPE_CHECKING:
    from types import FrameType

    from memctx.cli.verbs.shell import ShellRequest
    from memctx.ui import Backend


def run_ui(  # noqa: PLR0913 - as the command has them
    request: ShellRequest,
    *,
    address: str | None = None,
    namespace: str | None = None,
    may_write: bool = False,
    is_quiet: bool = False,
    port: int = 0,
) -> Outcome:
    """Serve the page until the process is interrupted."""
    require_packages("memctx ui", "ui", "starlette", "uvicorn")
    from memctx.cli.verbs.shell import keep_hashed  # noqa: PLC0415 - help does not load the memory
    from memctx.ui import Backend, run  # noqa: PLC0415 - the web framework is slow to import

    if address is None:
        path = request.store_path()
        backend = Backend.of(path, keep_hashed(request.config(), path), may_write=may_write)
        place = str(path)
    else:
        backend = _backend_of_server(request, address, namespace, may_write=may_write)
        place = f"namespace {backend.memories.config.namespace!r}, cached in {backend.path}"

    def show(opened: str) -> None:
        edits = "edits are saved" if may_write else "read-only; --write allows edits"
        sys.stderr.write(f"memctx: {place}, {edits}. Open once, in one browser; Ctrl+C stops:\n")
        sys.stdout.write(f"{opened}\n")
        sys.stdout.flush()
        if not is_quiet:
            webbrowser.open(opened)

    # uvicorn raises the signal again when it has stopped, which must not keep the memory from being closed.
    signal.signal(signal.SIGTERM, _exit)
    with suppress(KeyboardInterrupt):
        run(backend, show, port=port)
    return Outcome({}, ())


def _backend_of_server(
    request: ShellRequest, address: str, namespace: str | None, *, may_write: bool
) -> Backend:
    from memctx.cli.verbs.shell import keep_hashed  # noqa: PLC0415 - as above
    from memctx.replica import cache_path, is_server  # noqa: PLC0415 - with psycopg
    from memctx.ui import Backend  # noqa: PLC0415 - as above

    if not is_server(address):
        raise ConfigError(
            f"address is {address!r}; expected postgresql://…, or --store for a directory"
        )
    config = request.config()
    if namespace is not None:
        config = config.replace(namespace=namespace)
    config = keep_hashed(config, cache_path(address, config))
    with request.status("Fetching sessions"):
        return Backend.of_server(address, config, may_write=may_write)


def _exit(_signal: int, _frame: FrameType | None) -> None:
    sys.exit()

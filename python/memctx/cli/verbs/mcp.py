"""The verb `mcp`: serve the memory to MCP clients."""

from __future__ import annotations

import gc
import os
import secrets
import signal
import sys
from typing import TYPE_CHECKING

from memctx import checks, files
from memctx.cli.verbs.outcome import Outcome
from memctx.errors import ConfigError
from memctx.providers.sdk import require_packages

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from memctx.cli.verbs.shell import ShellRequest
    from memctx.memory import Memory

TOKEN_VARIABLE = "MEMCTX_MCP_TOKEN"  # noqa: S105 - the name of a variable


def run_mcp(  # noqa: PLR0913 - one for each flag
    request: ShellRequest,
    *,
    session_id: str = "mcp",
    all_sessions: bool = False,
    project: Path | None = None,
    max_tokens: int = 4_000,
    is_http: bool = False,
    host: str = "127.0.0.1",
    port: int = 8765,
    token_file: Path | None = None,
    origins: tuple[str, ...] = (),
) -> Outcome:
    """Serve the memory until the client leaves or the process is interrupted."""
    if project is not None and all_sessions:
        raise ConfigError("--project and --all-sessions are given; expected one of them")
    require_packages("memctx mcp", "mcp", "mcp")
    gc.disable()  # the SDK defines thousands of classes, which collections would look through again and again
    from memctx.mcp import (  # noqa: PLC0415 - the SDK is slow to import
        HttpOptions,
        MemoryHandle,
        make_server,
        run_http,
        run_stdio,
    )

    handle = MemoryHandle(
        lambda: (
            _open(request, session_id, all_sessions=all_sessions)
            if project is None
            else _open_project(request, session_id, project)
        )
    )
    server = make_server(handle, max_tokens=max_tokens)
    gc.freeze()
    gc.enable()
    try:
        if is_http:
            options = HttpOptions(_find_token(token_file), host, port, tuple(origins))
            # uvicorn raises the signal again when it has stopped, which must not keep the memory from being closed.
            signal.signal(signal.SIGTERM, _exit)
            run_http(server, options, on_ready=lambda url: _tell(f"memctx: serving MCP at {url}"))
        else:
            run_stdio(server, handle.close)
    finally:
        handle.close()
    return Outcome({}, ())


def _open(request: ShellRequest, session_id: str, *, all_sessions: bool) -> Memory:
    """Open the memory as an agent does; the server archives nothing, so there is nothing to extract."""
    from memctx import registry  # noqa: PLC0415 - the server is ready before
    from memctx.cli.verbs.shell import keep_hashed  # noqa: PLC0415 - as above
    from memctx.config import Config  # noqa: PLC0415 - as above

    path = request.new_store_path()
    config = keep_hashed(Config.load(file=request.config_file), path)
    config = config.replace(knowledge_extraction=False)
    if all_sessions:
        config = config.replace(cross_session=True)
    return registry.open(path, session_id=session_id, config=config)


def _open_project(request: ShellRequest, session_id: str, project: Path) -> Memory:
    """Open a memory that reads the sessions of a project; unless the settings say that each is by itself."""
    from memctx.cli.verbs.shell import keep_hashed  # noqa: PLC0415 - the server is ready before
    from memctx.config import Config  # noqa: PLC0415 - as above
    from memctx.hosts.hooks import HostSession, ProjectMemory, find_project  # noqa: PLC0415 - as above

    session = HostSession("mcp", find_project(str(project)), session_id)
    path = request.new_store_path()
    config = keep_hashed(Config.load(file=request.config_file), path)
    if not config.cross_session and "cross_session" in config.given():
        return _open(request, session.session_id, all_sessions=False)
    config = config.replace(knowledge_extraction=False, storage_path=path)
    return ProjectMemory(config, session)


def _find_token(file: Path | None) -> str:
    """Return the token in a file or in the environment; make one and print it if there is none."""
    if file is not None:
        token = files.read(checks.path(file)).decode("utf-8", "replace").strip()
    else:
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if token:
        return token
    if file is not None:
        raise ConfigError(f"{file}: it is empty; expected a token")
    made = secrets.token_urlsafe(24)
    _tell(f"memctx: {TOKEN_VARIABLE} is not set; the token of this run is {made}")
    return made


def _tell(words: str) -> None:
    """Write to stderr: stdout belongs to the protocol."""
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


def _exit(_signal: int, _frame: FrameType | None) -> None:
    sys.exit()

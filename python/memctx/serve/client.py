"""Client of the resident helper, for programs that must start fast.

Requests and responses are JSON, one a line, over a Unix socket that only its user can reach. The name of the socket
depends on the store, on the installed build of memctx and on the ``MEMCTX_*`` settings in the environment, so that a
helper never answers for another store, another version or other settings.

>>> ask("hello", root="/nowhere") is None  # no helper runs there
True
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROTOCOL = 1
SWITCH = "MEMCTX_SERVE"
"""Variable of the environment: ``off`` neither asks nor starts a helper."""
MAX_LINE = 64 * 1024 * 1024
"""Most bytes of a request or a response."""
IDLE_SECONDS = 600.0
"""Time without requests after which a helper exits."""
START_PAUSE = 20.0
"""Seconds between two attempts to start a helper."""
_OFF = frozenset({"0", "false", "no", "off"})
_KIND, _FOLDER, _OTHERS = 0o170000, 0o040000, 0o077  # as in `stat`, which is one more import
_BUILD = ("_core.abi3.so", "_core.so", "__init__.py")


def ask(
    method: str,
    params: Mapping[str, Any] | None = None,
    timeout: float = 10.0,
    *,
    root: str | None = None,
) -> dict[str, Any] | None:
    """Ask the helper and return its result; None if no helper is there, or it fails or takes longer than ``timeout``.

    ``root`` is the directory of the store, by default that of the environment.
    """
    response = request(method, params, timeout, root=root)
    return None if response is None else response.get("result")


def request(
    method: str,
    params: Mapping[str, Any] | None = None,
    timeout: float = 10.0,
    *,
    root: str | None = None,
) -> dict[str, Any] | None:
    """Return the response of the helper, with a ``result`` or an ``error``; None if there is none in time."""
    if not is_enabled():
        return None
    path = socket_path(root)
    if not _is_private(os.path.dirname(path)):  # noqa: PTH120 - pathlib is slow to import
        return None
    asked = {"version": PROTOCOL, "id": 1, "method": method, "params": params or {}}
    asked["store"] = store_root(root)
    deadline = time.monotonic() + timeout
    try:
        line = json.dumps(asked).encode() + b"\n"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout)
            connection.connect(path)
            connection.sendall(line)
            answer = _read_line(connection, deadline)
        response: dict[str, Any] = json.loads(answer)
    except (OSError, ValueError):
        return None
    return response if response.get("version") == PROTOCOL else None


def start(root: str | None = None) -> bool:
    """Start a helper for the next call, and return at once; False if it is switched off or was started just now.

    Call it when the answer is written: it takes about a millisecond, but the helper then uses the processor.
    """
    if not is_enabled() or not _try_to_claim(marker_path(root)):
        return False
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-m", "memctx.serve", store_root(root)],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, number) for number in range(3)],
            setsid=True,
        )
    except (OSError, NotImplementedError):
        return False
    finally:
        os.close(null)
    return True


def is_enabled() -> bool:
    """Return whether this system has Unix sockets and the environment does not switch the helper off."""
    return hasattr(socket, "AF_UNIX") and os.environ.get(SWITCH, "").lower() not in _OFF


def store_root(root: str | None = None) -> str:
    """Return the directory of the store, with links resolved."""
    found = root or os.environ.get("MEMCTX_STORAGE_PATH") or "~/.memctx"
    return os.path.realpath(os.path.expanduser(found))  # noqa: PTH111 - as above


def socket_path(root: str | None = None) -> str:
    """Return the path of the socket; its folder is made by the helper, for its user alone."""
    settings = sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith("MEMCTX_") and name not in (SWITCH, "MEMCTX_STORAGE_PATH")
    )
    identity = "\0".join((store_root(root), _build(), str(PROTOCOL), *settings))
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    # The system limits the path of a socket to about 100 bytes.
    is_short = 0 < len(runtime) < 60  # noqa: PLR2004
    folder = f"{runtime}/memctx" if is_short else f"/tmp/memctx-{os.getuid()}"  # noqa: S108 - checked to be private
    return f"{folder}/{_hash(identity):016x}.sock"


def marker_path(root: str | None = None) -> str:
    """Return the path of the file that keeps two processes from starting a helper at once."""
    return f"{socket_path(root)}.started"


def _hash(text: str) -> int:
    """Return the 64-bit FNV-1a hash of a text; hashlib is slow to import, and the helper checks the store itself."""
    found = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogateescape"):
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found


def _build() -> str:
    """Return what tells one installed build of memctx from another."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    for name in _BUILD:
        try:
            found = os.stat(f"{package}/{name}")  # noqa: PTH116
        except OSError:
            continue
        return f"{package} {found.st_mtime_ns} {found.st_size}"
    return package


def make_folder(folder: str) -> None:
    """Make the folder of the socket; raise `PermissionError` if it is there and others can enter it."""
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
    except FileExistsError:
        if not _is_private(folder):
            raise PermissionError(f"{folder}: it is not private to its user") from None


def _is_private(folder: str) -> bool:
    """Return whether a folder belongs to this user, and no other user can enter it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    is_folder = found.st_mode & _KIND == _FOLDER
    return is_folder and found.st_uid == os.getuid() and not found.st_mode & _OTHERS


def _read_line(connection: socket.socket, deadline: float) -> bytes:
    """Read up to the end of the line or of the connection."""
    chunks: list[bytes] = []
    size = 0
    while size <= MAX_LINE:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        chunk = connection.recv(1 << 16)
        chunks.append(chunk)
        size += len(chunk)
        if not chunk or chunk.endswith(b"\n"):
            return b"".join(chunks)
    raise ValueError("the response is too long")


def _try_to_claim(marker: str) -> bool:
    """Return whether no process tried to start a helper a short while ago, and note that this one does."""
    try:
        make_folder(os.path.dirname(marker))  # noqa: PTH120
        try:
            if 0 <= time.time() - os.stat(marker).st_mtime < START_PAUSE:  # noqa: PTH116
                return False
        except FileNotFoundError:
            pass
        descriptor = os.open(marker, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        os.utime(descriptor)
        os.close(descriptor)
    except OSError:
        return False
    return True

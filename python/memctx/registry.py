"""Registry of the open memories of this process: one for each directory and session.

>>> import memctx, tempfile
>>> folder = tempfile.mkdtemp()
>>> memory = memctx.open(folder, session_id="s1")
>>> memctx.open(folder, session_id="s1") is memory, memctx.registry.runtime("s1") is memory
(True, True)
>>> memory.close(), memory.closed  # two opens, two closes
(None, False)
>>> memory.close(), memory.closed
(None, True)
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack

from memctx import checks, replica
from memctx._shared_session import SharedSession
from memctx.config import Config
from memctx.errors import ConfigError, MemctxError
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Generator
    from os import PathLike

    from memctx.config.settings import OpenArguments

__all__ = ["bind", "memories", "of", "open", "runtime"]

logger = logging.getLogger("memctx.registry")

Key: TypeAlias = tuple[str, str]  # the directory with links resolved, and the session


@dataclass(slots=True)
class _Entry:
    memory: Memory
    opened: int = 1
    """Callers that have not closed it; below 0 while it closes after it was kept without one."""
    server: str | None = None
    """Name of the server of which its directory is the cache."""


_lock = threading.RLock()
_entries: dict[Key, _Entry] = {}
_bound: dict[int, tuple[weakref.ref[object], Memory]] = {}
_fork_is_watched = False
_kept = 0


@checks.public
def open(  # noqa: A001 - public as `memctx.open`
    path: str | PathLike[str] | None = None,
    *,
    session_id: str,
    context_window: int | None = None,
    config: Config | None = None,
    **settings: Unpack[OpenArguments],
) -> Memory:
    """Open the memory of a session in a directory, which is created if it does not exist, or on a PostgreSQL server.

    Settings come from the arguments, then from ``config``; without one, from the environment (see `Config.load`).
    Opening an open memory returns the same object, and each `open` needs its own `Memory.close`; other settings than
    it has raise `ConfigError`. The call returns at once: the store loads in the background.

    ``path`` may be the address of a server, ``"postgresql://…"``: the setting ``namespace`` then tells teams apart, and
    a directory caches the sessions that are opened here (see `docs/guides/postgres.md`). The call waits until the
    session is there, at most ``postgres.timeout`` seconds.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=200_000) as memory:
    ...     memory.archive([{"role": "user", "content": "Deploy on Friday, not before"}]).added
    1
    """
    for name, text in (("path", path), ("session_id", session_id)):
        if text == "":
            raise ConfigError(f"{name} is empty; expected a text")
    wanted = Config.load(**settings) if config is None else config.replace(**settings)
    if context_window is not None:
        wanted = wanted.replace(context_window=context_window)
    address = str(path) if replica.is_server(path) else None
    server = None if address is None else replica.server_name(address)
    if address is None:
        folder = Path.cwd() / checks.path(wanted.storage_path if path is None else path)
    else:
        folder = replica.cache_path(address, wanted)
    key = (os.path.realpath(folder), session_id)
    shared: SharedSession | None = None
    try:
        while True:
            with _lock:
                memory = _opened(key, wanted, server)
                if memory is None and (address is None or shared is not None):
                    memory = _new(key, wanted.replace(storage_path=folder), shared, server)
                    shared = None
            if memory is not None:
                return memory
            # Callers that open other memories need not wait for the server.
            shared = SharedSession(str(address), wanted.replace(storage_path=folder), session_id)
    finally:
        if shared is not None:
            shared.close()


def _opened(key: Key, wanted: Config, server: str | None) -> Memory | None:
    """Return a memory that is open, for one more caller."""
    entry = _entries.get(key)
    if entry is None:
        return None
    is_other_server = server is not None and entry.server != server
    if not entry.opened and (is_other_server or not _is_same(entry.memory, wanted)):
        _close(key)  # kept open, but of no use
        return None
    if server is not None:
        replica.check_server(key[0], entry.server, server)
    _check_same(entry.memory, wanted)
    entry.opened += 1
    return entry.memory


def _new(key: Key, config: Config, shared: SharedSession | None, server: str | None) -> Memory:
    _watch_fork()
    memory = Memory(config, session_id=key[1], release=partial(_release, key), shared=shared)
    _entries[key] = _Entry(memory, server=server)
    return memory


@checks.public
def runtime(session_id: str, *, path: str | PathLike[str] | None = None) -> Memory:
    """Return the open memory of a session; ``path`` selects one of several with that id.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="found by name") as memory:
    ...     runtime("found by name") is memory
    True
    """
    folder = None if path is None else os.path.realpath(checks.path(path))
    with _lock:
        found = [
            entry.memory
            for (where, session), entry in _entries.items()
            if session == session_id and folder in {None, where}
        ]
        if len(found) == 1:
            return found[0]
        known = ", ".join(sorted({repr(session) for _, session in _entries})) or "none"
    if found:
        folders = ", ".join(sorted(memory.store.path for memory in found))
        raise ConfigError(
            f"session {session_id!r} is open in {folders}; expected path= to name one"
        )
    raise ConfigError(f"session {session_id!r} is not open; open sessions: {known}")


def memories() -> list[Memory]:
    """Return every open memory, in the order they were opened.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="one of many") as memory:
    ...     memory in memories()
    True
    """
    with _lock:
        return [entry.memory for entry in _entries.values()]


@checks.public
def bind(owner: object, memory: Memory) -> None:
    """Bind a memory to an object of the host, such as its session, which is held weakly and by identity.

    >>> import memctx, tempfile
    >>> class Session: ...
    >>> session = Session()
    >>> with memctx.open(tempfile.mkdtemp(), session_id="bound") as memory:
    ...     bind(session, memory)
    ...     of(session) is memory
    True
    """
    if not isinstance(memory, Memory):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"memory must be an open Memory, not {type(memory).__name__}")
    key = id(owner)

    def forget(gone: weakref.ref[object]) -> None:
        if key in _bound and _bound[key][0] is gone:
            del _bound[key]

    try:
        _bound[key] = (weakref.ref(owner, forget), memory)
    except TypeError:
        kind = type(owner).__name__
        raise ConfigError(
            f"{kind} objects cannot be bound; expected one that supports weak references"
        ) from None


def of(owner: object) -> Memory | None:
    """Return the open memory bound to an object; None if there is none.

    >>> of(object()) is None
    True
    """
    found = _bound.get(id(owner))
    if found is None or found[0]() is not owner or found[1].closed:
        return None
    return found[1]


@contextmanager
def keep_open(count: int) -> Generator[None]:
    """Keep up to ``count`` memories open when their callers close them, for processes that open them again and again.

    >>> import memctx, tempfile
    >>> with memctx.registry.keep_open(1), memctx.open(tempfile.mkdtemp(), session_id="s1") as first:
    ...     first.close()
    ...     memctx.open(tempfile.mkdtemp(), session_id="s2").close()
    ...     first.closed  # one is kept, the newest
    True
    """
    global _kept  # noqa: PLW0603 - as there is one registry
    _kept = count
    try:
        yield
    finally:
        _kept = 0
        with _lock:
            _close_all_but(0)


def _release(key: Key, memory: Memory) -> bool:
    """Count one `close`; return whether it was the last one."""
    with _lock:
        entry = _entries.get(key)
        if entry is None or entry.memory is not memory:  # another thread was faster
            return False
        entry.opened -= 1
        if entry.opened > 0:
            return False
        if _kept and entry.opened == 0:
            _entries[key] = _entries.pop(key)  # the newest last
            _close_all_but(_kept)
            return False
        del _entries[key]
        return True


def _close_all_but(count: int) -> None:
    """Close the memories without a caller, the oldest first, until ``count`` are left."""
    idle = [key for key, entry in _entries.items() if not entry.opened]
    for key in idle[: max(len(idle) - count, 0)]:
        _close(key)


def _close(key: Key) -> None:
    """Close a memory that is kept without a caller."""
    try:
        _entries[key].memory.close()  # one more than there were callers
    except (MemctxError, OSError):
        logger.exception("%s not closed", key)


def _is_same(memory: Memory, wanted: Config) -> bool:
    """Return whether a memory has the very settings; its caller cannot know what an earlier one asked for."""
    settings = [{**each.given(), "storage_path": None} for each in (memory.config, wanted)]
    return settings[0] == settings[1]


def _check_same(memory: Memory, wanted: Config) -> None:
    for name, value in wanted.given().items():
        has = attrgetter(name)(memory.config)
        if name != "storage_path" and value != has:
            raise ConfigError(f"{name} is {value!r}; {memory!r} is open with {has!r}")


def _watch_fork() -> None:
    """Reopen every open memory in forked children, from now on."""
    global _fork_is_watched  # noqa: PLW0603 - one process has one list of fork handlers
    if not _fork_is_watched and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_reopen_all)
    _fork_is_watched = True


def _reopen_all() -> None:
    global _lock  # noqa: PLW0603 - a thread that is not here may hold the old one
    _lock = threading.RLock()
    replica.reopen_after_fork()
    for entry in list(_entries.values()):
        try:
            entry.memory.reopen()
        except (MemctxError, OSError):
            logger.exception("%r not reopened after fork", entry.memory)

"""`session`: names the conversation of the calls in a block, for clients that serve many."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Generator

_current: ContextVar[str | None] = ContextVar("memctx_session", default=None)


@contextmanager
def session(session_id: str, agent: str | None = None) -> Generator[str]:
    """Set the session of all calls in a block, of this thread or task and of the tasks that it starts.

    ``agent`` gives each of several agents in one conversation a session of its own. Both are taken as they are: an id
    that a user may choose must not contain a slash where agents are named.

    >>> with session("alice", agent="planner") as name:
    ...     name
    'alice/planner'

    Raises:
        ConfigError: ``session_id`` is empty.
    """
    if not session_id:
        raise ConfigError("session_id is empty; expected the id of the conversation")
    name = f"{session_id}/{agent}" if agent else session_id
    token = _current.set(name)
    try:
        yield name
    finally:
        # A generator may be closed in another context than it began in, which never had the name.
        with suppress(ValueError):
            _current.reset(token)


def current_session() -> str | None:
    """Return the session of the `session` block around the call; None outside of one."""
    return _current.get()


def check_session(session_id: str) -> None:
    """Raise `ConfigError` inside of a `session` block for another session than this one, whose memory is open."""
    current = current_session()
    if current is not None and current != session_id:
        raise ConfigError(
            f"the session is {current!r}, but the open memory is of {session_id!r}; expected the directory of a store"
        )

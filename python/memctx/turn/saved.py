"""Where the state of a session is kept: ``sessions/<id>.json`` of the store."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from memctx import session_file
from memctx.turn.state import State

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

FOLDER = "sessions"

logger = logging.getLogger("memctx.turn")


def path_of(store: str | PathLike[str], session_id: str) -> Path:
    """The file of a session, whose id may hold anything."""
    return session_file.path_of(store, FOLDER, session_id, ".json")


def load(path: Path, session_id: str) -> State:
    """The state that was saved; an empty one if there is none, or it cannot be read, which is logged."""
    try:
        document = session_file.read(path)
        # Where names differ in case only, one file serves two sessions.
        is_ours = document.get("session") == session_id
        return State.from_json(document) if is_ours else State()
    except FileNotFoundError:
        return State()
    except (OSError, ValueError) as error:
        logger.warning("%s: not usable, the session starts anew: %s", path, error)
        return State()


def save(path: Path, session_id: str, state: State) -> None:
    """Replace what was saved. It is derived from what the host still has, so no sync is waited for."""
    session_file.replace(path, {"session": session_id, **state.to_json()}, is_durable=False)

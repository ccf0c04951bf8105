"""Where the state of a session is kept: ``sessions/<id>.json`` of the store."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from memctx import session_file
from memctx.turn.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    from memctx.turn.state import Decision

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


class Trims:
    """What trims took out, as JSON. It stays the same for many turns, and is most of what is saved."""

    __slots__ = ("_json", "_trimmed")

    def __init__(self) -> None:
        self._trimmed: Mapping[int, Decision] = {}
        self._json = "[]"

    def of(self, state: State) -> str:
        """The trims of a state, which nobody changes."""
        if state.trimmed is not self._trimmed:
            self._json = session_file.json_of(state.trims_to_json())
            self._trimmed = state.trimmed
        return self._json


def save(path: Path, session_id: str, state: State, trims: Trims | None = None) -> None:
    """Replace what was saved. It is derived from what the host still has, so no sync is waited for."""
    rest = session_file.json_of({"session": session_id, **state.rest_to_json()})
    trimmed = (trims or Trims()).of(state)
    session_file.replace(path, f'{rest[:-1]},"trimmed":{trimmed}}}', is_durable=False)

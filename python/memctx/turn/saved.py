"""Where the state of a session is kept: ``sessions/<id>.json`` of the store, replaced as a whole."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from memctx.turn.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from memctx.turn.state import Decision

FOLDER = "sessions"
# File systems take 255 bytes; some need room for a suffix of their own.
LONGEST_NAME = 180

logger = logging.getLogger("memctx.turn")


def path_of(store: str | PathLike[str], session_id: str) -> Path:
    """The file of a session, whose id may hold anything."""
    name = quote(session_id.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")
    if len(name) > LONGEST_NAME:
        digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: LONGEST_NAME - 33]}~{digest[:32]}"
    return Path(store) / FOLDER / f"{name}.json"


def load(path: Path, session_id: str) -> State:
    """The state that was saved; an empty one if there is none, or it cannot be read, which is logged."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
        document = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        # Where names differ in case only, one file serves two sessions.
        is_ours = document.get("session") == session_id
        return State.from_json(document) if is_ours else State()
    except FileNotFoundError:
        return State()
    except (OSError, ValueError, RecursionError) as error:
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
            self._json = _json(state.trims_to_json())
            self._trimmed = state.trimmed
        return self._json


def save(path: Path, session_id: str, state: State, trims: Trims | None = None) -> None:
    """Replace what was saved. It is derived from what the host still has, so no sync is waited for."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    rest = _json({"session": session_id, **state.rest_to_json()})
    trimmed = (trims or Trims()).of(state)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f'{rest[:-1]},"trimmed":{trimmed}}}')
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))  # far quicker than `dump`

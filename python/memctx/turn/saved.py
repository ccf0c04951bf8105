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

    from memctx.turn.state import Block, Decision

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


class Written:
    """The parts of a state as JSON that make up most of it, and mostly stay or get longer from turn to turn."""

    __slots__ = ("_blocks", "_link", "_links", "_trimmed", "_trims")

    def __init__(self) -> None:
        self._trimmed: Mapping[int, Decision] = {}
        self._trims = "[]"
        self._blocks: list[tuple[Block, str]] = []
        self._links: list[str] = []
        self._link = 0

    def of(self, state: State) -> str:
        """The members of a state, which nobody changes."""
        if state.trimmed is not self._trimmed:
            self._trims = session_file.json_of(state.trims_to_json())
            self._trimmed = state.trimmed
        blocks, links = self._blocks_of(state), self._links_of(state)
        return f'"blocks":[{blocks}],"sent":[{links}],"trimmed":{self._trims}'

    def _blocks_of(self, state: State) -> str:
        known = self._blocks
        self._blocks = [
            known[place]
            if place < len(known) and known[place][0] is block
            else (block, session_file.json_of(block.to_json()))
            for place, block in enumerate(state.blocks)
        ]
        return ",".join(json for _, json in self._blocks)

    def _links_of(self, state: State) -> str:
        known = len(self._links)
        # A link stands for all before it.
        if not (known <= len(state.sent) and known and state.sent[known - 1] == self._link):
            self._links = []
        self._links += map(str, state.sent[len(self._links) :])
        self._link = state.sent[-1] if state.sent else 0
        return ",".join(self._links)


def save(path: Path, session_id: str, state: State, written: Written | None = None) -> None:
    """Replace what was saved. It is derived from what the host still has, so no sync is waited for."""
    rest = session_file.json_of({"session": session_id, **state.rest_to_json()})
    most = (written or Written()).of(state)
    session_file.replace(path, f"{rest[:-1]},{most}}}", is_durable=False)

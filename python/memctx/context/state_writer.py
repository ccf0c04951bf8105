"""Persistence of a session's states: the file ``sessions/<id>.json`` of the store, and the thread that writes it.

The host still holds every message of a turn, so no caller has to wait for the disk. Messages are archived before the
state that says they were removed is saved: a process that dies in between decides the same again.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

from memctx import store_files
from memctx.context.state import State
from memctx.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from memctx._core import Conversation
    from memctx.context.read import SourceIndex
    from memctx.context.state import Block, Decision, States

    Archive = Callable[[Conversation, Sequence[SourceIndex]], None]
    """Stores some messages of a conversation; raises if that fails."""

FOLDER = "sessions"
VERSION = 2
# Version of files with the state of a single conversation.
SINGLE = 1
# Interval between saves of turns that decided nothing.
SECONDS_BETWEEN_SAVES = 60.0

logger = logging.getLogger("memctx.context")


def path_of(store: str | PathLike[str], session_id: str) -> Path:
    """Return the file of a session, whose id may hold any characters."""
    return store_files.path_of(store, FOLDER, session_id, ".json")


def load(path: Path, session_id: str) -> States:
    """Return the saved states; none if there are none, or if they cannot be read, which is logged."""
    try:
        document = store_files.read(path)
        # Where file names ignore case, one file serves two sessions.
        is_ours = document.get("session") == session_id
        return _parse(document) if is_ours else ()
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, StoreError) as error:
        logger.warning("%s: not usable, the session starts again: %s", path, error)
        return ()


def save(path: Path, session_id: str, states: States, cache: StatesJson | None = None) -> None:
    """Replace the saved states. The host still has the messages they derive from, so no sync is waited for."""
    rest = store_files.json_of({"session": session_id, "version": VERSION})
    most = (cache or StatesJson()).encode(states)
    store_files.replace(path, f'{rest[:-1]},"conversations":{most}}}', is_durable=False)


def _parse(document: dict[str, Any]) -> States:
    version = document.get("version")
    if version == SINGLE:
        return (State.from_json(document),)
    if version != VERSION:
        raise ValueError(f"version {version!r}; expected {VERSION}")
    found: object = document.get("conversations")
    if not isinstance(found, list):
        raise ValueError(  # noqa: TRY004 - the file has a wrong value
            f"conversations is {type(found).__name__}; expected a list"
        )
    return tuple(map(State.from_json, cast("list[dict[str, Any]]", found)))


class StateJson:
    """JSON of one state, with a cache of its larger parts, which mostly stay or get longer from turn to turn."""

    __slots__ = ("_blocks", "_link", "_links", "_state", "_trimmed", "_trims", "_whole")

    def __init__(self) -> None:
        self._state: State | None = None
        self._whole = ""
        self._trimmed: Mapping[int, Decision] = {}
        self._trims = "[]"
        self._blocks: list[tuple[Block, str]] = []
        self._links: list[str] = []
        self._link = 0

    def encode(self, state: State) -> str:
        """Return a state as a JSON object. Of a session's conversations, all but one mostly stay as they were."""
        if state is not self._state:
            rest = store_files.json_of(state.rest_to_json())
            self._whole = f"{rest[:-1]},{self.encode_large(state)}}}"
            self._state = state
        return self._whole

    def encode_large(self, state: State) -> str:
        """Return the larger members of a state."""
        if state.trimmed is not self._trimmed:
            self._trims = store_files.json_of(state.trims_to_json())
            self._trimmed = state.trimmed
        blocks, links = self._encode_blocks(state), self._encode_links(state)
        return f'"blocks":[{blocks}],"sent":[{links}],"trimmed":{self._trims}'

    def _encode_blocks(self, state: State) -> str:
        known = self._blocks
        self._blocks = [
            known[index]
            if index < len(known) and known[index][0] is block
            else (block, store_files.json_of(block.to_json()))
            for index, block in enumerate(state.blocks)
        ]
        return ",".join(json for _, json in self._blocks)

    def _encode_links(self, state: State) -> str:
        known = len(self._links)
        # A link stands for all before it.
        if not (known <= len(state.sent) and known and state.sent[known - 1] == self._link):
            self._links = []
        self._links += map(str, state.sent[len(self._links) :])
        self._link = state.sent[-1] if state.sent else 0
        return ",".join(self._links)


class StatesJson:
    """JSON of the states of a session."""

    def __init__(self) -> None:
        self._states: dict[int, StateJson] = {}

    def encode(self, states: States) -> str:
        """Return the states as a JSON array."""
        self._states = {state.id: self._states.get(state.id) or StateJson() for state in states}
        return f"[{','.join(self._states[state.id].encode(state) for state in states)}]"


class StateWriter:
    """Archives messages and saves states in a thread of its own, in order."""

    def __init__(self, path: Path, session_id: str, archive: Archive) -> None:
        self._path = path
        self._session_id = session_id
        self._archive = archive
        self._worker: ThreadPoolExecutor | None = None
        self._archiving: Future[None] | None = None
        self._saving: Future[None] | None = None
        self._saved_at = 0.0
        self._json = StatesJson()
        self._counting: Future[None] | None = None
        self._keeping: Future[None] | None = None

    def load(self) -> States:
        """Return the saved states."""
        return load(self._path, self._session_id)

    def write(
        self,
        states: States,
        conversation: Conversation,
        new: Sequence[SourceIndex],
        *,
        is_new: bool,
    ) -> None:
        """Archive the new messages, then save the states, which are new if the turn decided anything."""
        is_due = is_new or time.time() - self._saved_at > SECONDS_BETWEEN_SAVES
        if is_due:
            self._saved_at = time.time()
        if new:

            def work() -> None:
                self._archive(conversation, new)
                if is_due:
                    self._save(states)

            self._archiving = self._submit(work)
        elif is_due:
            self._saving = self._submit(lambda: self._save(states))

    def wait_for_archive(self) -> None:
        """Wait until the messages of the last turn and its answer are in the store; raise if messages are not."""
        keeping, self._keeping = self._keeping, None
        if keeping is not None:
            keeping.result()
        archiving, self._archiving = self._archiving, None
        if archiving is not None:
            archiving.result()

    def keep_answer(self, store: Callable[[], None]) -> None:
        """Store an answer in the background, by a function that raises nothing."""
        self._keeping = self._submit(store)

    def count(self, update: Callable[[], None]) -> None:
        """Update counters in the background."""
        self._counting = self._submit(update)

    def wait_for_counts(self) -> None:
        """Wait until all counters are updated."""
        counting, self._counting = self._counting, None
        if counting is not None:
            counting.result()

    def close(self, states: States | None) -> None:
        """Save the last states, after everything else."""
        try:
            if states:
                self._submit(lambda: self._save(states)).result()
        finally:
            if self._worker is not None:
                self._worker.shutdown()

    def _submit(self, work: Callable[[], None]) -> Future[None]:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memctx-keep")
        return self._worker.submit(work)

    def _save(self, states: States) -> None:
        """Save the states; on failure log it, since this process still has them."""
        try:
            save(self._path, self._session_id, states, self._json)
        except (OSError, StoreError) as error:
            logger.warning("the state of the session is not saved: %s", error)

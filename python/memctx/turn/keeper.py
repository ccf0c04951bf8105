"""`Keeper`: puts away what a turn decided, beside the host's own work.

The host still holds every message of the turn, so nobody has to wait for the disk. What left the context is written
before the state that says so: a process that dies in between decides the same again.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from memctx.errors import StoreError
from memctx.turn import saved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memctx._core import Conversation
    from memctx.turn.state import State

    Archive = Callable[[Conversation, Sequence[int]], None]
    """Stores some messages of a conversation; an exception if that cannot be."""

logger = logging.getLogger("memctx.turn")

# The time of a turn that decided nothing is saved this seldom.
SECONDS_BETWEEN_SAVES = 60.0


class Keeper:
    """Archives and saves in a thread of its own, in order."""

    def __init__(self, path: Path, session_id: str, archive: Archive) -> None:
        self._path = path
        self._session_id = session_id
        self._archive = archive
        self._worker: ThreadPoolExecutor | None = None
        self._archiving: Future[None] | None = None
        self._saving: Future[None] | None = None
        self._saved_at = 0.0
        self._written = saved.Written()

    def load(self) -> State:
        """The state that was saved last."""
        return saved.load(self._path, self._session_id)

    def keep(
        self, state: State, conversation: Conversation, leaving: Sequence[int], *, is_new: bool
    ) -> None:
        """Archive the messages that are leaving and save a state, which ``is_new`` if anything was decided."""
        if leaving:
            self._archiving = self._submit(lambda: self._put_away(state, conversation, leaving))
        elif is_new or time.time() - self._saved_at > SECONDS_BETWEEN_SAVES:
            self._saved_at = time.time()
            self._saving = self._submit(lambda: self._save(state))

    def settle(self) -> None:
        """Wait until what left the context is in the store; an exception if it could not be stored."""
        archiving, self._archiving = self._archiving, None
        if archiving is not None:
            archiving.result()

    def close(self, state: State) -> None:
        """Save the last state, after everything else."""
        try:
            self._submit(lambda: self._save(state)).result()
        finally:
            if self._worker is not None:
                self._worker.shutdown()

    def _submit(self, work: Callable[[], None]) -> Future[None]:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memctx-keep")
        return self._worker.submit(work)

    def _put_away(self, state: State, conversation: Conversation, leaving: Sequence[int]) -> None:
        self._archive(conversation, leaving)
        self._save(state)

    def _save(self, state: State) -> None:
        """Save the state; if that cannot be, this process still has it."""
        try:
            saved.save(self._path, self._session_id, state, self._written)
        except (OSError, StoreError) as error:
            logger.warning("the state of the session is not saved: %s", error)

"""`Vectors`: sends the vectors of shipped segments to the server, once they are made."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING

from memctx.errors import (
    LateError,
    MemctxError,
    ServerUnavailableError,
    StoreError,
    StoreLockedError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memctx._core import Store
    from memctx.postgres import Server
    from memctx.replica.attached import Attached

logger = logging.getLogger("memctx.replica")

TRANSIENT = (LateError, ServerUnavailableError, StoreLockedError)
"""Failures after which the same call may succeed; a pass over a cache is then repeated as a whole."""
BATCH = 64
"""Segments in one statement: a caller who waits for the connection waits for a batch."""
MOST_MISSING = 20_000
SECONDS_BETWEEN_LOOKS = 1.0
NOT_SENT = frozenset({"hash"})
"""Models whose vectors say no more than the words do, which the server has."""


class Vectors:
    """The vectors of attached sessions that the server lacks."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.fault: MemctxError | None = None
        """The last refusal of vectors, until all are sent. It does not pass, and concerns nothing but vectors."""
        self._logged: set[str] = set()
        self._waiting: dict[str, set[str]] = defaultdict(set)
        self._models: dict[tuple[str, str, int], int] = {}
        self._filled: set[str] = set()
        self._looked = 0.0

    def note(self, shipped: Iterable[tuple[str, str]]) -> None:
        """Note that the server has segments, each given by its session and id."""
        for session_id, segment_id in shipped:
            self._waiting[session_id].add(segment_id)

    def is_due(self) -> bool:
        """Return whether to look again for vectors that were not made yet."""
        is_old = time.monotonic() - self._looked > SECONDS_BETWEEN_LOOKS
        return is_old and self.fault is None and any(self._waiting.values())

    def send(self, attached: Sequence[Attached], *, is_wanted: Callable[[], bool]) -> bool:
        """Send the vectors that are there, and at first those that an earlier process did not get to.

        Stop between batches once ``is_wanted`` says that a caller waits for something else; return whether all were
        sent, or refused: `fault` then has the reason, and they are tried again with the next call.
        """
        self._looked = time.monotonic()
        stores = {each.session_id: store for each in attached if (store := each.store) is not None}
        is_refused = False
        for session_id, store in stores.items():
            try:
                if not self._send_session(session_id, store, is_wanted):
                    return False
            except TRANSIENT:
                raise
            except MemctxError as error:
                is_refused = True
                self._report(error)
        if not is_refused:
            self.fault = None
        for session_id in list(self._waiting):
            if session_id not in stores:  # of other processes, which see to it
                del self._waiting[session_id]
        self._filled &= set(stores)
        return True

    def model_of(self, store: Store) -> int | None:
        """Return the number that the server has for the model of a store; None if its vectors are not sent."""
        try:
            return self._model(store)
        except TRANSIENT:
            raise
        except MemctxError as error:
            self._report(error)
            return None

    def _report(self, error: MemctxError) -> None:
        self.fault = error
        text = str(error)
        if text not in self._logged:
            self._logged.add(text)
            logger.warning(
                "the server refuses vectors, so searches across sessions go by words: %s", text
            )

    def _send_session(self, session_id: str, store: Store, is_wanted: Callable[[], bool]) -> bool:
        model = self._model(store)
        if model is None:
            self._waiting.pop(session_id, None)
            return True
        if session_id not in self._filled:
            self._filled.add(session_id)
            found = self._server.missing_vectors(model, MOST_MISSING, session_id=session_id)
            self._waiting[session_id].update(each.id for each in found)
        return self._send(session_id, store, model, is_wanted)

    def _send(
        self, session_id: str, store: Store, model: int, is_wanted: Callable[[], bool]
    ) -> bool:
        waiting = self._waiting[session_id]
        ids = sorted(waiting)
        for start in range(0, len(ids), BATCH):
            if is_wanted():
                return False
            batch = ids[start : start + BATCH]
            try:
                found = store.passage_vectors(batch)
            except StoreError:  # closed meanwhile
                return True
            if found:
                self._server.put_vectors(
                    model, [(session_id, each, rows) for each, _, rows in found]
                )
                waiting.difference_update(each for each, _, _ in found)
        return True

    def _model(self, store: Store) -> int | None:
        try:
            status = store.embedding()
        except StoreError:  # closed meanwhile
            return None
        if status.model in NOT_SENT or not status.dim:
            return None
        key = (status.model, status.revision, status.dim)
        if key not in self._models:
            self._models[key] = self._server.register_model(*key)
        return self._models[key]

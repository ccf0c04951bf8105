"""`SharedSession`: a session whose directory is the cache of a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from memctx import replica
from memctx.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import FactStore, SearchFilter, SearchHit, Store
    from memctx.config import Config, Ranking

ERASED = "session {!r} was erased on the server, which keeps nothing more of it; expected another session_id"


class ServerSearchOptions(TypedDict):
    """Keyword arguments of `SharedSession.search`."""

    vector: NDArray[np.float32] | None
    filter: SearchFilter | None
    limit: int
    min_score: float
    ranking: Ranking
    explain: bool


class SharedSession:
    """Replication of one session, from before its stores are opened until they are closed."""

    def __init__(self, address: str, config: Config, session_id: str) -> None:
        """Bring the session into the cache; if the server does not answer in time, go on with what is there."""
        self._session_id = session_id
        self._replica = replica.open_replica(address, config, session_id)
        try:
            self._attached = self._replica.attach(session_id)
        except BaseException:
            replica.close_replica(self._replica)
            raise
        if self._attached.is_erased:
            self._replica.detach(session_id)
            replica.close_replica(self._replica)
            raise StoreError(ERASED.format(session_id))
        self._store: Store | None = None
        self._is_closed = False

    def serve(self, store: Store, facts: FactStore) -> None:
        """Take vectors from the stores, and look for damage in them."""
        self._store = store
        self._attached.facts = facts
        self._attached.store = store

    def commit(self) -> None:
        """Wait until the server has committed everything in the cache.

        Raises:
            ServerUnavailableError: it has not in time. Nothing is lost: it is sent when the server is back.
        """
        self._replica.flush()
        if self._attached.is_erased:
            raise StoreError(ERASED.format(self._session_id))

    def extraction_lease(self) -> replica.ExtractionLease:
        """Return the lease by which one host at a time extracts facts from the session."""
        return replica.ExtractionLease(self._replica, self._session_id)

    def search(self, query: str, **options: Unpack[ServerSearchOptions]) -> list[SearchHit]:
        """Search every session of the namespace, as `Memory.search` does."""
        store = self._store
        if store is None:
            return []
        if self._replica.spooled_bytes():
            self._replica.flush()
        model = self._replica.model_of(store)
        search = replica.ServerSearch(self._replica.server, store, model)
        return search.search(query, deadline=self._replica.timeout, **options)

    def status(self) -> dict[str, Any]:
        """Return what waits to be sent, and figures of the connection."""
        return self._replica.status()

    def faults(self) -> list[str]:
        """Return why nothing reaches the server; nothing if it does."""
        fault = self._replica.fault
        return [] if fault is None else [f"server: {fault}"]

    def close(self) -> None:
        """Send what is left, and close the connection with the last session of the cache."""
        if not self._is_closed:
            self._is_closed = True
            try:
                self._replica.detach(self._session_id)
            finally:
                replica.close_replica(self._replica)

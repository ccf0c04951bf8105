"""`ServerSearch`: search over every session of a namespace, candidates by the server and their ranking by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memctx import _core
from memctx.postgres import CandidateFilter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import SearchFilter, SearchHit, Store
    from memctx.postgres import Server

CANDIDATES = 200


class ServerSearch:
    """Searches of one store's model in the namespace."""

    def __init__(self, server: Server, store: Store, model: int | None) -> None:
        """Search with vectors of ``model``, the server's number of the store's model; with None by words alone."""
        self._server = server
        self._store = store
        self._model = model

    def search(  # noqa: PLR0913 - as `Memory.search` has them
        self,
        query: str,
        *,
        vector: NDArray[np.float32] | None,
        filter: SearchFilter | None,
        limit: int,
        min_score: float,
        ranking: Literal["best", "openclaw"],
        explain: bool,
        deadline: float,
    ) -> list[SearchHit]:
        """Return the segments of the namespace that answer a query best, best first.

        Raises:
            ServerUnavailableError: the server does not answer within ``deadline`` seconds.
        """
        wanted = filter or _core.SearchFilter()
        found = self._server.candidates(
            terms=_core.query_term_hashes(query, self._server.key),
            vector=None if self._model is None else vector,
            model=self._model,
            filter=CandidateFilter(
                session_ids=None if wanted.session_id is None else [wanted.session_id],
                roles=wanted.roles,
                since=wanted.since,
                until=wanted.until,
                topics=wanted.topics,
            ),
            limit=max(CANDIDATES, 2 * limit),
            deadline=deadline,
        )
        return self._store.rank(
            query,
            [(each.line, each.vectors) for each in found],
            vector=vector,
            limit=limit,
            min_score=min_score,
            ranking=ranking,
            explain=explain,
        )

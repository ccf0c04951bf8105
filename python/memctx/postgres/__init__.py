"""Memory on a PostgreSQL server: its schema, and what its members and its owner do there.

`Server` is a namespace as its members use it: lines of logs, files, vectors, candidates of searches, the extraction
queue. `Administration` is the owner's side: migrations, namespaces, roles, retention. Neither knows of directories.
Both need the extra ``memctx[postgres]``, and pgvector on the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx._lazy import lazy_exports

if TYPE_CHECKING:
    from memctx.postgres.administration import Administration
    from memctx.postgres.driver import server_name as server_name
    from memctx.postgres.migrations import SCHEMA_VERSION
    from memctx.postgres.records import (
        Candidate,
        CandidateFilter,
        Claimed,
        Erased,
        Erasure,
        Head,
        Job,
        Line,
        Missing,
        Page,
        Row,
        SessionInfo,
        StoredFile,
        Verified,
    )
    from memctx.postgres.records import segment_id as segment_id
    from memctx.postgres.server import Server

__all__ = [
    "SCHEMA_VERSION",
    "Administration",
    "Candidate",
    "CandidateFilter",
    "Claimed",
    "Erased",
    "Erasure",
    "Head",
    "Job",
    "Line",
    "Missing",
    "Page",
    "Row",
    "Server",
    "SessionInfo",
    "StoredFile",
    "Verified",
]

_MODULES = {
    **dict.fromkeys(__all__, "memctx.postgres.records"),
    "SCHEMA_VERSION": "memctx.postgres.migrations",
    "Administration": "memctx.postgres.administration",
    "Server": "memctx.postgres.server",
    "segment_id": "memctx.postgres.records",
    "server_name": "memctx.postgres.driver",
}

__getattr__ = lazy_exports(globals(), _MODULES)

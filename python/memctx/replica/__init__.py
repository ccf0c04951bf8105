"""Replication: a directory as the cache of a namespace on a PostgreSQL server."""

from memctx._lazy import lazy_exports

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.replica.lease import ExtractionLease as ExtractionLease
    from memctx.replica.opening import cache_path as cache_path
    from memctx.replica.opening import check_server as check_server
    from memctx.replica.opening import close_replica as close_replica
    from memctx.replica.opening import is_server as is_server
    from memctx.replica.opening import open_replica as open_replica
    from memctx.replica.opening import reopen_after_fork as reopen_after_fork
    from memctx.replica.opening import server_name as server_name
    from memctx.replica.replica import Replica as Replica
    from memctx.replica.search import ServerSearch as ServerSearch
    from memctx.replica.transfer import Transfer as Transfer
    from memctx.replica.transfer import Transferred as Transferred

__all__: list[str] = []

_LATER = {
    "ExtractionLease": "memctx.replica.lease",
    "Replica": "memctx.replica.replica",
    "ServerSearch": "memctx.replica.search",
    "Transfer": "memctx.replica.transfer",
    "Transferred": "memctx.replica.transfer",
    "cache_path": "memctx.replica.opening",
    "check_server": "memctx.replica.opening",
    "close_replica": "memctx.replica.opening",
    "is_server": "memctx.replica.opening",
    "open_replica": "memctx.replica.opening",
    "reopen_after_fork": "memctx.replica.opening",
    "server_name": "memctx.replica.opening",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)

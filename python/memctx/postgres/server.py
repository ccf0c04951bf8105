"""A namespace of a PostgreSQL server, as its members use it."""

from __future__ import annotations

import json
import threading
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import UUID

from memctx import checks
from memctx.errors import ConfigError, ServerError
from memctx.postgres import halfvec, queue, search, upkeep
from memctx.postgres import log as logs
from memctx.postgres.arguments import instance, number, text, texts, whole
from memctx.postgres.driver import sql
from memctx.postgres.keys import Identity
from memctx.postgres.link import Link, percentile
from memctx.postgres.migrations import check_version
from memctx.postgres.records import CandidateFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from numpy.typing import ArrayLike

    from memctx.postgres.driver import Connection
    from memctx.postgres.records import (
        Candidate,
        Claimed,
        Erased,
        Erasure,
        Head,
        Job,
        Line,
        Log,
        Missing,
        Page,
        SessionInfo,
        StoredFile,
        Verified,
    )

Result = TypeVar("Result")

_LARGEST = 2**31 - 1
_LONGEST = 7 * 86_400.0
"""Seconds that a time may have."""
_SLICE = 0.25
"""Seconds after which a listener looks whether it is closed."""


@checks.public_class
class Server:
    """A namespace of a PostgreSQL server; used by any number of threads, one call at a time.

    It connects on first use, and again after the connection is lost. Every call is repeatable and ends within
    ``timeout`` seconds.

    >>> server = Server("postgresql://app@db.example/memory", namespace="team-a")  # doctest: +SKIP
    >>> server.heads(["s1"])["s1"].segments  # doctest: +SKIP
    0

    Raises:
        ConfigError: if psycopg is not installed, or an argument is invalid.
        ServerUnavailableError: from every method, if the server cannot be reached.
        LateError: from every method, if the server does not answer in time.
        ServerError: from every method, if the server refuses.
    """

    def __init__(self, dsn: str, *, namespace: str, timeout: float = 10.0) -> None:
        self.namespace = text("namespace", namespace)
        self._link = Link(dsn, timeout=timeout, prepare=self._prepare)
        self._listener = Link(dsn, timeout=timeout, prepare=self._listen_on)
        self._identity: Identity | None = None
        self._vector_schema = ""
        self._models: dict[int, search.Model] = {}
        self._closing = threading.Event()

    def __repr__(self) -> str:
        return f"Server(namespace={self.namespace!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def key(self) -> int:
        """Secret seed of the hashes of words, for `memctx.lowlevel.term_hashes`."""
        if self._identity is None:
            self._run("connect", lambda _connection, _space: None)
        return cast("Identity", self._identity).key

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the namespace: the same at every address of the server, another one if it is created again."""
        return sha256(b"%d" % self.key).hexdigest()[:32]

    @property
    def latency_ms(self) -> dict[str, float | int | None]:
        """Number and percentiles of the times of the newest calls, in milliseconds."""
        times = [1_000 * each for each in self._link.latencies]
        return {
            "calls": len(times),
            "p50": percentile(times, 0.5),
            "p99": percentile(times, 0.99),
        }

    def session_key(self, session_id: str) -> UUID:
        """Return the key by which tombstones name a session."""
        session_id = text("session_id", session_id)
        return self._run("connect", lambda _connection, space: space.session(session_id))

    # Logs

    def append(self, log: Log, lines: Sequence[Line], *, origin: UUID) -> int:
        """Append the lines that the server does not have, and return their number, once they are committed.

        A segment is known by its id, a fact by the SHA-256 of its line. Lines of erased sessions are dropped.
        ``origin`` names the host, for `pull`.
        """
        logs.check_log(log)
        instance("origin", origin, UUID)
        given = list(lines)
        if not given:
            return 0
        return self._run(
            "append", lambda connection, space: logs.append(connection, space, log, given, origin)
        )

    def pull(
        self,
        session_id: str,
        log: Log,
        after: int,
        *,
        limit: int = 2_000,
        without: UUID | None = None,
    ) -> Page:
        """Return the lines of a session behind a sequence number, in the order of their commits.

        Lines of the origin ``without`` come without their text. A page ends after ``limit`` lines or 16 MiB.
        """
        logs.check_log(log)
        if without is not None:
            instance("without", without, UUID)
        session_id, after = text("session_id", session_id), whole("after", after, 0, 2**63 - 1)
        limit = whole("limit", limit, 1, 1_000_000)
        return self._run(
            "pull",
            lambda connection, space: logs.pull(
                connection, space, session_id, log, after, limit, without
            ),
        )

    def heads(self, session_ids: Iterable[str]) -> dict[str, Head]:
        """Return the newest sequence numbers and file versions of sessions."""
        names = texts("session_ids", session_ids)
        return self._run("heads", lambda connection, space: logs.heads(connection, space, names))

    def sessions(self, *, after: str | None = None, limit: int = 1_000) -> list[SessionInfo]:
        """Return the sessions in the order of their names, from behind ``after`` on."""
        limit = whole("limit", limit, 1, 1_000_000)
        start = None if after is None else text("after", after)
        return self._run(
            "sessions", lambda connection, space: logs.sessions(connection, space, start, limit)
        )

    # Files

    def read_file(self, session_id: str, name: str) -> StoredFile | None:
        """Return a file of a session; None if there is none."""
        session_id, name = text("session_id", session_id), text("name", name)
        return self._run(
            "read_file",
            lambda connection, space: logs.read_file(connection, space, session_id, name),
        )

    def write_file(self, session_id: str, name: str, body: bytes, *, expected: int) -> int | None:
        """Write a file of a session if its version is ``expected``, 0 for none, and return the new version.

        Returns None on a conflict, and for an erased session.
        """
        session_id, name = text("session_id", session_id), text("name", name)
        expected = whole("expected", expected, 0, 2**62)
        instance("body", body, bytes)
        return self._run(
            "write_file",
            lambda connection, space: logs.write_file(
                connection, space, session_id, name, body, expected
            ),
        )

    # Search

    def register_model(self, name: str, revision: str, dim: int) -> int:
        """Return the id of an embedding model in this namespace; the first call makes its index."""
        name, revision = text("name", name), text("revision", revision)
        dim = whole("dim", dim, 1, 4_000)
        return self._run(
            "register_model",
            lambda connection, space: search.register_model(connection, space, name, revision, dim),
        )

    def put_vectors(self, model: int, rows: Sequence[tuple[str, str, ArrayLike]]) -> None:
        """Store vectors of segments: session id, segment id, and an array with a row for each passage.

        Those stored already are left alone, and so are segments that the server does not have.
        """
        given = [(text("session_id", s), text("id", i), vectors) for s, i, vectors in rows]
        if not given:
            return
        self._run(
            "put_vectors",
            lambda connection, space: search.put_vectors(
                connection, space, self._model(connection, space, model), given
            ),
        )

    def missing_vectors(
        self, model: int, limit: int = 256, *, session_id: str | None = None
    ) -> list[Missing]:
        """Return segments of which the server has no vectors of a model; only those of a session if it is named."""
        limit = whole("limit", limit, 1, 100_000)
        return self._run(
            "missing_vectors",
            lambda connection, space: search.missing_vectors(
                connection, space, self._model(connection, space, model), limit, session_id
            ),
        )

    def candidates(  # noqa: PLR0913 - parts of a query
        self,
        *,
        terms: Sequence[int] = (),
        vector: ArrayLike | None = None,
        model: int | None = None,
        filter: CandidateFilter | None = None,
        limit: int = 200,
        deadline: float,
    ) -> list[Candidate]:
        """Return the segments that a search may find: ``limit`` by words, and as many by vectors.

        Args:
            terms: Hashes of the words of the query, as `memctx.lowlevel.query_term_hashes` makes them.
            vector: The query's vector of the model; without it, words alone count.
            model: Id of the model, also for the vectors that come with the candidates.
            filter: Conditions that every candidate meets.
            limit: Most candidates of each kind.
            deadline: Seconds from now after which `LateError` is raised.
        """
        limit = whole("limit", limit, 1, 10_000)
        seconds = number("deadline", deadline, 0, _LONGEST)
        if vector is not None and model is None:
            raise ConfigError("model must be given with vector")
        conditions = instance("filter", filter or CandidateFilter(), CandidateFilter)
        hashes = [whole("terms", each, -(2**63), 2**63 - 1) for each in terms]
        end = time.monotonic() + seconds

        def find(connection: Connection, space: Identity) -> list[Candidate]:
            found = None if model is None else self._model(connection, space, model)
            array = None
            if vector is not None and found is not None:
                array = halfvec.check(vector, found.dim)
            left = end - time.monotonic()
            query = search.Query(hashes, array, found, conditions, limit, left)
            return search.candidates(connection, space, query)

        return self._run("candidates", find, deadline=seconds)

    def _model(self, connection: Connection, space: Identity, model: int) -> search.Model:
        found_id = whole("model", model, 1, _LARGEST)
        if found_id not in self._models:
            found = search.read_model(connection, space, found_id, self._vector_schema)
            self._models[found_id] = found
        return self._models[found_id]

    # Extraction queue

    def claim(self, *, owner: str, lease: float, limit: int = 1) -> list[Job]:
        """Lease sessions with segments that no worker has read, those that wait longest first.

        A lease that ends before `complete` is free for others. Within its time no other worker gets the session.
        """
        owner, limit = text("owner", owner), whole("limit", limit, 1, 10_000)
        seconds = number("lease", lease, 0, _LONGEST)
        return self._run(
            "claim", lambda connection, space: queue.claim(connection, space, owner, seconds, limit)
        )

    def claim_session(self, session_id: str, *, owner: str, lease: float) -> Claimed:
        """Lease one session, or renew the lease that ``owner`` has; say whether another worker holds it."""
        text("session_id", session_id)
        owner, seconds = text("owner", owner), number("lease", lease, 0, _LONGEST)
        return self._run(
            "claim",
            lambda connection, space: queue.claim_session(
                connection, space, session_id, owner, seconds
            ),
        )

    def complete(self, job: Job, *, owner: str) -> bool:
        """Take a job off the queue; return False if the lease was lost to another worker."""
        owner = text("owner", owner)
        return self._run(
            "complete", lambda connection, space: queue.complete(connection, space, job, owner)
        )

    def release(self, job: Job, *, owner: str, delay: float = 0.0) -> bool:
        """Give a job back after a failure, to be claimed again after ``delay`` seconds."""
        owner, seconds = text("owner", owner), number("delay", delay, 0, _LONGEST)
        return self._run(
            "release",
            lambda connection, space: queue.release(connection, space, job, owner, seconds),
        )

    # Erasure and figures

    def erase(self, session_id: str) -> Erased:
        """Delete everything of a session for good; lines that come later are dropped.

        `Administration.gc` takes the deleted bytes out of the files of the server.
        """
        session_id = text("session_id", session_id)
        return self._run(
            "erase", lambda connection, space: upkeep.erase(connection, space, session_id)
        )

    def erasures(self, after: int = 0) -> list[Erasure]:
        """Return the tombstones behind a number, so that caches drop these sessions."""
        after = whole("after", after, 0, 2**63 - 1)
        return self._run(
            "erasures", lambda connection, space: upkeep.erasures(connection, space, after)
        )

    def verify(self, *, timeout: float = 600.0) -> Verified:
        """Compare every row with its SHA-256, its head and its entry in the text index, in the server."""
        seconds = number("timeout", timeout, 0.001, _LONGEST)

        def check(connection: Connection, space: Identity) -> Verified:
            with connection.transaction():
                connection.execute(
                    "SELECT set_config('statement_timeout', %s, true)",
                    [str(int(seconds * 1_000))],
                )
                return upkeep.verify(connection, space)

        return self._run("verify", check, deadline=seconds)

    def stats(self) -> dict[str, Any]:
        """Return rows, bytes, queue depth, and latencies of the newest calls in milliseconds.

        ``table_bytes`` are of all namespaces.
        """
        found = self._run("stats", upkeep.counts)
        found["latency_ms"] = self.latency_ms
        found["connections"] = self._link.connections
        return found

    # Notifications

    def listen(self, timeout: float) -> set[str]:
        """Wait for changes of sessions by any host, and return their ids; an empty set if there are none in time.

        It has a connection of its own. ``"*"`` stands for any session: after a connection was made, before which
        changes may have been missed, and for more sessions than a notification holds.
        """
        seconds = number("timeout", timeout, 0, _LONGEST)
        before = self._listener.connections if self._listener.is_connected else -1
        end = time.monotonic() + seconds

        def wait(connection: Connection) -> set[str]:
            if self._listener.connections != before:
                return {logs.ALL}
            found: set[str] = set()
            while not found and not self._closing.is_set():
                left = end - time.monotonic()
                for each in connection.notifies(timeout=max(0.0, min(left, _SLICE))):
                    found |= _session_ids(each.payload)
                if left <= 0:
                    break
            return found

        return self._listener.run("listen", wait, deadline=seconds + self._listener.timeout)

    # Connection

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._closing.set()
        self._link.close()
        self._listener.close()
        self._closing.clear()

    def reopen(self) -> None:
        """Forget the connections after a fork, in the child: they are the parent's."""
        self._link.reopen()
        self._listener.reopen()
        self._closing = threading.Event()  # a thread that is not here may hold its lock

    def _run(
        self,
        doing: str,
        work: Callable[[Connection, Identity], Result],
        *,
        deadline: float | None = None,
    ) -> Result:
        return self._link.run(
            doing,
            lambda connection: work(connection, cast("Identity", self._identity)),
            deadline=deadline,
        )

    def _prepare(self, connection: Connection) -> None:
        """Check the schema and read the identity of the namespace."""
        check_version(connection)
        timeout = str(max(1, int(self._link.timeout * 1_000)))
        row = connection.execute(
            "SELECT id, name, secret, set_config('statement_timeout', %s, false) FROM memctx.namespaces"
            " WHERE name = %s",
            [timeout, self.namespace],
        ).fetchone()
        if row is None:
            raise ServerError(
                f"namespace {self.namespace!r} does not exist, or this role is no member of its role: its owner runs"
                " Administration.create_namespace(name, role=…)"
            )
        self._identity = Identity(row[0], row[1], bytes(row[2]))
        self._vector_schema = halfvec.register(connection) or ""

    def _listen_on(self, connection: Connection) -> None:
        self._prepare(connection)
        channel = cast("Identity", self._identity).channel
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))


def _session_ids(payload: str) -> set[str]:
    """Return the sessions of a notification; all for one that memctx did not send."""
    try:
        found: object = json.loads(payload)
    except (ValueError, RecursionError):
        return {logs.ALL}
    if not isinstance(found, list):
        return {logs.ALL}
    return {str(each) for each in cast("list[object]", found)}

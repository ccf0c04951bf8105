"""`Replica`: keeps a cache and a namespace of a server equal, in a thread of its own.

Lines are appended to the cache and are durable there; the thread ships them, pulls what other hosts wrote to the
attached sessions, and does so again when the server is back. Processes that share a cache take turns by a lock, and
share how far it is.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from memctx import _core, files, store_files
from memctx.errors import MemctxError, ServerUnavailableError, StoreError
from memctx.replica import records
from memctx.replica.attached import Attached
from memctx.replica.erasures import Erasures
from memctx.replica.puller import Puller
from memctx.replica.records import LOGS, CacheRecord
from memctx.replica.session_files import SessionFiles
from memctx.replica.shipper import Shipper
from memctx.replica.vectors import TRANSIENT, Vectors

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memctx._core import Store
    from memctx.postgres import Job, Server
    from memctx.replica.records import LogName

logger = logging.getLogger("memctx.replica")

SECONDS_BETWEEN_LOOKS = 0.2
"""Interval at which the sizes of the logs are compared."""
SECONDS_BETWEEN_POLLS = 5.0
"""Interval at which the server is asked without a notification."""
MOST_SECONDS_OF_BACKOFF = 5.0
SECONDS_OF_LISTENING = 5.0
SECONDS_BETWEEN_CONNECTIONS = 1.0
SECONDS_OF_DETACHING = 2.0
"""Longest wait for the lines of a session that is closed, and then for its vectors."""


class Replica:
    """Replication of one cache with one namespace. All methods may be called from any thread."""

    def __init__(self, cache: Path, server: Server, *, timeout: float) -> None:
        """Replicate ``cache`` with the namespace of ``server``; callers wait ``timeout`` seconds for it."""
        self.cache = cache
        self.server: Server = server
        self.timeout = timeout
        self.fault: Exception | None = None
        """The last failure, until something succeeds."""
        self._attached: dict[str, Attached] = {}
        store_files.make_folder(cache / records.FOLDER)
        self._start()

    def _start(self) -> None:
        """Make everything that is not shared with a forked child."""
        self._shipper = Shipper(self.cache, self.server)
        self._puller = Puller(self.cache, self.server, self._shipper)
        self._files = SessionFiles(self.cache, self.server)
        self._vectors = Vectors(self.server)
        self._erasures = Erasures(self.cache, self.server)
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._wake = threading.Event()
        self._dirty: set[str] = set(self._attached)
        self._returned: list[tuple[Job, str]] = []
        self._committed: dict[LogName, int] = dict.fromkeys(LOGS, 0)
        self._origin = ""  # of the logs, whose offsets mean something else in those of another one
        # Numbers of the last pass that began, of the last one that sent all lines, of the last one that ended well, and
        # of the last one after which all vectors that were made had been sent or refused.
        self._begun = self._shipped = self._finished = self._embedded = 0
        self._polled = 0.0
        self._behind_since: float | None = None
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def attach(self, session_id: str) -> Attached:
        """Replicate a session from now on; wait until it was pulled, or until the server is known to be unavailable.

        Raises:
            MemctxError: the server refuses, as it does a wrong password, and waiting would not help.
        """
        with self._lock:
            attached = self._attached.get(session_id)
            if attached is None:
                attached = self._attached[session_id] = Attached(session_id)
            else:
                attached.callers += 1
            self._dirty.add(session_id)
            self._forget_fault()
            self._run_threads()
        self._wake.set()
        with self._lock:
            self._changed.wait_for(
                lambda: attached.ready.is_set() or self.fault is not None, self.timeout
            )
            fault = self.fault
        if not attached.ready.is_set():
            if fault is not None and not isinstance(fault, TRANSIENT):
                self.detach(session_id)
                raise fault
            logger.warning(
                "session %r: the server does not answer (%s); memory goes on with what %s has",
                session_id,
                fault or f"within {self.timeout:g} s",
                self.cache,
            )
        return attached

    def detach(self, session_id: str) -> None:
        """Send what is left of a session, as far as the server takes it in time."""
        with self._lock:
            attached = self._attached[session_id]
            attached.callers -= 1
            is_last = not attached.callers
            is_running = bool(self._threads)
        if is_last and is_running and attached.ready.is_set():
            self._send_the_rest(attached)
        if is_last and self._forget(attached) and attached.is_erased:
            self._send_the_rest(attached)  # nothing, but what it wrote late is removed

    def _forget(self, attached: Attached) -> bool:
        """Forget a session, unless another caller opened it meanwhile; return whether it is forgotten."""
        with self._lock:
            if attached.callers or self._attached.get(attached.session_id) is not attached:
                return False
            del self._attached[attached.session_id]
            attached.store = attached.facts = None
            self._puller.forget(attached.session_id)
            self._files.forget(attached.session_id)
            return True

    def _send_the_rest(self, attached: Attached) -> None:
        """Wait a while for lines, and then for vectors."""
        seconds = min(self.timeout, SECONDS_OF_DETACHING)
        try:
            with self._lock:
                begun = self._begun
                if not attached.is_erased:
                    self._dirty.add(attached.session_id)  # it may have been erased
            self._wait_for_pass(seconds, is_whole=True)
            with self._lock:
                self._changed.wait_for(
                    lambda: self._embedded > begun or self.fault is not None, seconds
                )
        except MemctxError as error:
            logger.warning(
                "session %r: what is not sent yet stays in %s: %s",
                attached.session_id,
                self.cache,
                error,
            )

    def flush(self) -> None:
        """Wait until the server has committed everything that was appended before.

        Raises:
            ServerUnavailableError: it has not in time. Nothing is lost: it is sent when the server is back.
        """
        self._wait_for_pass(self.timeout, is_whole=False)

    def _wait_for_pass(self, seconds: float, *, is_whole: bool) -> None:
        """Wait until everything appended before is committed, or for a whole pass that begins from now on."""
        wanted = {log: self._shipper.end(log) for log in LOGS}
        deadline = time.monotonic() + seconds
        with self._lock:
            self._run_threads()
            begun, shipped = self._begun, self._shipped
            origin = self._origin
            self._wake.set()
            while (self._finished <= begun if is_whole else self._shipped <= shipped) or any(
                self._committed[log] < wanted[log] for log in LOGS
            ):
                if self._closed.is_set():
                    raise StoreError("the replica is closed")
                left = deadline - time.monotonic()
                if left <= 0 or self._is_refused():
                    reason = self.fault or "no answer"
                    raise ServerUnavailableError(
                        f"not committed by the server within {seconds:g} s: {reason}; it is kept in {self.cache} and "
                        "sent when the server is back"
                    )
                self._changed.wait(left)
                if self._origin != origin:  # lines were taken out of the logs
                    origin, wanted = self._origin, {log: self._shipper.end(log) for log in LOGS}

    def refresh(self, session_id: str) -> None:
        """Send what was appended, and wait until a session has what the server has of it.

        Raises:
            ServerUnavailableError: the server does not answer in time.
        """
        with self._lock:
            self._dirty.add(session_id)
        self._wait_for_pass(self.timeout, is_whole=True)

    def give_back(self, job: Job, *, owner: str) -> None:
        """End the lease of an extraction job after the next pass, in which its cursor is sent."""
        with self._lock:
            self._returned.append((job, owner))
        self._wake.set()

    def status(self) -> dict[str, Any]:
        """Return what waits to be sent, for how long, the last faults, and the figures of the server's connection.

        ``fault`` says why nothing reaches the server; ``vectors_fault``, why it refuses vectors and nothing else.
        """
        vectors_fault = self._vectors.fault
        return {
            "namespace": self.server.namespace,
            "spooled_bytes": self.spooled_bytes(),
            "lag_seconds": self.lag_seconds(),
            "fault": None if self.fault is None else str(self.fault),
            "vectors_fault": None if vectors_fault is None else str(vectors_fault),
            "sessions": len(self._attached),
            "latency_ms": self.server.latency_ms,
        }

    def spooled_bytes(self) -> int:
        """Return the number of bytes in the logs that the server lacks."""
        record = records.load_cache(self.cache)
        return sum(self._shipper.waiting(log, record) for log in LOGS)

    def lag_seconds(self) -> float:
        """Return for how long something has waited to be sent; 0 if nothing does."""
        since = self._behind_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def is_closed(self) -> bool:
        """True if nothing is replicated any more."""
        return self._closed.is_set()

    def reopen(self) -> None:
        """Share neither threads nor connections with the parent process after a fork."""
        self.server.reopen()
        attached = self._attached
        for each in attached.values():
            each.reopen()
        self._start()
        with self._lock:
            self._attached = attached
            self._run_threads()

    def close(self) -> None:
        """Stop the threads and close the connections."""
        with self._lock:
            self._closed.set()
            self._changed.notify_all()
            threads = list(self._threads)
        self._wake.set()
        self.server.close()
        for thread in threads:
            thread.join(SECONDS_OF_LISTENING + 1)
        self.server.close()  # a thread may have been about to connect again

    def _run_threads(self) -> None:
        if self._closed.is_set():
            raise StoreError("the replica is closed")
        if not self._threads:
            for name, target in (("ship", self._replicate), ("listen", self._listen)):
                thread = threading.Thread(target=target, name=f"memctx-{name}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _forget_fault(self) -> None:
        """Ask the server again before it counts as unavailable."""
        self.fault = None

    def _is_refused(self) -> bool:
        """Return whether waiting cannot help."""
        return self.fault is not None and not isinstance(self.fault, TRANSIENT)

    def _listen(self) -> None:
        """Note the sessions that the server reports as changed."""
        while not self._closed.is_set():
            try:
                changed = self.server.listen(SECONDS_OF_LISTENING)
            except MemctxError:  # the other thread reports it
                self._closed.wait(SECONDS_BETWEEN_CONNECTIONS)
                continue
            except Exception:
                logger.exception("listening for %s failed", self.cache)
                self._closed.wait(SECONDS_BETWEEN_CONNECTIONS)
                continue
            if changed:
                self._note_changed(changed)

    def _note_changed(self, sessions: Iterable[str]) -> None:
        with self._lock:
            self._dirty.update(session for session in sessions if session in self._attached)
            if "*" in sessions:
                self._dirty.update(self._attached)
            if self._dirty:
                self._wake.set()

    def _replicate(self) -> None:
        """Run passes until the replica is closed; wait longer after each failure, unless a caller waits."""
        backoff = 0.0
        while not self._closed.is_set():
            self._wake.wait(backoff or SECONDS_BETWEEN_LOOKS)
            is_asked = self._wake.is_set()
            self._wake.clear()
            if self._closed.is_set():
                return
            try:
                if is_asked or self._is_due():
                    self._run_pass()
                backoff = 0.0
            except (MemctxError, OSError) as error:
                backoff = min(backoff * 2 or SECONDS_BETWEEN_LOOKS, MOST_SECONDS_OF_BACKOFF)
                self._report(error)
            except Exception as error:
                backoff = MOST_SECONDS_OF_BACKOFF
                logger.exception("replication of %s failed", self.cache)
                self._report(StoreError(f"replication failed: {type(error).__name__}: {error}"))

    def _is_due(self) -> bool:
        is_behind = self._shipper.is_behind(records.load_cache(self.cache))
        if is_behind and self._behind_since is None:
            self._behind_since = time.monotonic()
        is_old = time.monotonic() - self._polled > SECONDS_BETWEEN_POLLS
        return is_behind or bool(self._dirty) or is_old or self._vectors.is_due()

    def _report(self, error: Exception) -> None:
        with self._lock:
            if type(error) is not type(self.fault):
                logger.warning("%s is not replicated for now: %s", self.cache, error)
            self.fault = error
            if self._behind_since is None:
                self._behind_since = time.monotonic()
            self._changed.notify_all()

    def _run_pass(self) -> None:
        """Ship, then pull what changed."""
        with self._lock:
            self._begun += 1
            number = self._begun
        with files.held(records.lock_path(self.cache), timeout=self.timeout):
            record = self._intact_record()
            shipped = self._shipper.ship(record, noted=self._attached.keys())
            with self._lock:
                self._shipped = number
                self._note_committed(record)
            self._vectors.note(shipped)
            self._erasures.carry_out(record, self._attached.keys())
            returned = list(self._returned)  # before their cursors are sent
            self._pull(self._sessions_to_pull(), record)
            self._end_leases(returned)
        with self._lock:
            self._finished = number
            self.fault = None
            self._behind_since = None
            self._note_committed(record)
        attached = [each for each in list(self._attached.values()) if each.is_open]
        if self._vectors.send(attached, is_wanted=self._wake.is_set):
            with self._lock:
                self._embedded = number
                self._changed.notify_all()

    def _note_committed(self, record: CacheRecord) -> None:
        self._origin = record.origin
        self._committed = {log: record.shipped(log).offset for log in LOGS}
        self._changed.notify_all()

    def _end_leases(self, returned: list[tuple[Job, str]]) -> None:
        """Take jobs off the queue, as far as they are done."""
        for job, owner in returned:
            self.server.complete(job, owner=owner)
            with self._lock:
                self._returned.remove((job, owner))

    def _intact_record(self) -> CacheRecord:
        """Return the record of the cache; a new one, which ships and pulls everything again, if a log was replaced."""
        record = records.load_cache(self.cache)
        is_known = record.server == self.server.fingerprint
        if not is_known or not self._shipper.is_intact(record) or self._repair_damage():
            if is_known:
                logger.warning(
                    "%s: its logs were replaced or damaged; they are built again", self.cache
                )
            record = CacheRecord(server=self.server.fingerprint)
            record.save(self.cache)
            with self._lock:
                self._dirty.update(self._attached)
            for session in list(self._attached):
                self._puller.forget(session)
        return record

    def _repair_damage(self) -> bool:
        """Move damaged lines of newly opened stores away; return whether there were any."""
        is_damaged = False
        for each in list(self._attached.values()):
            if each.is_open and not each.is_checked:
                each.is_checked = True
                is_damaged |= each.has_damage()
        if is_damaged:
            _core.LogEditor(self.cache).repair()
        return is_damaged

    def _sessions_to_pull(self) -> list[str]:
        """Return the sessions that changed on the server; all of them if it was not asked for long."""
        with self._lock:
            if time.monotonic() - self._polled > SECONDS_BETWEEN_POLLS:
                self._dirty.update(self._attached)
                self._polled = time.monotonic()
            sessions, self._dirty = list(self._dirty), set()
        return sessions

    def _pull(self, sessions: list[str], record: CacheRecord) -> None:
        try:
            heads = self.server.heads(sessions) if sessions else {}
            for session_id in sessions:
                attached = self._attached.get(session_id)
                session = records.load_session(self.cache, session_id, record.origin)
                head = heads.get(session_id)
                if head is not None and head.erased:
                    if attached is not None:
                        attached.is_erased = True
                        self._erasures.expect(session_id, record)
                elif head is not None:
                    if any(session.pulled(log) < getattr(head, log) for log in LOGS):
                        self._puller.pull(session, record)
                    self._files.fetch(session, head.files)
                if attached is not None:
                    attached.ready.set()
            for session_id, attached in list(self._attached.items()):
                if not attached.is_erased:
                    self._files.send(records.load_session(self.cache, session_id, record.origin))
        except BaseException:
            with self._lock:
                self._dirty.update(sessions)
            raise

    def model_of(self, store: Store) -> int | None:
        """Return the server's number of the model of a store; None if its vectors are not there, or are refused."""
        return self._vectors.model_of(store)

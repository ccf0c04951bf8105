"""`BackgroundExtraction`: the handle through which a host extracts facts in the background."""

from __future__ import annotations

import logging
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import checks
from memctx.errors import StoreError
from memctx.facts.worker import queue
from memctx.facts.worker.batches import ExtractionOptions, Settings, describe_error
from memctx.facts.worker.progress import FactsFuture, FactsReady, Progress
from memctx.facts.worker.queue import Cursor
from memctx.facts.worker.worker import SessionWorker
from memctx.providers.background import background_loop

if TYPE_CHECKING:
    from os import PathLike

    from memctx._core import FactStore
    from memctx.facts.extractors import Extractor
    from memctx.facts.worker.batches import HostLease
    from memctx.providers.background import BackgroundLoop

logger = logging.getLogger("memctx.facts.worker")

# Seconds that `close` waits at most.
MAX_CLOSE = 0.8


class BackgroundExtraction:
    """Turns what is archived in a session into facts. All methods may be called from any thread and return at once.

    Facts are extracted once enough for a batch is pending, as the options say, or on `wait_for_facts`. The only state
    is a cursor on disk: after a crash at most the batch in flight is asked again.
    """

    def __init__(  # noqa: PLR0913 - parts of a session
        self,
        path: str | PathLike[str],
        session_id: str,
        facts: FactStore,
        extractor: Extractor,
        options: ExtractionOptions | None = None,
        *,
        hosts: HostLease | None = None,
    ) -> None:
        """Open or create the session's cursor, so that facts are extracted from all that is archived from now on.

        ``hosts`` is the lease among the hosts that share the session.
        """
        options = options or ExtractionOptions()
        self._settings = Settings(Path(path), session_id, facts, extractor, options, hosts)
        self._log = self._settings.open_log()
        self._lock = threading.Lock()
        self._is_closed = False
        self._worker: tuple[SessionWorker, BackgroundLoop] | None = None
        self._progress = Progress()
        self._cursor: Cursor | None = None
        try:
            self._cursor = self._open_cursor()
            is_behind = hosts is not None or self._log.end() > self._cursor.offset
        except (StoreError, OSError) as error:  # of another session or version: not ours to touch
            logger.warning("session %r: no facts are extracted: %s", session_id, error)
            self._cursor = None
            self._progress = Progress("stopped", last_error=describe_error(error))
            return
        dead_letters, counts = len(self._cursor.dead_letters), self._cursor.counts
        self._progress = Progress(dead_letters=dead_letters, counts=counts)
        if is_behind:
            self.notify()

    def notify(self) -> None:
        """Report that something was archived. A call costs microseconds, and may be superfluous."""
        running = self._worker or self._start_worker()
        if running is None:
            return
        worker, where = running
        if not worker.is_notified:
            worker.is_notified = True
            where.call(worker.notify)

    def wait_for_facts(self, timeout: float | None = None) -> FactsFuture:
        """Extract facts from all that was archived before, however little; return a future to await.

        The future is settled when that is done, after ``timeout`` seconds, or when the extractor keeps failing; the
        `FactsReady` says which, and what is left.

        >>> ready = extraction.wait_for_facts(timeout=30).result()  # doctest: +SKIP
        >>> ready.is_complete, ready.progress.counts.added  # doctest: +SKIP
        (True, 3)
        """
        timeout = checks.seconds("timeout", timeout)
        try:
            # A server is not asked here, since the caller would wait for it.
            is_shared = self._settings.hosts is not None
            waiter = FactsFuture(sys.maxsize if is_shared else self._log.end())
        except OSError as error:
            return self._settled_future(describe_error(error))
        running = self._start_worker()
        if running is None:
            reason = None if self._is_closed else self.progress().last_error
            return self._settled_future(reason or "extraction is closed")
        worker, where = running
        if not where.call(partial(worker.add_waiter, waiter, timeout)):
            return self._settled_future("the interpreter is shutting down")
        return waiter

    def progress(self) -> Progress:
        """Return the progress when the worker last looked."""
        return self._progress if self._worker is None else self._worker[0].progress

    def retry(self) -> None:
        """Retry now: all batches that were given up, and an extractor that keeps failing."""
        if running := self._start_worker():
            worker, where = running
            where.call(worker.retry)

    def reopen(self) -> None:
        """Separate a forked child from its parent, which keeps its thread, its lock and its work."""
        self._lock = threading.Lock()
        if self._worker is not None:
            worker, _ = self._worker
            worker.abandon()
            self._progress, self._worker = worker.progress, None

    def close(self) -> None:
        """Stop within a second, even during a call. The next process that opens the session continues."""
        with self._lock:
            self._is_closed = True
            running = self._worker
        if running is None:
            return
        worker, where = running
        if where.call(worker.cancel) and not where.is_current and not worker.ended.wait(MAX_CLOSE):
            where.call(worker.abandon)

    def __repr__(self) -> str:
        state = self.progress().state
        return f"<memctx.BackgroundExtraction of session {self._settings.session_id!r}: {state}>"

    def _open_cursor(self) -> Cursor:
        """Return the cursor on disk; create it if there is none."""
        session_id = self._settings.session_id
        path = queue.cursor_path(self._settings.store, session_id)
        try:
            if (found := queue.load_cursor(path, session_id)) is not None:
                return found
        except ValueError as error:
            logger.warning("%s: not usable, the archive is read again: %s", path, error)
            return Cursor()
        offset = self._log.end() if self._settings.options.start == "end" else 0
        cursor = Cursor(offset, self._log.mark(offset) or 0)
        try:
            is_first = queue.create_cursor(path, session_id, cursor)
        except (OSError, StoreError) as error:
            logger.warning("%s: not written, %s", path, error)
            return cursor
        return cursor if is_first else queue.load_cursor(path, session_id) or cursor

    def _settled_future(self, reason: str) -> FactsFuture:
        future = FactsFuture(0)
        future.settle(FactsReady(is_complete=False, progress=self.progress(), reason=reason))
        return future

    def _start_worker(self) -> tuple[SessionWorker, BackgroundLoop] | None:
        """Return the worker and its loop, started on first use; None once it is closed."""
        with self._lock:
            if self._is_closed or self._cursor is None:
                return None
            if self._worker is None:
                try:
                    where = background_loop()
                except RuntimeError as error:  # no thread starts while the interpreter shuts down
                    logger.warning("session %r: %s", self._settings.session_id, error)
                    return None
                worker = SessionWorker(self._settings, where, self._cursor)
                where.start(worker.run())
                self._worker = worker, where
            return self._worker

"""`Extraction`: the facts of a session are found in the background, while its host goes on."""

from __future__ import annotations

import logging
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memctx.errors import ConfigError, StoreError
from memctx.extraction import cursor as cursors
from memctx.extraction import loop
from memctx.extraction.breaker import Patience
from memctx.extraction.cursor import Cursor
from memctx.extraction.fault import words_of
from memctx.extraction.flush import Flush, Flushed
from memctx.extraction.log import Log
from memctx.extraction.progress import Progress
from memctx.extraction.settings import Settings
from memctx.extraction.worker import Worker

if TYPE_CHECKING:
    from os import PathLike

    from memctx._core import FactStore
    from memctx.extraction.loop import Loop
    from memctx.extractors import Extractor

logger = logging.getLogger("memctx.extraction")

# What `close` waits for at most, in seconds.
LONGEST_CLOSE = 0.8


class Extraction:
    """Turns what is archived in a session into facts. All methods may be called from any thread, and return at once.

    A batch is extracted from once ``fewest_messages`` messages or ``batch_chars`` characters are pending, or on
    `flush`. A session that is opened for the first time begins at the ``"end"`` of its archive, so that nobody pays
    for a history that he did not ask for, or at the ``"beginning"``. Nothing pending is kept but a place in the
    archive, on disk: a process that dies asks again for the batch it was at, no more.
    """

    def __init__(  # noqa: PLR0913 - what a worker needs, most with a default
        self,
        path: str | PathLike[str],
        session_id: str,
        facts: FactStore,
        extractor: Extractor,
        *,
        batch_chars: int = 24_000,
        fewest_messages: int = 5,
        start: Literal["end", "beginning"] = "end",
        longest_call: float = 300.0,
        patience: Patience | None = None,
    ) -> None:
        """Remember where the session stands, so that all that is archived from now on is extracted from."""
        for name, number in (("batch_chars", batch_chars), ("fewest_messages", fewest_messages)):
            if number < 1:
                raise ConfigError(f"{name} must be at least 1, not {number!r}")
        if longest_call <= 0:
            raise ConfigError(f"longest_call must be more than 0 seconds, not {longest_call!r}")
        if start not in {"end", "beginning"}:
            raise ConfigError(f"start is {start!r}; expected 'end' or 'beginning'")
        self._settings = Settings(
            Path(path),
            session_id,
            facts,
            extractor,
            batch_chars,
            fewest_messages,
            longest_call,
            patience or Patience(),
        )
        self._log = Log(self._settings.store, session_id)
        self._lock = threading.Lock()
        self._is_closed = False
        self._worker: tuple[Worker, Loop] | None = None
        self._progress = Progress()
        self._cursor: Cursor | None = None
        try:
            self._cursor = self._opened(start)
            is_behind = self._log.end() > self._cursor.offset
        except (StoreError, OSError) as error:  # not ours to touch
            logger.warning("session %r: no facts are extracted: %s", session_id, error)
            self._cursor = None
            self._progress = Progress("stopped", last_error=words_of(error))
            return
        self._progress = Progress(set_aside=len(self._cursor.aside), tally=self._cursor.tally)
        if is_behind:
            self.wake()

    def wake(self) -> None:
        """Say that something was archived. It costs microseconds, and may be said too often."""
        running = self._worker or self._started()
        if running is None:
            return
        worker, where = running
        if not worker.is_nudged:
            worker.is_nudged = True
            where.call(worker.nudge)

    def flush(self, timeout: float | None = None) -> Flush:
        """Extract from all that was archived before, however little it is; await what this gives, or its ``result``.

        It ends when that is done, when ``timeout`` seconds have passed, or when the extractor is taken for dead; the
        `Flushed` says which, and what is left.

        >>> flushed = extraction.flush(timeout=30).result()  # doctest: +SKIP
        >>> flushed.is_complete, flushed.progress.tally.added  # doctest: +SKIP
        (True, 3)
        """
        try:
            flush = Flush(self._log.end())
        except OSError as error:
            return self._settled(words_of(error))
        running = self._started()
        if running is None:
            reason = None if self._is_closed else self.progress().last_error
            return self._settled(reason or "extraction is closed")
        worker, where = running
        if not where.call(partial(worker.expect, flush, timeout)):
            return self._settled("the interpreter is going")
        return flush

    def progress(self) -> Progress:
        """How far it is, as of the last time it looked."""
        return self._progress if self._worker is None else self._worker[0].progress

    def retry(self) -> None:
        """Try the batches again that were set aside, and an extractor that was taken for dead, now."""
        if running := self._started():
            worker, where = running
            where.call(worker.retry)

    def reopen(self) -> None:
        """After a fork, in the child: share neither thread nor lock with the parent, who goes on with its work."""
        self._lock = threading.Lock()
        if self._worker is not None:
            worker, _ = self._worker
            worker.abandon()
            self._progress, self._worker = worker.progress, None

    def close(self) -> None:
        """Stop, in the midst of a call too, within a second. All that is pending is for the next to open it."""
        with self._lock:
            self._is_closed = True
            running = self._worker
        if running is None:
            return
        worker, where = running
        if where.call(worker.cancel) and not where.is_here and not worker.ended.wait(LONGEST_CLOSE):
            where.call(worker.abandon)

    def __repr__(self) -> str:
        return (
            f"<memctx.Extraction of session {self._settings.session_id!r}: {self.progress().state}>"
        )

    def _opened(self, start: Literal["end", "beginning"]) -> Cursor:
        """The cursor on disk, which is written if there is none."""
        session_id = self._settings.session_id
        path = cursors.path_of(self._settings.store, session_id)
        try:
            if (found := cursors.load(path, session_id)) is not None:
                return found
        except ValueError as error:
            logger.warning("%s: not usable, the archive is read again: %s", path, error)
            return Cursor()
        offset = self._log.end() if start == "end" else 0
        cursor = Cursor(offset, self._log.mark(offset) or 0)
        try:
            is_first = cursors.create(path, session_id, cursor)
        except (OSError, StoreError) as error:
            logger.warning("%s: not written, %s", path, error)
            return cursor
        return cursor if is_first else cursors.load(path, session_id) or cursor

    def _settled(self, reason: str) -> Flush:
        """A flush that nobody works on."""
        flush = Flush(0)
        flush.settle(Flushed(is_complete=False, progress=self.progress(), reason=reason))
        return flush

    def _started(self) -> tuple[Worker, Loop] | None:
        """The worker, and the loop it is on; None if there is none any more."""
        with self._lock:
            if self._is_closed or self._cursor is None:
                return None
            if self._worker is None:
                try:
                    where = loop.shared()
                except RuntimeError as error:  # no thread is to be had: the interpreter is going
                    logger.warning("session %r: %s", self._settings.session_id, error)
                    return None
                worker = Worker(self._settings, where, self._cursor)
                where.start(worker.run())
                self._worker = worker, where
            return self._worker

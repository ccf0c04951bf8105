"""Batch processing of a session: ask the extractor, store the facts, retry failures, and advance the cursor."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, cast

from memctx.errors import ConfigError, ExtractionError, MemctxError
from memctx.facts.extractors import ExtractionResult, Known, Request, Usage
from memctx.facts.planning import update
from memctx.facts.worker import queue
from memctx.facts.worker.log import Log
from memctx.facts.worker.queue import Backlog, FailedBatch, Pending
from memctx.providers.breaker import BreakerPolicy, CircuitBreaker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memctx._core import FactStore
    from memctx.facts import Action, CandidateFact, FactType
    from memctx.facts.extractors import Extractor, Message
    from memctx.facts.worker.log import SessionLog
    from memctx.facts.worker.queue import Batch, Cursor
    from memctx.providers.background import BackgroundLoop

    Count = Callable[[Sequence[Action], Usage], None]
    """Callback that counts actions and usage."""

logger = logging.getLogger("memctx.facts.worker")

# Known facts that the extractor is shown.
MAX_KNOWN = 20
# OpenClaw's threshold: less text is not worth a call. Here it waits for more.
MIN_CHARACTERS = 50
# Malformed answers, after which a batch becomes a dead letter.
MAX_MALFORMED = 3
# Bytes without a message of the session, after which the cursor is saved to skip them.
WORTH_SAVING = 4 << 20


BREAKER = BreakerPolicy(failures=3, cool_down=60.0, max_cool_down=1800.0, delay=1.0, jitter=0.25)


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """When facts are extracted, and how failures are retried."""

    batch_chars: int = 24_000
    """Characters that are enough for a batch; a batch holds about as many."""
    min_messages: int = 5
    """Messages that are enough for a batch."""
    start: Literal["end", "beginning"] = "end"
    """Where a session that is opened for the first time begins: at the ``"end"`` its history costs nothing."""
    call_timeout: float = 300.0
    """Seconds for one call of the extractor."""
    breaker: BreakerPolicy = BREAKER

    def __post_init__(self) -> None:
        for name in ("batch_chars", "min_messages"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)!r}")
        if self.call_timeout <= 0:
            raise ConfigError(
                f"call_timeout must be more than 0 seconds, not {self.call_timeout!r}"
            )
        if self.start not in {"end", "beginning"}:
            raise ConfigError(f"start is {self.start!r}; expected 'end' or 'beginning'")


class HostLease(Protocol):
    """Lease of a session among hosts. `acquire` may wait for a server, the others return at once."""

    @property
    def log(self) -> SessionLog:
        """The log that all of them read."""
        ...

    @property
    def is_held(self) -> bool:
        """True if this host holds the lease."""
        ...

    def acquire(self) -> bool:
        """Acquire or renew the lease, and return whether it is held."""
        ...

    def release(self, offset: int) -> None:
        """Release the lease, with everything before an offset done."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """A session's extraction: what it reads, writes and asks."""

    store: Path
    session_id: str
    facts: FactStore
    extractor: Extractor
    options: ExtractionOptions
    hosts: HostLease | None = None
    """Lease among the hosts that share the session, if several do."""

    def open_log(self) -> SessionLog:
        """Return what is extracted from: the session on disk, or as hosts share it."""
        return Log(self.store, self.session_id) if self.hosts is None else self.hosts.log


@dataclass(slots=True)
class _Answers:
    """State of a batch whose extraction has begun."""

    batch: tuple[int, int]
    done: int = 0
    """Number of parts whose facts are stored."""
    candidates: tuple[CandidateFact, ...] | None = None
    """Candidates of the next part, while they are not stored."""
    known: tuple[Known, ...] = ()


class BatchExtractor:
    """Extracts facts from one batch at a time. A retry resumes at the part that failed: no answer is paid twice."""

    def __init__(self, settings: Settings, loop: BackgroundLoop) -> None:
        self._settings = settings
        self._loop = loop
        self._answers: _Answers | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Store nothing from now on, whatever answers arrive."""
        self._is_stopped = True

    async def extract(self, batch: Batch, count: Count) -> None:
        """Extract from a batch and store the facts; raise any exception if that fails."""
        span = (batch.start, batch.end)
        if self._answers is None or self._answers.batch != span:
            self._answers = _Answers(span)
        answers = self._answers
        for part in batch.parts[answers.done :]:
            if answers.candidates is None:
                answers.known = await self._loop.run_blocking(partial(self._find_known, part))
                found = await self._ask(Request(part, answers.known))
                answers.candidates = found.candidates
                count((), found.usage)
            store = partial(update, self._settings.facts, answers.candidates, answers.known)
            steps = await self._loop.run_blocking(store)
            count([step.action for step in steps], Usage())
            answers.candidates = None
            answers.done += 1
        self._answers = None

    def _find_known(self, part: Sequence[Message]) -> tuple[Known, ...]:
        text = "\n".join(message.text for message in part)
        found = self._settings.facts.nearest(text, limit=MAX_KNOWN)
        # Another program may have written facts of another type; they are shown, nothing more.
        return tuple(Known(fact.id, cast("FactType", fact.type), fact.content) for fact in found)

    async def _ask(self, request: Request) -> ExtractionResult:
        try:
            async with asyncio.timeout(self._settings.options.call_timeout):
                found = await self._settings.extractor.extract(request)
        except Exception:
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise ExtractionError("the extractor cancelled its call") from None
        except BaseException as error:  # noqa: BLE001 - it would end the loop, and with it the work of all sessions
            raise ExtractionError(f"the extractor raised {type(error).__name__}") from None
        if self._is_stopped:  # the extractor suppressed its cancellation
            raise asyncio.CancelledError
        return _check_result(found)


class BatchProcessor:
    """Processes the batches of a session and keeps its cursor. All methods belong to the shared loop."""

    def __init__(self, settings: Settings, loop: BackgroundLoop, cursor: Cursor) -> None:
        self.cursor = cursor
        self.pending = Pending()
        self.breaker = CircuitBreaker(settings.options.breaker)
        self.retries: list[FailedBatch] = []
        """Dead letters that are to be retried."""
        self.error: str | None = None
        """The last error, until a batch succeeds."""
        self._settings = settings
        self._loop = loop
        self._path = queue.cursor_path(settings.store, settings.session_id)
        self._log = settings.open_log()
        self._backlog = Backlog(self._log, settings.options.batch_chars)
        self._extractor = BatchExtractor(settings, loop)
        self._saved = cursor
        self._stamp: tuple[int, int] | None = None

    def stop(self) -> None:
        """Store nothing from now on."""
        self._extractor.stop()

    def retry(self) -> None:
        """Close the circuit breaker, and schedule all dead letters."""
        self.breaker.reset()
        self.retries = list(self.cursor.dead_letters)

    async def refresh(self) -> None:
        """Read the cursor and the backlog from disk."""
        self.cursor, self.pending = await self._loop.run_blocking(self._read_state)

    def _read_state(self) -> tuple[Cursor, Pending]:
        cursor = self._backlog.relocate(self._load_cursor())
        return cursor, self._backlog.pending(cursor.offset)

    def _load_cursor(self) -> Cursor:
        """Return the cursor as another process may have moved it."""
        stamp = queue.cursor_stamp(self._path)
        if stamp == self._stamp:
            return self.cursor
        self._stamp = stamp
        try:
            saved = queue.load_cursor(self._path, self._settings.session_id)
        except ValueError as error:
            # Nothing is lost by continuing with the cursor in memory; the next save replaces the file.
            logger.warning("%s: not usable, replaced: %s", self._path, error)
            return self.cursor
        if saved is None or saved == self._saved:
            return self.cursor
        self._saved = saved
        return saved

    async def process_next(self) -> None:
        """Process one batch: a dead letter that is to be retried, or the batch at the cursor."""
        if self.retries:
            await self._retry_dead_letter(self.retries[0])
            return
        batch, failed = await self._take_next()
        if batch is None:
            await self._skip_to(self._backlog.reached)
            return
        if failed and self.breaker.is_open and await self._probe_next(batch, failed):
            return
        error = await self._try_batch(batch)
        if error is None:
            await self._advance(batch)
            return
        failed = _record_failure(batch, failed, error)
        if _is_hopeless(error, failed):
            self.breaker.reset()  # the extractor answers, only not to this batch
            await self._advance(batch, dead_letter=failed)
        else:
            await self._save(replace(self.cursor, failed=failed))

    async def _take_next(self) -> tuple[Batch | None, FailedBatch | None]:
        """Return the batch at the cursor, with the segments it had if it has failed before."""
        if (failed := self.cursor.failed) is not None:
            batch = await self._loop.run_blocking(partial(self._backlog.take_again, failed))
            if batch is not None and batch.start == self.cursor.offset:
                return batch, failed
        take = partial(self._backlog.take, self.cursor.offset)
        return await self._loop.run_blocking(take), None

    async def _probe_next(self, batch: Batch, failed: FailedBatch) -> bool:
        """Try the batch behind a failing one: if it succeeds, the fault lies in the batch and not in the extractor."""
        following = await self._loop.run_blocking(partial(self._backlog.take, batch.end))
        if following is None or following.pending.characters < MIN_CHARACTERS:
            return False
        error = await self._try_batch(following)
        if error is None or not _is_retryable(error):
            await self._advance(batch, dead_letter=failed)
            if error is None:
                await self._advance(following)
        else:
            await self._save(replace(self.cursor, failed=_record_failure(batch, failed, error)))
        return True

    async def _retry_dead_letter(self, failed: FailedBatch) -> None:
        left = [each for each in self.cursor.dead_letters if each != failed]
        batch = await self._loop.run_blocking(partial(self._backlog.take_again, failed))
        if batch is None:
            logger.warning(
                "session %r: a failed batch is no longer in the archive", self._settings.session_id
            )
        elif (error := await self._try_batch(batch)) is not None:
            failed = _record_failure(batch, failed, error)
            left.append(failed)
            if not _is_hopeless(error, failed):  # again, once the breaker allows it
                self.retries[0] = failed
                await self._save(replace(self.cursor, dead_letters=tuple(left)))
                return
            self.breaker.reset()
        else:
            self._count_batch()
        self.retries.pop(0)
        await self._save(replace(self.cursor, dead_letters=tuple(left)))

    async def _try_batch(self, batch: Batch) -> Exception | None:
        """Extract from a batch; return the error if that fails."""
        try:
            await self._extractor.extract(batch, self._count)
        except Exception as error:  # noqa: BLE001 - extractors are foreign code
            self._report_failure(error, batch)
            return error
        self.breaker.reset()
        self.error = None
        return None

    def _report_failure(self, error: Exception, batch: Batch) -> None:
        """Count a failed attempt, and log it with the time of the next one."""
        self.error = describe_error(error)
        counts = self.cursor.counts
        self.cursor = replace(self.cursor, counts=replace(counts, failures=counts.failures + 1))
        wait = 0.0
        if not _is_retryable(error):
            self.breaker.reset()  # it refused, so it works
        elif isinstance(error, ExtractionError):
            wait = self.breaker.fail(is_permanent=error.is_permanent, retry_after=error.retry_after)
        else:
            wait = self.breaker.fail()
        logger.warning(
            "session %r: a batch of %d messages failed, next try in %.1f s: %s",
            self._settings.session_id,
            batch.pending.messages,
            wait,
            self.error,
        )

    async def _advance(self, batch: Batch, dead_letter: FailedBatch | None = None) -> None:
        """Move the cursor behind a batch that is done or given up."""
        if dead_letter is None:
            self._count_batch()
        else:
            logger.warning(
                "session %r: a batch of %d messages is given up after %d tries; `retry` tries it again",
                self._settings.session_id,
                batch.pending.messages,
                dead_letter.attempts,
            )
        self._backlog.drop(batch)
        added = () if dead_letter is None else (dead_letter,)
        cursor = replace(
            self.cursor,
            offset=batch.end,
            checksum=batch.checksum,
            last=batch.last,
            failed=None,
            dead_letters=(*self.cursor.dead_letters, *added),
        )
        await self._save(cursor)

    async def _skip_to(self, end: int) -> None:
        """Move the cursor to an offset before which nothing is pending."""
        checksum = await self._loop.run_blocking(partial(self._log.mark, end))
        if checksum is not None:
            await self._save(replace(self.cursor, offset=end, checksum=checksum, failed=None))

    @property
    def is_behind(self) -> bool:
        """True if the cursor on disk should be saved: it differs, or much of the log can be skipped."""
        return self._can_skip or self.cursor != self._saved

    @property
    def _can_skip(self) -> bool:
        is_far = self._backlog.reached - self.cursor.offset > WORTH_SAVING
        return is_far and not self.pending.messages

    async def save_position(self) -> None:
        """Save the cursor, behind all that can be skipped, if the one on disk differs."""
        end, can_skip = self._backlog.reached, self._can_skip
        await self.refresh()
        if can_skip and not self.pending.messages:
            await self._skip_to(end)
        elif self.cursor != self._saved:
            await self._save(self.cursor)

    async def _save(self, cursor: Cursor) -> None:
        self.cursor = cursor

        def save() -> None:
            queue.save_cursor(self._path, self._settings.session_id, cursor)
            self._saved, self._stamp = cursor, queue.cursor_stamp(self._path)

        await self._loop.run_blocking(save)

    def _count(self, actions: Sequence[Action], usage: Usage) -> None:
        self.cursor = replace(self.cursor, counts=self.cursor.counts.add(actions, usage))

    def _count_batch(self) -> None:
        counts = self.cursor.counts
        self.cursor = replace(self.cursor, counts=replace(counts, batches=counts.batches + 1))


def _check_result(found: object) -> ExtractionResult:
    if not isinstance(found, ExtractionResult):
        message = f"the extractor returned {type(found).__name__}; expected ExtractionResult"
        raise ExtractionError(message, is_malformed=True)
    return found


def _record_failure(batch: Batch, before: FailedBatch | None, error: Exception) -> FailedBatch:
    attempts, malformed = (0, 0) if before is None else (before.attempts, before.malformed)
    return FailedBatch(
        start=batch.start,
        end=batch.end,
        segments=batch.segments,
        last=batch.last,
        attempts=attempts + 1,
        malformed=malformed + _is_malformed(error),
        error=describe_error(error),
    )


def _is_hopeless(error: Exception, failed: FailedBatch) -> bool:
    """Return whether to give a batch up: the extractor answers, but not to this batch."""
    return not _is_retryable(error) or (_is_malformed(error) and failed.malformed >= MAX_MALFORMED)


def describe_error(error: BaseException) -> str:
    """Return an error in words; of foreign ones only the kind, since they may quote the conversation."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, (MemctxError, OSError)) else name


def _is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed later."""
    return not isinstance(error, ExtractionError) or error.is_retryable


def _is_malformed(error: BaseException) -> bool:
    """Return whether the extractor answered, but not usefully."""
    return isinstance(error, ExtractionError) and error.is_malformed

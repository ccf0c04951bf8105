"""`Worker`: turns what was archived in a session into facts, one batch after another, on the shared loop."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from memctx.errors import ExtractionError, StoreError
from memctx.extraction import cursor as cursors
from memctx.extraction.backlog import Backlog, Pending
from memctx.extraction.breaker import Breaker
from memctx.extraction.cursor import MOST_ASIDE, Trouble
from memctx.extraction.election import Seat
from memctx.extraction.fault import is_final, is_malformed, place_of, words_of
from memctx.extraction.flush import Flushed
from memctx.extraction.log import Log
from memctx.extraction.progress import Progress
from memctx.extraction.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.extraction.backlog import Batch
    from memctx.extraction.cursor import Cursor
    from memctx.extraction.flush import Flush
    from memctx.extraction.loop import Loop
    from memctx.extraction.progress import State
    from memctx.extraction.settings import Settings
    from memctx.extractors import Usage
    from memctx.knowledge import Action

logger = logging.getLogger("memctx.extraction")

# As the original has it: less says too little to be worth a call. Here it waits for more.
FEWEST_CHARACTERS = 50
# Answers that cannot be used, after which a batch is set aside.
MOST_MALFORMED = 3
# How often another process that works on the session is looked at, in seconds.
POLL = 0.25
MOST_DOUBLINGS = 4
# What is passed over without a fact to be found is remembered once it is worth a write.
WORTH_SAVING = 4 << 20


class Worker:
    """Works until it is cancelled. All but `progress`, `is_nudged` and `ended` belongs to the loop."""

    def __init__(self, settings: Settings, loop: Loop, cursor: Cursor) -> None:
        self.progress = Progress(set_aside=len(cursor.aside), tally=cursor.tally)
        """As of the last time something happened."""
        self.is_nudged = False
        """Whether it will look again anyway."""
        self.ended = threading.Event()
        """Set when it has let go of everything."""
        self._settings = settings
        self._loop = loop
        self._path = cursors.path_of(settings.store, settings.session_id)
        self._log = Log(settings.store, settings.session_id)
        self._backlog = Backlog(self._log, settings.batch_chars)
        self._reader = Reader(settings, loop)
        self._breaker = Breaker(settings.patience)
        self._seat = Seat(settings.store, settings.session_id)
        self._cursor = self._saved = cursor
        self._stamp: tuple[int, int] | None = None
        self._pending = Pending()
        self._again: list[Trouble] = []
        self._flushes: list[Flush] = []
        self._error: str | None = None
        self._polls = 0
        self._awake = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None
        self._is_over = False

    # What others call, on the loop.

    def nudge(self) -> None:
        """Look at the log again."""
        self._awake.set()

    def expect(self, flush: Flush, timeout: float | None) -> None:
        """Work on whatever is pending until the flush is served."""
        if self.ended.is_set():
            self._answer(flush, "extraction is closed")
            return
        self._flushes.append(flush)
        if timeout is not None:
            asyncio.get_running_loop().call_later(timeout, self._give_up, flush, timeout)
        self._awake.set()

    def retry(self) -> None:
        """Take nothing that failed for dead any more, neither batches nor the extractor."""
        self._breaker.close()
        self._again = list(self._cursor.aside)
        self._awake.set()

    def cancel(self) -> None:
        """Stop at once, in the midst of a call too."""
        self._is_over = True
        self._reader.stop()
        if self._task is not None:
            self._task.cancel()

    def abandon(self) -> None:
        """Let another process work: an extractor would not be cancelled, or this is a forked child."""
        self._seat.leave()

    async def run(self) -> None:
        """Work until cancelled."""
        self._task = asyncio.current_task()
        try:
            while not self._is_over:
                self._awake.clear()
                self.is_nudged = False
                pause = await self._round()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._awake.wait()
        finally:
            self._seat.leave()
            self._publish("closed")
            self.ended.set()
            for flush in self._flushes:
                self._answer(flush, "extraction is closed")

    # A round: from one rest to the next.

    async def _round(self) -> float | None:
        """Do what is due; the seconds until it is worth looking again, None if somebody will say so."""
        asked = list(self._flushes)
        try:
            return await self._do_what_is_due(asked)
        except (StoreError, OSError) as error:
            return self._fault(error, asked)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the work for good
            logger.error("session %r: %s", self._settings.session_id, place_of(error))  # noqa: TRY400 - it may quote
            return self._fault(error, asked)
        finally:
            self._seat.leave()

    async def _do_what_is_due(self, asked: list[Flush]) -> float | None:
        await self._look()
        while self._is_due(asked):
            if reached := [flush for flush in asked if self._has_reached(flush)]:
                self._publish("working")
                self._serve(reached)
            if self._cursor.is_full and not self._again:
                self._error = f"{MOST_ASIDE} batches are set aside; `retry` tries them again"
                self._publish("stopped")
                self._serve(asked, self._error)
                return None
            if wait := self._breaker.wait:
                self._publish("open" if self._breaker.is_open else "waiting", wait)
                if self._breaker.is_open:
                    self._serve(asked, self._error)
                return wait
            if not self._seat.is_taken:
                if not await self._loop.by_hand(self._seat.take):
                    self._publish("elsewhere")
                    self._polls = 0 if asked else min(self._polls + 1, MOST_DOUBLINGS)
                    return POLL * float(2**self._polls)
                self._polls = 0
                await self._look()  # another process may have done it
                continue
            self._publish("working")
            await self._work()
            asked += [flush for flush in self._flushes if flush not in asked]
            await self._look()
            if self._breaker.is_open:  # who waits is told at once, however soon a probe is due
                self._publish("open", self._breaker.wait)
                self._serve(asked, self._error)
        await self._keep_place()
        self._publish("idle")
        self._serve(asked)
        return None

    def _is_due(self, asked: Sequence[Flush]) -> bool:
        if self._again or self._cursor.trouble is not None:
            return True
        pending = self._pending
        if pending.characters < FEWEST_CHARACTERS:
            return False
        return (
            pending.messages >= self._settings.fewest_messages
            or pending.characters >= self._settings.batch_chars
            or any(flush.goal > self._cursor.offset for flush in asked)
        )

    def _has_reached(self, flush: Flush) -> bool:
        return not self._again and flush.goal <= self._cursor.offset

    async def _look(self) -> None:
        """See how things stand on disk."""
        self._cursor, self._pending = await self._loop.by_hand(self._looked)

    def _looked(self) -> tuple[Cursor, Pending]:
        cursor = self._backlog.placed(self._loaded())
        return cursor, self._backlog.pending(cursor.offset)

    def _loaded(self) -> Cursor:
        """The cursor as another process may have moved it."""
        stamp = cursors.stamp_of(self._path)
        if stamp == self._stamp:
            return self._cursor
        self._stamp = stamp
        try:
            saved = cursors.load(self._path, self._settings.session_id)
        except ValueError as error:
            # Nothing is lost by going on from what is known here; the next save mends it.
            logger.warning("%s: not usable, replaced: %s", self._path, error)
            return self._cursor
        if saved is None or saved == self._saved:
            return self._cursor
        self._saved = saved
        return saved

    # A batch: one of those to be tried again, or the one at the cursor.

    async def _work(self) -> None:
        if self._again:
            await self._try_again(self._again[0])
            return
        batch, trouble = await self._next()
        if batch is None:
            await self._pass_over(self._backlog.reached)
            return
        if trouble and self._breaker.is_open and await self._stepped_over(batch, trouble):
            return
        error = await self._failure_of(batch)
        if error is None:
            await self._move_on(batch)
            return
        failed = _trouble(batch, trouble, error)
        if _is_hopeless(error, failed):
            self._breaker.close()  # it answers, if not to this
            await self._move_on(batch, aside=failed)
        else:
            await self._save(replace(self._cursor, trouble=failed))

    async def _next(self) -> tuple[Batch | None, Trouble | None]:
        """The batch at the cursor, as it was if it has failed before."""
        if (trouble := self._cursor.trouble) is not None:
            batch = await self._loop.by_hand(partial(self._backlog.taken, trouble))
            if batch is not None and batch.start == self._cursor.offset:
                return batch, trouble
        take = partial(self._backlog.take, self._cursor.offset)
        return await self._loop.by_hand(take), None

    async def _stepped_over(self, batch: Batch, trouble: Trouble) -> bool:
        """Try the batch behind one that fails, if there is one: where that is answered, the extractor is not dead."""
        following = await self._loop.by_hand(partial(self._backlog.take, batch.end))
        if following is None or following.pending.characters < FEWEST_CHARACTERS:
            return False
        error = await self._failure_of(following)
        if error is None or is_final(error):
            await self._move_on(batch, aside=trouble)
            if error is None:
                await self._move_on(following)
        else:
            await self._save(replace(self._cursor, trouble=_trouble(batch, trouble, error)))
        return True

    async def _try_again(self, trouble: Trouble) -> None:
        """Try a batch that was set aside."""
        aside = [each for each in self._cursor.aside if each != trouble]
        batch = await self._loop.by_hand(partial(self._backlog.taken, trouble))
        if batch is None:
            logger.warning(
                "session %r: a batch that was set aside is no longer in the archive",
                self._settings.session_id,
            )
        elif (error := await self._failure_of(batch)) is not None:
            failed = _trouble(batch, trouble, error)
            aside.append(failed)
            if not _is_hopeless(error, failed):  # again, when the breaker lets it
                self._again[0] = failed
                await self._save(replace(self._cursor, aside=tuple(aside)))
                return
            self._breaker.close()
        else:
            self._count_batch()
        self._again.pop(0)
        await self._save(replace(self._cursor, aside=tuple(aside)))

    async def _failure_of(self, batch: Batch) -> Exception | None:
        """Extract from a batch; what went wrong, if anything did."""
        try:
            await self._reader.read(batch, self._count)
        except Exception as error:  # noqa: BLE001 - extractors are foreign code
            self._note(error, batch)
            return error
        self._breaker.close()
        self._error = None
        return None

    # What becomes of it.

    async def _move_on(self, batch: Batch, aside: Trouble | None = None) -> None:
        """The batch at the cursor is done, or set aside."""
        if aside is None:
            self._count_batch()
        else:
            logger.warning(
                "session %r: a batch of %d messages is set aside after %d tries",
                self._settings.session_id,
                batch.pending.messages,
                aside.attempts,
            )
        self._backlog.drop(batch)
        cursor = replace(
            self._cursor,
            offset=batch.end,
            mark=batch.mark,
            last=batch.last,
            trouble=None,
            aside=self._cursor.aside if aside is None else (*self._cursor.aside, aside),
        )
        await self._save(cursor)

    async def _pass_over(self, end: int) -> None:
        """Nothing is pending before a place."""
        mark = await self._loop.by_hand(partial(self._log.mark, end))
        if mark is not None:
            await self._save(replace(self._cursor, offset=end, mark=mark, trouble=None))

    async def _keep_place(self) -> None:
        """Save what is worth it: a place that could not be saved or was moved, or one that is far behind."""
        end = self._backlog.reached
        is_far = not self._pending.messages and end - self._cursor.offset > WORTH_SAVING
        if (is_far or self._cursor != self._saved) and await self._loop.by_hand(self._seat.take):
            await self._look()
            if is_far and not self._pending.messages:
                await self._pass_over(end)
            elif self._cursor != self._saved:
                await self._save(self._cursor)

    async def _save(self, cursor: Cursor) -> None:
        self._cursor = cursor

        def save() -> None:
            cursors.save(self._path, self._settings.session_id, cursor)
            self._saved, self._stamp = cursor, cursors.stamp_of(self._path)

        await self._loop.by_hand(save)

    def _count(self, actions: Sequence[Action], usage: Usage) -> None:
        tally = self._cursor.tally.counting(actions, usage)
        self._cursor = replace(self._cursor, tally=tally)

    def _count_batch(self) -> None:
        tally = self._cursor.tally
        self._cursor = replace(self._cursor, tally=replace(tally, batches=tally.batches + 1))

    # What is told.

    def _note(self, error: Exception, batch: Batch) -> None:
        """A batch failed: say so, and when it goes on."""
        self._error = words_of(error)
        tally = self._cursor.tally
        self._cursor = replace(self._cursor, tally=replace(tally, failures=tally.failures + 1))
        wait = 0.0
        if is_final(error):
            self._breaker.close()  # it refused, so it lives
        elif isinstance(error, ExtractionError):
            wait = self._breaker.fail(is_dead=error.is_dead, retry_after=error.retry_after)
        else:
            wait = self._breaker.fail()
        logger.warning(
            "session %r: a batch of %d messages failed, next try in %.1f s: %s",
            self._settings.session_id,
            batch.pending.messages,
            wait,
            self._error,
        )

    def _fault(self, error: Exception, asked: Sequence[Flush]) -> float:
        """Something of ours cannot be read or written; the seconds until it is tried again."""
        self._error = words_of(error)
        wait = self._breaker.fail()
        logger.warning(
            "session %r: not now, next try in %.1f s: %s",
            self._settings.session_id,
            wait,
            self._error,
        )
        self._publish("open" if self._breaker.is_open else "waiting", wait)
        self._serve(asked, self._error)
        return wait

    def _publish(self, state: State, wait: float | None = None) -> None:
        self.progress = Progress(
            state=state,
            pending_segments=self._pending.messages,
            pending_characters=self._pending.characters,
            set_aside=len(self._cursor.aside),
            tally=self._cursor.tally,
            last_error=self._error,
            next_try=None if wait is None else time.time() + wait,
        )

    def _serve(self, flushes: Sequence[Flush], reason: str | None = None) -> None:
        for flush in flushes:
            self._answer(flush, reason)
        self._flushes = [flush for flush in self._flushes if not flush.is_done]

    def _give_up(self, flush: Flush, timeout: float) -> None:
        self._serve([flush], f"not done in {timeout:g} s")

    def _answer(self, flush: Flush, reason: str | None) -> None:
        flush.settle(Flushed(reason is None, self.progress, reason))


def _trouble(batch: Batch, before: Trouble | None, error: Exception) -> Trouble:
    attempts, malformed = (0, 0) if before is None else (before.attempts, before.malformed)
    return Trouble(
        start=batch.start,
        end=batch.end,
        segments=batch.segments,
        last=batch.last,
        attempts=attempts + 1,
        malformed=malformed + is_malformed(error),
        error=words_of(error),
    )


def _is_hopeless(error: Exception, trouble: Trouble) -> bool:
    """Whether a batch is to be set aside: the extractor answers, but not to this."""
    return is_final(error) or (is_malformed(error) and trouble.malformed >= MOST_MALFORMED)

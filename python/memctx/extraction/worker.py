"""`Worker`: turns what was archived in a session into facts, one batch after another, on the shared loop."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memctx.errors import ExtractionError, MemctxError, StoreError
from memctx.extraction import cursor as cursors
from memctx.extraction.backlog import Backlog, Pending
from memctx.extraction.breaker import Breaker
from memctx.extraction.cursor import MOST_ASIDE, Cursor, Trouble
from memctx.extraction.election import Seat
from memctx.extraction.flush import Flushed
from memctx.extraction.log import Log
from memctx.extraction.progress import Progress
from memctx.extractors import Extraction, Known, Request, Usage
from memctx.knowledge.update import update

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx._core import FactStore
    from memctx.extraction.backlog import Batch
    from memctx.extraction.breaker import Patience
    from memctx.extraction.flush import Flush
    from memctx.extraction.loop import Loop
    from memctx.extraction.progress import State
    from memctx.extractors import Extractor, Message
    from memctx.knowledge import Draft

logger = logging.getLogger("memctx.extraction")

# As the original has it: less says too little to be worth a call, and waits for more.
FEWEST_CHARACTERS = 50
# Answers that cannot be used, after which a batch is set aside.
MOST_MALFORMED = 3
KNOWN = 20
# How often another process that works on the session is looked at, in seconds.
POLL = 0.25
LONGEST_POLL = 5.0
# What is passed over without a fact to be found is remembered once it is worth a write.
WORTH_SAVING = 4 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker works with."""

    store: Path
    session_id: str
    facts: FactStore
    extractor: Extractor
    batch_chars: int
    fewest_messages: int
    longest_call: float
    patience: Patience


@dataclass(slots=True)
class Answers:
    """What was answered for the batch at hand, so that nothing is asked, and paid, twice in this process."""

    batch: tuple[int, int]
    done: int = 0
    """Parts whose facts are stored."""
    drafts: Sequence[Draft] | None = None
    """What the next part gave, while it is not stored."""
    known: tuple[Known, ...] = ()


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
        self._breaker = Breaker(settings.patience)
        self._seat = Seat(settings.store, settings.session_id)
        self._cursor = self._saved = cursor
        self._awake = asyncio.Event()
        self._flushes: list[Flush] = []
        self._again: list[Trouble] = []
        self._answers: Answers | None = None
        self._polls = 0
        self._error: str | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_over = False
        self._pending = Pending()

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
        if self._task is not None:
            self._task.cancel()

    def abandon(self) -> None:
        """Let another process work, whatever the extractor does that would not be cancelled."""
        self._seat.leave()

    def forget(self) -> None:
        """In a forked child: let go of what is the parent's."""
        self._seat.leave()

    async def run(self) -> None:
        """Work until cancelled."""
        self._task = asyncio.current_task()
        try:
            while not self._is_over:
                self._awake.clear()
                self.is_nudged = False
                pause = await self._round()
                try:
                    async with asyncio.timeout(pause):
                        await self._awake.wait()
                except TimeoutError:
                    pass
        finally:
            self._seat.leave()
            self._publish("closed")
            self.ended.set()
            for flush in self._flushes:
                self._answer(flush, "extraction is closed")

    async def _round(self) -> float | None:
        """Do what is due; the seconds until it is worth looking again, None if somebody will say so."""
        asked = list(self._flushes)
        try:
            pause = await self._done_what_is_due(asked)
        except (StoreError, OSError) as error:
            pause = self._fault(error)
            self._serve(asked, self._error)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the work for good
            logger.error("session %r: %s", self._settings.session_id, _place_of(error))  # noqa: TRY400 - it may quote
            pause = self._fault(error)
            self._serve(asked, self._error)
        finally:
            self._seat.leave()
        return pause

    async def _done_what_is_due(self, asked: list[Flush]) -> float | None:
        await self._look()
        while self._is_due(asked):
            if reached := [flush for flush in asked if self._has_reached(flush)]:
                self._publish("working")
                self._serve(reached, None)
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
                    self._polls = 0 if asked else min(self._polls + 1, 8)
                    return min(POLL * 2**self._polls, LONGEST_POLL)
                self._polls = 0
                await self._look()  # another process may have done it
                continue
            self._publish("working")
            await self._work()
            asked += [flush for flush in self._flushes if flush not in asked]
            await self._look()
        await self._keep_place()
        self._publish("idle")
        self._serve(asked, None)
        return None

    def _is_due(self, asked: Sequence[Flush]) -> bool:
        pending = self._pending
        if self._again:
            return True
        if pending.characters < FEWEST_CHARACTERS and self._cursor.trouble is None:
            return False
        return (
            pending.messages >= self._settings.fewest_messages
            or pending.characters >= self._settings.batch_chars
            or self._cursor.trouble is not None
            or any(flush.goal > self._cursor.offset for flush in asked)
        )

    def _has_reached(self, flush: Flush) -> bool:
        return not self._again and flush.goal <= self._cursor.offset

    async def _look(self) -> None:
        """See how things stand on disk."""
        self._cursor, self._pending = await self._loop.by_hand(self._looked)

    def _looked(self) -> tuple[Cursor, Pending]:
        cursor = self._cursor
        if not self._seat.is_taken:
            cursor = self._loaded()
        cursor = self._backlog.placed(cursor)
        return cursor, self._backlog.pending(cursor.offset)

    def _loaded(self) -> Cursor:
        """What another process may have come to."""
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

    # A batch.

    async def _work(self) -> None:
        """Work on the next batch: one of those to be tried again, or the one at the cursor."""
        if self._again:
            await self._try_again(self._again[0])
            return
        trouble = self._cursor.trouble
        batch = None
        if trouble is not None:
            batch = await self._loop.by_hand(lambda: self._backlog.taken(trouble))
        if batch is None or batch.start != self._cursor.offset:
            trouble = None
            offset = self._cursor.offset
            batch = await self._loop.by_hand(lambda: self._backlog.take(offset))
        if batch is None:
            await self._pass_over(self._backlog.reached)
            return
        if trouble is not None and self._breaker.is_open and await self._stepped_over(batch, trouble):
            return
        error = await self._failure_of(batch)
        if error is None:
            await self._move_on(batch)
            return
        failed = self._trouble(batch, trouble, error)
        if _is_hopeless(error, failed):
            self._breaker.close()  # it answers, if not to this
            await self._move_on(batch, aside=failed)
        else:
            await self._save(replace(self._cursor, trouble=failed))

    async def _stepped_over(self, batch: Batch, trouble: Trouble) -> bool:
        """Whether the batch behind the one that fails went well: then it is not the extractor that fails."""
        following = await self._loop.by_hand(lambda: self._backlog.take(batch.end))
        if following is None or following.pending.characters < FEWEST_CHARACTERS:
            return False
        error = await self._failure_of(following)
        if isinstance(error, ExtractionError) and error.is_final:
            await self._move_on(batch, aside=trouble)
            return True
        if error is not None:
            # Which of the two it would have been does not matter: neither is asked until the next probe.
            await self._save(replace(self._cursor, trouble=self._trouble(batch, trouble, error)))
            return True
        await self._move_on(batch, aside=trouble)
        await self._move_on(following)
        return True

    async def _try_again(self, trouble: Trouble) -> None:
        batch = await self._loop.by_hand(lambda: self._backlog.taken(trouble))
        aside = [each for each in self._cursor.aside if each != trouble]
        if batch is None:
            logger.warning(
                "session %r: a batch that was set aside is no longer in the archive",
                self._settings.session_id,
            )
        elif (error := await self._failure_of(batch)) is not None:
            failed = self._trouble(batch, trouble, error)
            aside.append(failed)
            if not _is_hopeless(error, failed):  # again, when the breaker lets it
                self._again[0] = failed
                await self._save(replace(self._cursor, aside=tuple(aside)))
                return
            self._breaker.close()
        else:
            tally = self._cursor.tally
            self._cursor = replace(self._cursor, tally=replace(tally, batches=tally.batches + 1))
        self._again.pop(0)
        await self._save(replace(self._cursor, aside=tuple(aside)))

    async def _failure_of(self, batch: Batch) -> Exception | None:
        """Extract from a batch; what went wrong, if anything did."""
        try:
            await self._extract(batch)
        except Exception as error:  # noqa: BLE001 - extractors are foreign code
            self._note(error, batch)
            return error
        self._breaker.close()
        self._error = None
        return None

    async def _extract(self, batch: Batch) -> None:
        if self._answers is None or self._answers.batch != (batch.start, batch.end):
            self._answers = Answers((batch.start, batch.end))
        answers = self._answers
        for part in batch.parts[answers.done :]:
            if answers.drafts is None:
                answers.known = await self._loop.by_hand(lambda part=part: self._near(part))
                found = await self._ask(Request(part, answers.known))
                answers.drafts = found.drafts
                self._count((), found.usage)
            drafts, known = answers.drafts, answers.known
            facts = self._settings.facts
            ops = await self._loop.by_hand(
                lambda drafts=drafts, known=known: update(facts, drafts, known)
            )
            self._count([op.action for op in ops])
            answers.drafts = None
            answers.done += 1
        self._answers = None

    def _near(self, part: Sequence[Message]) -> tuple[Known, ...]:
        text = "\n".join(message.text for message in part)
        found = self._settings.facts.nearest(text, limit=KNOWN)
        return tuple(Known(fact.id, fact.type, fact.content) for fact in found)

    async def _ask(self, request: Request) -> Extraction:
        try:
            async with asyncio.timeout(self._settings.longest_call):
                found: object = await self._settings.extractor.extract(request)
        except Exception:
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise ExtractionError("the extractor cancelled its call") from None
        except BaseException as error:  # it would end the loop, and with it the work of all sessions
            raise ExtractionError(f"the extractor raised {type(error).__name__}") from None
        if self._is_over:  # it did not let itself be cancelled
            raise asyncio.CancelledError
        if not isinstance(found, Extraction):
            told = f"the extractor gave {type(found).__name__}; expected Extraction"
            raise ExtractionError(told, is_malformed=True)
        return found

    # What becomes of it.

    def _count(self, actions: Sequence[Any], usage: Usage | None = None) -> None:
        tally = self._cursor.tally.counting(actions, usage or Usage())
        self._cursor = replace(self._cursor, tally=tally)

    def _note(self, error: Exception, batch: Batch) -> None:
        """Count a failure, and say when it goes on."""
        self._error = _words_of(error)
        tally = self._cursor.tally
        self._cursor = replace(self._cursor, tally=replace(tally, failures=tally.failures + 1))
        if isinstance(error, ExtractionError) and error.is_final:
            self._breaker.close()  # it refused, so it lives
            wait = 0.0
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

    @staticmethod
    def _trouble(batch: Batch, before: Trouble | None, error: Exception) -> Trouble:
        attempts, malformed = (0, 0) if before is None else (before.attempts, before.malformed)
        return Trouble(
            batch.start,
            batch.end,
            batch.segments,
            batch.last,
            attempts + 1,
            malformed + (isinstance(error, ExtractionError) and error.is_malformed),
            _words_of(error),
        )

    async def _move_on(self, batch: Batch, aside: Trouble | None = None) -> None:
        """The batch at the cursor is done, or set aside."""
        cursor, tally = self._cursor, self._cursor.tally
        if aside is None:
            tally = replace(tally, batches=tally.batches + 1)
        else:
            self._answers = None
            logger.warning(
                "session %r: a batch of %d messages is set aside after %d tries",
                self._settings.session_id,
                batch.pending.messages,
                aside.attempts,
            )
        self._backlog.drop(batch)
        await self._save(
            replace(
                cursor,
                offset=batch.end,
                mark=batch.mark,
                last=batch.last,
                trouble=None,
                aside=cursor.aside if aside is None else (*cursor.aside, aside),
                tally=tally,
            )
        )

    async def _pass_over(self, end: int) -> None:
        """Nothing is pending before a place."""
        mark = await self._loop.by_hand(lambda: self._log.mark(end))
        if mark is not None:
            await self._save(replace(self._cursor, offset=end, mark=mark, trouble=None))

    async def _keep_place(self) -> None:
        """Save what is not saved, if it is worth it: a place moved by a new log, or far on over other sessions."""
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
        await self._loop.by_hand(
            lambda: cursors.save(self._path, self._settings.session_id, cursor)
        )
        self._saved = cursor

    # What is told.

    def _fault(self, error: Exception) -> float:
        """Something of ours cannot be read or written; the seconds until it is tried again."""
        self._error = _words_of(error)
        wait = self._breaker.fail()
        logger.warning(
            "session %r: not now, next try in %.1f s: %s", self._settings.session_id, wait, self._error
        )
        self._publish("waiting", wait)
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

    def _serve(self, flushes: Sequence[Flush], reason: str | None) -> None:
        for flush in flushes:
            self._answer(flush, reason)
        self._flushes = [flush for flush in self._flushes if not flush.is_done]

    def _give_up(self, flush: Flush, timeout: float) -> None:
        self._answer(flush, f"not done in {timeout:g} s")
        self._flushes = [flush for flush in self._flushes if not flush.is_done]

    def _answer(self, flush: Flush, reason: str | None) -> None:
        flush.settle(Flushed(reason is None, self.progress, reason))


def _is_hopeless(error: Exception, trouble: Trouble) -> bool:
    """Whether a batch is to be set aside: the extractor answers, but not to this."""
    if not isinstance(error, ExtractionError):
        return False
    return error.is_final or (error.is_malformed and trouble.malformed >= MOST_MALFORMED)


def _words_of(error: BaseException) -> str:
    """What to say of an error. Foreign ones may quote what was said, so only their kind is told."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, (MemctxError, OSError)) else name


def _place_of(error: BaseException) -> str:
    """Where an error comes from, without its words."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {frame.f_code.co_qualname}, line {line}"

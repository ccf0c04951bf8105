"""Session worker: turns what was archived in a session into facts, batch after batch, on the shared loop."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memctx import _core, store_files
from memctx.errors import LateError, ServerUnavailableError, StoreError
from memctx.facts.worker.batches import MIN_CHARACTERS, BatchProcessor, describe_error
from memctx.facts.worker.progress import FactsReady, Progress
from memctx.facts.worker.queue import FOLDER, MAX_DEAD_LETTERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx.facts.worker.batches import HostLease, Settings
    from memctx.facts.worker.progress import FactsFuture, State
    from memctx.facts.worker.queue import Cursor
    from memctx.providers.background import BackgroundLoop

logger = logging.getLogger("memctx.facts.worker")

# Seconds between two looks at a session that another process works on.
POLL = 0.25
SECONDS_WITHOUT_SERVER = 2.0
MAX_DOUBLINGS = 4


class SessionLease:
    """The lease of the process that extracts facts from a session, held only while there is work.

    Where hosts share the session, the lease among them is held, too.
    """

    def __init__(self, store: Path, session_id: str, hosts: HostLease | None) -> None:
        self._path = store_files.path_of(store, FOLDER, session_id, ".lock")
        self._lease = _core.Lease(self._path)
        self._hosts = hosts

    @property
    def is_held(self) -> bool:
        """True if this process holds the lease."""
        return self._lease.is_held and (self._hosts is None or self._hosts.is_held)

    def acquire(self) -> bool:
        """Acquire the lease unless another process has it, and return whether it is held."""
        if not self._lease.is_held:
            store_files.make_folder(self._path.parent)
        if not self._lease.acquire():
            return False
        if self._hosts is None or self._hosts.is_held or self._hosts.acquire():
            return True
        self._lease.release()
        return False

    def release(self, offset: int = 0) -> None:
        """Release the lease, with everything before an offset done; in a forked child, leave it to the parent."""
        if self._hosts is not None and self._lease.is_held:
            self._hosts.release(offset)
        self._lease.release()


class SessionWorker:
    """Works until it is cancelled. All but `progress`, `is_notified` and `ended` belongs to the loop."""

    def __init__(self, settings: Settings, loop: BackgroundLoop, cursor: Cursor) -> None:
        self.progress = Progress(dead_letters=len(cursor.dead_letters), counts=cursor.counts)
        """State when something last happened."""
        self.is_notified = False
        """True if it will read the log again anyway."""
        self.ended = threading.Event()
        """Set when it has released everything."""
        self._settings = settings
        self._loop = loop
        self._batches = BatchProcessor(settings, loop, cursor)
        self._lease = SessionLease(settings.store, settings.session_id, settings.hosts)
        self._waiters: list[FactsFuture] = []
        self._polls = 0
        self._notified = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None
        self._is_stopped = False

    def notify(self) -> None:
        """Look at the log again."""
        self._notified.set()

    def add_waiter(self, waiter: FactsFuture, timeout: float | None) -> None:
        """Work on all that is pending until the future can be settled."""
        if self.ended.is_set():
            self._settle(waiter, "extraction is closed")
            return
        self._waiters.append(waiter)
        if timeout is not None:
            asyncio.get_running_loop().call_later(timeout, self._expire, waiter, timeout)
        self._notified.set()

    def retry(self) -> None:
        """Retry now: dead letters, and an extractor whose circuit breaker is open."""
        self._batches.retry()
        self._notified.set()

    def cancel(self) -> None:
        """Stop at once, even during a call."""
        self._is_stopped = True
        self._batches.stop()
        if self._task is not None:
            self._task.cancel()

    def abandon(self) -> None:
        """Let another process work: an extractor ignores its cancellation, or this is a forked child."""
        self._lease.release()

    async def run(self) -> None:
        """Work until cancelled."""
        self._task = asyncio.current_task()
        try:
            while not self._is_stopped:
                self._notified.clear()
                self.is_notified = False
                pause = await self._run_round()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._notified.wait()
        finally:
            self._lease.release()
            self._publish("closed")
            self.ended.set()
            for waiter in self._waiters:
                self._settle(waiter, "extraction is closed")

    async def _run_round(self) -> float | None:
        """Do what is due; return the seconds until the next look, None to wait for a notification."""
        waiters = list(self._waiters)
        try:
            return await self._work(waiters)
        except (LateError, ServerUnavailableError) as error:
            return self._wait_for_server(error, waiters)
        except (StoreError, OSError) as error:
            return self._back_off(error, waiters)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the work for good
            logger.error("session %r: %s", self._settings.session_id, _locate(error))  # noqa: TRY400 - it may quote
            return self._back_off(error, waiters)
        finally:
            self._lease.release(self._batches.cursor.offset)

    async def _work(self, waiters: list[FactsFuture]) -> float | None:
        batches, breaker = self._batches, self._batches.breaker
        await batches.refresh()
        while self._is_due(waiters):
            if reached := [waiter for waiter in waiters if self._has_reached(waiter)]:
                self._publish("working")
                self._settle_all(reached)
            if batches.cursor.is_full and not batches.retries:
                batches.error = f"{MAX_DEAD_LETTERS} batches have failed; `retry` tries them again"
                self._publish("stopped")
                self._settle_all(waiters, batches.error)
                return None
            if wait := breaker.wait:
                self._publish("open" if breaker.is_open else "waiting", wait)
                if breaker.is_open:
                    self._settle_all(waiters, batches.error)
                return wait
            if not self._lease.is_held:
                if not await self._loop.run_blocking(self._lease.acquire):
                    self._publish("elsewhere")
                    self._polls = 0 if waiters else min(self._polls + 1, MAX_DOUBLINGS)
                    return POLL * float(2**self._polls)
                self._polls = 0
                await batches.refresh()  # another process may have done it
                continue
            self._publish("working")
            await batches.process_next()
            waiters += [waiter for waiter in self._waiters if waiter not in waiters]
            await batches.refresh()
            if breaker.is_open:  # waiters hear at once, however soon a probe is due
                self._publish("open", breaker.wait)
                self._settle_all(waiters, batches.error)
        if batches.is_behind and await self._loop.run_blocking(self._lease.acquire):
            await batches.save_position()
        self._publish("idle")
        self._settle_all(waiters)
        return None

    def _is_due(self, waiters: Sequence[FactsFuture]) -> bool:
        batches = self._batches
        if batches.retries or batches.cursor.failed is not None:
            return True
        pending = batches.pending
        if pending.characters < MIN_CHARACTERS:
            return False
        return (
            pending.messages >= self._settings.options.min_messages
            or pending.characters >= self._settings.options.batch_chars
            or any(waiter.goal > batches.cursor.offset for waiter in waiters)
        )

    def _has_reached(self, waiter: FactsFuture) -> bool:
        return not self._batches.retries and waiter.goal <= self._batches.cursor.offset

    def _back_off(self, error: Exception, waiters: Sequence[FactsFuture]) -> float:
        """Report a failure that is not the extractor's; return the seconds until the next try."""
        batches = self._batches
        batches.error = describe_error(error)
        wait = batches.breaker.fail()
        logger.warning(
            "session %r: extraction interrupted, next try in %.1f s: %s",
            self._settings.session_id,
            wait,
            batches.error,
        )
        self._publish("open" if batches.breaker.is_open else "waiting", wait)
        self._settle_all(waiters, batches.error)
        return wait

    def _wait_for_server(self, error: Exception, waiters: Sequence[FactsFuture]) -> float:
        """Report that the session cannot be read now; return the seconds until the next try."""
        self._batches.error = describe_error(error)
        self._publish("waiting", SECONDS_WITHOUT_SERVER)
        self._settle_all(waiters, self._batches.error)
        return SECONDS_WITHOUT_SERVER

    def _publish(self, state: State, wait: float | None = None) -> None:
        batches = self._batches
        self.progress = Progress(
            state=state,
            pending_segments=batches.pending.messages,
            pending_characters=batches.pending.characters,
            dead_letters=len(batches.cursor.dead_letters),
            counts=batches.cursor.counts,
            last_error=batches.error,
            next_try=None if wait is None else time.time() + wait,
        )

    def _settle_all(self, waiters: Sequence[FactsFuture], reason: str | None = None) -> None:
        for waiter in waiters:
            self._settle(waiter, reason)
        self._waiters = [waiter for waiter in self._waiters if not waiter.is_done]

    def _expire(self, waiter: FactsFuture, timeout: float) -> None:
        self._settle_all([waiter], f"not done in {timeout:g} s")

    def _settle(self, waiter: FactsFuture, reason: str | None) -> None:
        waiter.settle(FactsReady(reason is None, self.progress, reason))


def _locate(error: BaseException) -> str:
    """Return the kind of an error and where it comes from, without its words."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {frame.f_code.co_qualname}, line {line}"

"""`Loop`: the one event loop, in one thread, that serves the extraction of every session of this process."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger("memctx.extraction")

# Disks and the core are served by these; more would only wait for the same lock.
HANDS = 2
LONGEST_STOP = 1.0


class Detached(ThreadPoolExecutor):
    """A thread for each call that blocks: an extractor's, for which the end of the interpreter does not wait."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call a function in a thread of its own."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - whoever waits gets it, whatever it is
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name="memctx-extractor", daemon=True).start()
        return future


class Loop:
    """An event loop in a daemon thread. Nothing that blocks or computes for long runs on it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_report)
        self._loop.set_default_executor(Detached())
        # Apart from the extractors, so that slow ones do not keep others from the disk. The interpreter waits for
        # these when it ends: a thread that it stops inside the core would take the process down.
        self._hands = ThreadPoolExecutor(HANDS, thread_name_prefix="memctx-extraction-hand")
        # The loop itself holds its tasks weakly only.
        self._tasks: set[Future[None]] = set()
        self._thread = threading.Thread(target=self._run, name="memctx-extraction", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on the loop."""
        return threading.get_ident() == self._thread.ident

    def call(self, function: Callable[[], object]) -> bool:
        """Have a function called on the loop, from any thread; False if the loop is gone."""
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            return False
        return True

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin a task on the loop, from any thread."""
        try:
            task = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def by_hand(self, work: Callable[[], T]) -> T:
        """Do something that blocks, in a thread. What has begun ends before a cancellation goes on."""
        try:
            job = self._hands.submit(work)
        except RuntimeError:  # the interpreter is going, and takes no more work
            raise asyncio.CancelledError from None
        done = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            if not job.cancel():
                await asyncio.wait([done])
                if not done.cancelled():
                    done.exception()  # seen, and of no interest any more
            raise

    def stop(self) -> None:
        """Cancel all tasks and end the thread, within a second."""
        self.call(self._loop.stop)
        if not self.is_here:
            self._thread.join(LONGEST_STOP)
        self._hands.shutdown(wait=False)

    def _run(self) -> None:
        loop = self._loop
        try:
            loop.run_forever()
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.wait(tasks))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


def _report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say that something of an extractor's own failed, but not with what words: they may quote the conversation."""
    error = context.get("exception")
    logger.warning(
        "left behind by an extractor: %s %s",
        context.get("message", ""),
        "" if error is None else type(error).__name__,
    )


_lock = threading.Lock()
_shared: Loop | None = None
_parents: list[Loop] = []
_is_watched = False


def shared() -> Loop:
    """The loop of this process, started when it is first asked for."""
    global _shared, _is_watched  # noqa: PLW0603 - a process has one
    with _lock:
        if not _is_watched:
            _is_watched = True
            atexit.register(_stop)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_forget)
        if _shared is None:
            _shared = Loop()
        return _shared


def is_here() -> bool:
    """Whether the caller runs on the loop of this process."""
    loop = _shared
    return loop is not None and loop.is_here


def _stop() -> None:
    global _shared
    with _lock:
        loop, _shared = _shared, None
    if loop is not None:
        loop.stop()


def _forget() -> None:
    """In a forked child, which has no such thread, start anew when asked to."""
    global _lock, _shared  # noqa: PLW0603 - as above; a thread that is not here may hold the old lock
    _lock = threading.Lock()
    if _shared is not None:
        # Closing it, as its end would, unregisters the pipe that wakes the parent's loop: they share the selector.
        _parents.append(_shared)
        _shared = None

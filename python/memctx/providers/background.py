"""Off-thread execution: the background event loop of the process, and calls across threads.

Nothing that blocks or computes for long runs on the loop: `BackgroundLoop.run_blocking` has threads for that.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

Params = ParamSpec("Params")
Result = TypeVar("Result")

# Threads for disks and the core; more would only wait for the same lock.
IO_THREADS = 2
STOP_SECONDS = 1.0

logger = logging.getLogger("memctx.providers")


def start_in_thread(
    function: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs
) -> Future[Result]:
    """Call a function in a daemon thread of its own and return its future.

    The interpreter does not wait for such a thread when it exits.
    """
    future: Future[Result] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = function(*args, **kwargs)
        except StopIteration as error:  # asyncio futures do not take it
            future.set_exception(RuntimeError(f"the function raised {type(error).__name__}"))
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="memctx-call", daemon=True).start()
    return future


async def call_in_thread(
    function: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs
) -> Result:
    """Return the result of a blocking function that runs in a daemon thread, in the caller's context.

    An event loop that closes waits for threads of `asyncio.to_thread`, forever if one hangs; not for these.

    >>> asyncio.run(call_in_thread(len, "abc"))
    3
    """
    context = copy_context()
    future = start_in_thread(lambda: context.run(function, *args, **kwargs))
    return await asyncio.wrap_future(future)


def run_coroutine(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Return the result of a coroutine, on an event loop of its own.

    The loop runs in the calling thread, or in another one where the calling thread already runs a loop.

    >>> async def answer():
    ...     return 8443
    >>> run_coroutine(answer)
    8443
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    context = copy_context()
    return start_in_thread(lambda: context.run(lambda: asyncio.run(start()))).result()


class BackgroundLoop:
    """An event loop in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log_exception)
        self._loop.set_default_executor(_DaemonExecutor())
        # Apart from the executor of extractors, so that slow ones do not block the disk. The interpreter waits for
        # these threads when it exits: stopping one inside the core would crash the process.
        self._io_threads = ThreadPoolExecutor(IO_THREADS, thread_name_prefix="memctx-io")
        # The loop itself holds its tasks weakly only.
        self._tasks: set[Future[None]] = set()
        self._thread = threading.Thread(target=self._run, name="memctx-loop", daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Return whether the calling thread runs the loop."""
        return threading.get_ident() == self._thread.ident

    def call(self, function: Callable[[], object]) -> bool:
        """Schedule a function on the loop, from any thread; return False if the loop is closed."""
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            return False
        return True

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task on the loop, from any thread."""
        try:
            task = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wait_for(self, value: Awaitable[Result]) -> Result:
        """Return the result of an awaitable, from any other thread.

        Clients cannot use their open connections on two loops, so all of a process await on this one.
        """
        if self.is_current:
            raise RuntimeError("the background loop cannot wait for itself")

        async def outcome() -> Result:
            try:
                return await value
            except (KeyboardInterrupt, SystemExit) as error:  # would end the loop for all its users
                raise RuntimeError(type(error).__name__) from error

        return asyncio.run_coroutine_threadsafe(outcome(), self._loop).result()

    async def run_blocking(self, work: Callable[[], Result]) -> Result:
        """Run blocking work in an I/O thread. Work that has begun completes before a cancellation goes on."""
        try:
            job = self._io_threads.submit(work)
        except RuntimeError:  # the interpreter is shutting down
            raise asyncio.CancelledError from None
        done = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            if not job.cancel():
                await asyncio.wait([done])
                if not done.cancelled():
                    done.exception()  # retrieved, so that it is not logged
            raise

    def stop(self) -> None:
        """Cancel all tasks and end the thread, within a second."""
        self.call(self._loop.stop)
        if not self.is_current:
            self._thread.join(STOP_SECONDS)
        self._io_threads.shutdown(wait=False)

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


class _DaemonExecutor(ThreadPoolExecutor):
    """Runs each call in a daemon thread of its own: the interpreter does not wait for hanging extractors."""

    def submit(
        self, fn: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Future[Result]:
        """Call a function in a thread of its own."""
        return start_in_thread(fn, *args, **kwargs)


def _log_exception(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log the class of an unhandled exception, without its text, which may quote the conversation."""
    error = context.get("exception")
    logger.warning(
        "unhandled in a background task: %s %s",
        context.get("message", ""),
        "" if error is None else type(error).__name__,
    )


_lock = threading.Lock()
_shared: BackgroundLoop | None = None
_parents: list[BackgroundLoop] = []
_is_registered = False


def background_loop() -> BackgroundLoop:
    """Return the background loop of this process, started on first use."""
    global _shared, _is_registered  # noqa: PLW0603 - one for each process
    with _lock:
        if not _is_registered:
            _is_registered = True
            atexit.register(_stop)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_forget)
        if _shared is None:
            _shared = BackgroundLoop()
        return _shared


def is_on_background_loop() -> bool:
    """Return whether the calling thread runs the background loop of this process."""
    loop = _shared
    return loop is not None and loop.is_current


def _stop() -> None:
    global _shared
    with _lock:
        loop, _shared = _shared, None
    if loop is not None:
        loop.stop()


def _forget() -> None:
    """Drop the parent's loop in a forked child, which does not have its thread."""
    global _lock, _shared  # noqa: PLW0603 - a thread that is not in the child may hold the old lock
    _lock = threading.Lock()
    if _shared is not None:
        # Closing it, as its finalizer would, unregisters the parent's wake-up pipe: both share the selector.
        _parents.append(_shared)
        _shared = None

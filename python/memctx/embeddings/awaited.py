"""`awaited`: what an embedder gives back, whether it must be awaited or not."""

from __future__ import annotations

import threading
from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar, cast, overload

if TYPE_CHECKING:
    import asyncio

Result = TypeVar("Result")


@overload
def awaited(value: Awaitable[Result]) -> Result: ...
@overload
def awaited(value: Result | Awaitable[Result]) -> Result: ...
def awaited(value: Result | Awaitable[Result]) -> Result:
    """The value itself, or what it comes to when it is awaited, for callers that have no event loop.

    All awaiting happens on one event loop in a thread of its own: a client that keeps connections open cannot use them
    on another loop than the one they were made on.

    >>> async def vector():
    ...     return [0.6, 0.8]
    >>> awaited(vector()) == awaited([0.6, 0.8])
    True
    """
    if not isinstance(value, Awaitable):
        return value
    import asyncio  # noqa: PLC0415 - most embedders need none

    waiting = cast("Awaitable[Result]", value)

    async def outcome() -> Result:
        try:
            return await waiting
        except (KeyboardInterrupt, SystemExit) as error:  # these would end the loop for everybody
            raise RuntimeError(type(error).__name__) from error

    return asyncio.run_coroutine_threadsafe(outcome(), _loop.running()).result()


class _Loop:
    """An event loop that is started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def running(self) -> asyncio.AbstractEventLoop:
        import asyncio  # noqa: PLC0415 - as above

        with self._lock:
            # Threads do not survive a fork.
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="memctx-embeddings", daemon=True
                )
                self._thread.start()
            return self._loop


_loop = _Loop()

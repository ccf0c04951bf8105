"""`blocking`: a coroutine run to its end for callers that cannot await one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")


def blocking(start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """What a coroutine returns or raises, on an event loop of its own; in a thread where this one has a loop.

    >>> async def answer():
    ...     return 8443
    >>> blocking(answer)
    8443
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    future: Future[Result] = Future()
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(lambda: asyncio.run(start())))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            future.set_exception(error)

    threading.Thread(target=run, name="memctx-loop", daemon=True).start()
    return future.result()

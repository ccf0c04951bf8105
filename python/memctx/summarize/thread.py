"""`in_thread`: a function in a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Argument = TypeVar("Argument")
Result = TypeVar("Result")


async def in_thread(function: Callable[[Argument], Result], argument: Argument) -> Result:
    """What the function returns or raises, in the context of the caller.

    An event loop that ends waits for every thread that `asyncio.to_thread` started; a function that hangs would hold it
    up for ever. This one leaves it behind.

    >>> asyncio.run(in_thread(len, "abc"))
    3
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = copy_context()

    def answer(result: Result | None, error: BaseException | None) -> None:
        if future.done():  # cancelled
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # None is a result only if it was returned

    def run() -> None:
        result: Result | None = None
        failure: BaseException | None = None
        try:
            result = context.run(function, argument)
        except StopIteration as error:  # which a future does not take
            failure = RuntimeError(f"the function raised {type(error).__name__}")
        except BaseException as error:  # noqa: BLE001 - it is raised where the function is waited for
            failure = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(answer, result, failure)

    threading.Thread(target=run, name="memctx-summarize", daemon=True).start()
    return await future

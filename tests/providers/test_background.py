"""The background event loop, and calls across threads."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from memctx.providers.background import (
    background_loop,
    call_in_thread,
    is_on_background_loop,
    run_coroutine,
)

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

current: ContextVar[str] = ContextVar("current", default="none")


async def where() -> tuple[bool, int]:
    return is_on_background_loop(), threading.get_ident()


def test_awaitables_of_all_threads_run_on_one_loop() -> None:
    found = [background_loop().wait_for(where()) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0][0]
    assert found[0][1] != threading.get_ident()


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_the_loop_survives_exceptions_that_end_an_interpreter(ending: type[BaseException]) -> None:
    async def leave() -> None:
        raise ending

    with pytest.raises(RuntimeError, match=ending.__name__):
        background_loop().wait_for(leave())
    assert background_loop().wait_for(where())[0]


def test_the_loop_does_not_wait_for_itself() -> None:
    async def wait() -> None:
        background_loop().wait_for(asyncio.get_running_loop().create_future())

    with pytest.raises(RuntimeError, match="cannot wait for itself"):
        background_loop().wait_for(wait())


def test_a_coroutine_runs_with_and_without_a_loop_in_the_thread() -> None:
    async def answer() -> str:
        return current.get()

    async def inside() -> str:
        return run_coroutine(answer)

    current.set("ours")
    assert run_coroutine(answer) == "ours"
    assert asyncio.run(inside()) == "ours"


def test_a_function_in_a_thread_has_the_context_of_its_caller() -> None:
    async def call() -> tuple[str, bool]:
        current.set("ours")
        thread = await call_in_thread(threading.current_thread)
        return await call_in_thread(current.get), thread.daemon

    assert asyncio.run(call()) == ("ours", True)


def test_a_function_in_a_thread_may_raise_anything() -> None:
    def stop() -> None:
        raise StopIteration

    def fail() -> None:
        raise LookupError("no")

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(call_in_thread(stop))
    with pytest.raises(LookupError, match="no"):
        asyncio.run(call_in_thread(fail))


def test_a_cancelled_call_leaves_its_thread_behind() -> None:
    release = threading.Event()

    async def cancel() -> None:
        task = asyncio.create_task(call_in_thread(release.wait))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    release.set()

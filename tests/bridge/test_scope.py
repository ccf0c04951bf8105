"""`session` blocks: threads, tasks and generators keep the conversations of their calls apart."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.bridge import Sessions, session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HELLO: list[Any] = [{"role": "user", "content": "Which port has the webhook?"}]


def test_a_block_goes_before_the_session_of_the_adapter() -> None:
    adapter = Sessions(session_id="default")
    with session("alice"):
        assert adapter.current() == "alice"
        with session("alice", agent="planner"):
            assert adapter.current() == "alice/planner"
        assert adapter.current() == "alice"
    assert adapter.current() == "default"


def test_threads_and_tasks_keep_their_own() -> None:
    adapter = Sessions(session_id="default")

    async def name(number: int) -> str:
        with session(f"user-{number}"):
            await asyncio.sleep(0.01)
            return await asyncio.to_thread(adapter.current)

    async def run() -> list[str]:
        return await asyncio.gather(*map(name, range(8)))

    assert asyncio.run(run()) == [f"user-{number}" for number in range(8)]
    with session("alice"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(adapter.current).result() == "default"


def test_a_generator_may_end_in_another_context() -> None:
    def stream() -> Iterator[int]:
        with session("alice"):
            yield 1

    events = stream()
    assert copy_context().run(next, events) == 1
    assert copy_context().run(lambda: list(events)) == []
    assert Sessions(session_id="default").current() == "default"


def test_a_session_without_a_name_is_refused() -> None:
    with pytest.raises(memctx.ConfigError, match="session_id is empty"), session(""):
        pass


def test_an_open_memory_is_not_used_for_another_session(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="alice", context_window=16_000) as memory:
        adapter = Sessions(memory)
        with session("alice"):
            assert adapter.prepare(adapter.current, HELLO).memory is memory
        with session("bob"):
            prepared = adapter.prepare(adapter.current, HELLO)
    assert prepared.memory is None
    assert "the session is 'bob'" in prepared.turn.report.errors[0]

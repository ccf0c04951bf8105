"""A process that is stopped while it holds the lock."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from memctx.errors import StoreLockedError

from .stores import child, contents, filled, opened, posix, said_by, say

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

TIMEOUT = 0.4

HOLDER = """
    import fcntl, sys
    lock = open(sys.argv[1] + "/LOCK", "rb+")
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a stopped process that holds the lock."""
    filled(tmp_path)
    process = child(HOLDER, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    os.kill(process.pid, signal.SIGSTOP)
    yield process
    process.kill()
    process.communicate()


@posix
def test_search_answers_at_once_while_an_add_waits(tmp_path: Path, holder: object) -> None:
    del holder
    store = opened(tmp_path, lock_timeout=2)
    assert len(store) == 6

    def wait() -> None:
        with pytest.raises(StoreLockedError):
            say(store, "said too late")

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    began = time.monotonic()
    for _ in range(20):
        assert store.search("deploy failed")
    assert opened(tmp_path).search("deploy failed")
    took = time.monotonic() - began
    assert waiting.is_alive()
    waiting.join()
    assert took < 1


@posix
def test_an_add_gives_up_in_time_and_works_again_afterwards(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    store = opened(tmp_path, lock_timeout=TIMEOUT)
    began = time.monotonic()
    with pytest.raises(StoreLockedError, match="LOCK"):
        say(store, "not yet")
    assert TIMEOUT <= time.monotonic() - began < TIMEOUT + 1
    assert "not yet" not in contents(store)
    os.kill(holder.pid, signal.SIGCONT)
    said_by(holder)
    assert [added.outcome for added in say(store, "not yet")] == ["added"]
    assert contents(opened(tmp_path))[-1] == "not yet"


@posix
def test_each_of_several_threads_gives_up_in_time(tmp_path: Path, holder: object) -> None:
    """They queue, but no thread waits for the timeouts of those before it."""
    del holder
    store = opened(tmp_path, lock_timeout=TIMEOUT)
    waits: list[float] = []

    def add(number: int) -> None:
        began = time.monotonic()
        with pytest.raises(StoreLockedError):
            say(store, f"thread {number} says so")
        waits.append(time.monotonic() - began)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(waits) == 5
    assert max(waits) < 2 * TIMEOUT


@posix
def test_close_gives_up_on_the_lock_in_time(tmp_path: Path, holder: object) -> None:
    del holder
    store = opened(tmp_path, lock_timeout=TIMEOUT)
    assert len(store) == 6
    began = time.monotonic()
    store.close()
    assert time.monotonic() - began < TIMEOUT + 1

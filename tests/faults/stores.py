"""Stores with something in them, and processes beside this one."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from memctx import StoreError, WarmStore

if TYPE_CHECKING:
    from pathlib import Path

    from memctx import Added

SESSION = "s1"
REFUSED = (StoreError, OSError)  # ours, or the operating system's
LATER = 4_000_000_000_000.0  # no age, so scores are the same at every moment
QUERIES = ("which port has the webhook?", "deploy failed", "支付重试", "service 3")

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and rights of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and calls of Linux")


def opened(folder: Path, session_id: str = SESSION, **settings: Any) -> WarmStore:
    return WarmStore(folder, session_id=session_id, **settings)


def say(store: WarmStore, *texts: str) -> list[Added]:
    return store.add([("user", text, LATER, None) for text in texts])


def contents(store: WarmStore) -> list[str]:
    return [segment.content for segment in store.segments()]


def text(number: int) -> str:
    return (
        f"record {number}: the deploy of service {number} failed, 支付回调 on port {8000 + number}"
    )


def filled(folder: Path, count: int = 6, **settings: Any) -> list[str]:
    """A closed store of so many records; what they say."""
    texts = [text(number) for number in range(count)]
    store = opened(folder, **settings)
    say(store, *texts)
    store.close()
    return texts


def results(store: WarmStore) -> list[list[tuple[str, float]]]:
    """What the searches find, in order and with scores."""
    return [
        [(hit.segment.content, hit.score) for hit in store.search(query, limit=20)]
        for query in QUERIES
    ]


def child(code: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """A Python process that runs ``code`` with ``sys.argv[1:]`` as given."""
    command = [*before, sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said_by(process: subprocess.Popen[str], timeout: float = 60) -> list[str]:
    """The lines a child printed. It must end well and in time."""
    try:
        output, errors = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, (process.returncode, errors[-2000:])
    return output.splitlines()

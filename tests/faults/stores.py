"""Helpers: stores with records, and child processes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

import process
from memctx import StoreError
from memctx.lowlevel import Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.lowlevel import Added

SESSION = "s1"
REFUSED = (StoreError, OSError)  # ours, or the operating system's
LATER = 4_000_000_000_000.0  # no age, so scores are the same at every moment
QUERIES = ("which port has the webhook?", "deploy failed", "支付重试", "service 3")

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and rights of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and calls of Linux")


def opened(folder: Path, session_id: str = SESSION, **settings: Any) -> Store:
    return Store(folder, StoreOptions(session_id=session_id, **settings))


def say(store: Store, *texts: str) -> list[Added]:
    return store.add([("user", text, LATER, None) for text in texts])


def contents(store: Store) -> list[str]:
    return [segment.content for segment in store.segments()]


def text(number: int) -> str:
    return (
        f"record {number}: the deploy of service {number} failed, 支付回调 on port {8000 + number}"
    )


def filled(folder: Path, count: int = 6, **settings: Any) -> list[str]:
    """Create a closed store of ``count`` records; return their texts."""
    texts = [text(number) for number in range(count)]
    store = opened(folder, **settings)
    say(store, *texts)
    store.close()
    return texts


def results(store: Store) -> list[list[tuple[str, float]]]:
    """Return the hits of the searches, in order and with scores."""
    return [
        [(hit.segment.content, hit.score) for hit in store.search(query, limit=20)]
        for query in QUERIES
    ]


def child(code: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a Python process that runs ``code`` with arguments."""
    command = [*before, sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return process.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def said_by(child: subprocess.Popen[str], timeout: float = 60) -> list[str]:
    """Return the lines that a child printed; fail if it fails or hangs."""
    output, _ = process.finish(child, timeout=timeout)
    return output.splitlines()

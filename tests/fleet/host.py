"""One host of the fleet: a process with a cache of its own that works on sessions as they come.

Every message that `archive` acknowledged and every fact that `Facts.add` did is written to a journal after the call
returned, and every turn with its time.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import memctx
from memctx.errors import ServerUnavailableError

WORDS = [
    "port",
    "deploy",
    "cache",
    "lease",
    "queue",
    "ledger",
    "parcel",
    "gate",
    "invoice",
    "token",
]


def main() -> None:
    """Work until killed or told to stop by a file."""
    root, (address, namespace, name) = Path(sys.argv[1]), sys.argv[2:5]
    sessions = int(sys.argv[5])
    logging.basicConfig(level=logging.ERROR, filename=root / f"{name}.log")
    random.seed(f"{name}-{os.getpid()}-{time.time()}")
    _import_everything()
    with (root / f"{name}.journal").open("a", buffering=1) as journal:
        while not (root / "stop").exists():
            session = f"session-{random.randrange(sessions)}"
            with (root / f"{session}.lock").open("a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                _visit(root, (address, namespace), name, session, journal)


def _import_everything() -> None:
    """Take a turn in a directory: the first one of a process imports modules, which has nothing to do with a server."""
    with (
        tempfile.TemporaryDirectory() as folder,
        memctx.open(
            folder, session_id="first", context_window=8_000, embedding_model="hash"
        ) as memory,
    ):
        memory.prepare([{"role": "user", "content": "Where does the parcel go?"}])


def _visit(root: Path, server: tuple[str, str], name: str, session: str, journal: IO[str]) -> None:
    """Open a session, take some turns in it, and close it."""
    with memctx.open(
        server[0],
        session_id=session,
        namespace=server[1],
        context_window=8_000,
        embedding_model="hash",
        postgres={"cache_path": root / f"cache-{name}", "timeout": 8},
    ) as memory:
        messages: list[dict[str, Any]] = []
        for _ in range(random.randint(1, 3)):
            key = f"{name}-{os.getpid()}-{time.time_ns()}"
            words = " ".join(random.choices(WORDS, k=12))
            said = [
                {"role": "user", "content": f"{key}-user: where does the {words} go?"},
                {"role": "assistant", "content": f"{key}-answer: the {words} goes to {key}"},
            ]
            messages += said
            start = time.perf_counter()
            turn = memory.prepare(messages[:-1])
            seconds = time.perf_counter() - start
            _note(
                journal, "turn", seconds=seconds, errors=[str(each) for each in turn.report.errors]
            )
            _archive(memory, session, said, journal)
            if random.random() < 0.3:
                _add_fact(memory, session, key, journal)


def _archive(
    memory: memctx.Memory, session: str, said: list[dict[str, Any]], journal: IO[str]
) -> None:
    texts = [message["content"] for message in said]
    try:
        memory.archive(said)
    except ServerUnavailableError:  # kept in the spool, and checked too
        _note(journal, "late", session=session, texts=texts)
    else:
        _note(journal, "archived", session=session, texts=texts)


def _add_fact(memory: memctx.Memory, session: str, key: str, journal: IO[str]) -> None:
    text = f"The parcel {key} has gate {random.randrange(100_000)}"
    try:
        memory.facts.add("config", text)
    except ServerUnavailableError:
        _note(journal, "late", session=session, facts=[text])
    else:
        _note(journal, "archived", session=session, facts=[text])


def _note(journal: IO[str], kind: str, **values: object) -> None:
    journal.write(json.dumps({"kind": kind, **values}) + "\n")


if __name__ == "__main__":
    main()

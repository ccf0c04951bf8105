"""A helper in a process of its own, whose hosts are made up: its hooks say what they were asked."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import memctx.hosts
from memctx.serve import Server, client

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Answer:
    stdout: str
    exit_code: int = 0


@dataclass(frozen=True)
class HostSession:
    host: str
    project: str
    conversation: str

    @property
    def session_id(self) -> str:
        return f"{self.host}/{self.project.strip('/')}/{self.conversation}"


def answer(
    host: str, event: str, payload: Mapping[str, Any], *, root: Path | None = None
) -> Answer:
    if event == "Crash":
        raise RuntimeError("secret detail")
    if event == "Exit":
        os._exit(9)
    time.sleep(payload.get("seconds", 0))
    return Answer(f"{host} {event} {root} {payload.get('prompt')}", 2 if event == "Stop" else 0)


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main() -> None:
    for name, fake in (("answer", answer), ("HostSession", HostSession)):
        setattr(memctx.hosts, name, fake)
    client.MAX_LINE = 1_000_000
    server = Server(sys.argv[1], idle_seconds=float(sys.argv[2]))
    server.stop_on_signals()
    is_first = server.run(lambda: say("ready"))
    say("stopped" if is_first else "already running")


if __name__ == "__main__":
    main()

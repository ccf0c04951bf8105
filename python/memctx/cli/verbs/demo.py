"""The verb `demo`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from memctx.cli import demo
from memctx.cli.verbs.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.cli.verbs.shell import ShellRequest


def run_demo(request: ShellRequest, *, page: Path | None = None) -> Outcome:
    """Show what memory recalls and truncation has lost."""
    with request.status("Playing a session"):
        done = demo.demonstrate()
    data = {**asdict(done), "page": None if page is None else str(page)}
    return Outcome(data, (str(done), demo.next_step(page)), is_ok=done.is_good)

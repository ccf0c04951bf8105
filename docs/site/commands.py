"""Table of the commands, made from the verb table of the package."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MARKER = "<!-- commands -->"


def insert_commands(markdown: str, root: Path) -> str:
    """Return text with the marker ``<!-- commands -->`` replaced by a table."""
    return markdown.replace(MARKER, _table(root)) if MARKER in markdown else markdown


def _table(root: Path) -> str:
    # The verb table imports no handler and no compiled module.
    sys.path.insert(0, str(root / "python"))
    try:
        from memctx.cli.verbs.table import VERBS  # noqa: PLC0415 - from the folder above
    finally:
        sys.path.pop(0)
    shell = [
        (f"memctx {verb.name}", *(each.placeholder for each in verb.parameters if not each.flags))
        for verb in VERBS
        if verb.in_shell
    ]
    summaries = [verb.summary for verb in VERBS if verb.in_shell]
    rows = [
        f"| `{' '.join(usage)}` | {summary} |"
        for usage, summary in zip(shell, summaries, strict=True)
    ]
    return "\n".join(["| command | does |", "| --- | --- |", *rows])

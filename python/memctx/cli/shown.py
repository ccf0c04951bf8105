"""How an outcome reaches a person or a program: tables on a terminal, plain text in a pipe, JSON on request."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from memctx.commands import Table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from memctx.commands import Outcome, Part

FOUND_NOTHING = 1
"""The exit code where nothing was found, or a check did not hold."""

STYLES = {"id": "cyan", "when": "dim", "score": "green", "session": "cyan"}
WORDS = {"bad": "bold red", "note": "yellow", "ok": "green", "forgotten": "red", "holds": "green"}


def show(outcome: Outcome, *, is_json: bool) -> None:
    """Print an outcome, and end with the exit code it stands for."""
    if is_json:
        click.echo(json.dumps(outcome.data, ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        console = Console(highlight=False)
        for part in outcome.printable():
            console.print(_rich(part))
    else:
        click.echo(outcome.text)
    if not outcome.is_ok:
        click.get_current_context().exit(FOUND_NOTHING)


def working(words: str) -> AbstractContextManager[object]:
    """Say on a terminal that something takes its time. Nothing of it goes into a pipe."""
    console = Console(stderr=True)
    return console.status(f"{words} …") if console.is_terminal else nullcontext()


def _rich(part: Part) -> RichTable | Text:
    if not isinstance(part, Table):
        return Text(part)
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for heading in part.headings:
        is_right = heading in part.right
        table.add_column(
            heading,
            justify="right" if is_right else "left",
            style=STYLES.get(heading),
            no_wrap=is_right or heading in {"id", "when"},
            overflow="fold",
        )
    for row in part.rows:
        table.add_row(*(Text(cell, style=WORDS.get(cell, "")) for cell in row))
    return table
